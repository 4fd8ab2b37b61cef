"""How user code comes to the rows of files whose types are inferred."""

from __future__ import annotations

import uuid
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

ENTRY_POINTS = ("cloudFiles", "read_files", "streaming table", "COPY INTO")


def read_by(
    spark: SparkSession,
    entry: str,
    path: Path,
    form: str,
    options: dict[str, str],
    *,
    schema: str | None = None,
) -> DataFrame:
    """Return what an entry point makes of a file, without the rescued data.

    COPY INTO takes no `schema`; `spark.read with badRecordsPath` needs one.
    """
    table = f"inferred_{uuid.uuid4().hex}"
    if entry == "spark.read with badRecordsPath":
        reader = spark.read.format(form).options(**options).option("badRecordsPath", f"{path}.bad")
        return reader.schema(schema or "").load(str(path))
    given = {**options, "schema": schema} if schema is not None else options
    named = "".join(f", {key} => '{value}'" for key, value in given.items())
    files = f"read_files('{path}', format => '{form}'{named})"
    if entry == "read_files":
        return spark.sql(f"SELECT * FROM {files}").drop("_rescued_data")
    if entry == "streaming table":
        spark.sql(f"CREATE OR REFRESH STREAMING TABLE {table} AS SELECT * FROM STREAM {files}")
    elif entry == "COPY INTO":
        quoted = ", ".join(
            f"'{key}' = '{value}'"
            for key, value in {**options, "inferSchema": "true", "mergeSchema": "true"}.items()
        )
        # Delta does not add this feature to a table that exists.
        spark.sql(f"CREATE TABLE {table} TBLPROPERTIES ('delta.feature.timestampNtz' = 'supported')")
        spark.sql(
            f"COPY INTO {table} FROM '{path}' FILEFORMAT = {form} FORMAT_OPTIONS ({quoted}) "
            "COPY_OPTIONS ('mergeSchema' = 'true')"
        )
    else:
        place = str(path.parent / f"{table}.state")
        stream = spark.readStream.format("cloudFiles").options(**options).option("cloudFiles.format", form)
        if schema is None:
            inferred = {"cloudFiles.inferColumnTypes": "true", "cloudFiles.schemaLocation": place}
            stream = stream.options(**inferred)
        else:
            stream = stream.schema(schema)
        query = stream.load(str(path)).writeStream.option("checkpointLocation", place)
        query.trigger(availableNow=True).toTable(table).awaitTermination()
    rows = spark.table(table).drop("_rescued_data")
    rows = spark.createDataFrame(rows.collect(), rows.schema)
    spark.sql(f"DROP TABLE {table}")
    return rows
