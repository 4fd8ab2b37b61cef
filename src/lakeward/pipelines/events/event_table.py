"""The Delta table of an event log, to which each update appends a few rows.

A Spark job takes several times as long as writing them: Arrow writes them as one Parquet file, and Delta
commits it. Spark writes to a table with other columns, as that of another version of lakeward, and adds the
missing ones; and to one with properties, which may ask for more than a file.
"""

from __future__ import annotations

import uuid
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lakeward.errors import PipelineError
from lakeward.quoting import quote_string
from lakeward.spark_internals import java_session, jvm_view, parse_schema, to_arrow

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType
ORIGIN_FIELDS = (
    *("cloud", "region", "org_id", "user_id", "pipeline_id", "pipeline_type", "pipeline_name", "cluster_id"),
    *("update_id", "maintenance_id", "table_id", "dataset_name", "flow_id", "flow_name", "batch_id"),
    "request_id",
)


def append_events(spark: SparkSession, path: Path, events: list[dict[str, Any]]) -> None:
    """Append events to the table at `path`, which is created if it does not exist, in one commit."""
    schema = _schema()
    file = path / f"part-00000-{uuid.uuid4()}-c000.snappy.parquet"
    if not _commit_file(spark, file, events, schema):
        frame = spark.createDataFrame(events, schema, verifySchema=False).coalesce(1)
        frame.write.format("delta").mode("append").option("mergeSchema", "true").save(str(path))


def publish_table(spark: SparkSession, name: str, path: Path) -> None:
    """Create the table `name` over the log at `path`. Raises PipelineError if it is another table already."""
    if not spark.catalog.tableExists(name):
        spark.sql(f"CREATE TABLE {name} USING DELTA LOCATION {quote_string(f'file:{path.absolute()}')}")
        return
    detail = spark.sql(f"DESCRIBE DETAIL {name}").first()
    place = str(detail["location"]) if detail is not None else ""
    if Path(place.removeprefix("file:")).resolve() != path.resolve():
        raise PipelineError(
            "EVENT_LOG_TABLE_EXISTS",
            f"{name} exists and is not the event log of this pipeline.",
            next_step="Give `event_log` of the pipeline another name, or drop that table.",
        )


def _commit_file(spark: SparkSession, file: Path, events: list[dict[str, Any]], schema: StructType) -> bool:
    """Write and commit the file; return False, and remove it, if Spark has to write the events."""
    import pyarrow.parquet as pq

    table = to_arrow(events, schema)
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        pq.write_table(table, file)
    except OSError:
        file.unlink(missing_ok=True)
        raise
    java: Any = jvm_view(spark)
    # The file stays where the commit fails: it may have failed after the log had it.
    is_committed = java.lakeward.AppendedFile.commit(
        java_session(spark), str(file.parent), file.name, file.stat().st_size, len(events), schema.json()
    )
    if not is_committed:
        file.unlink()
    return bool(is_committed)


@cache
def _schema() -> StructType:
    origin = ", ".join(f"{name}: string" for name in ORIGIN_FIELDS)
    schema = parse_schema(
        "id string, sequence struct<data_plane_id: struct<instance: string, seq_no: bigint>>, "
        f"origin struct<{origin}>, timestamp timestamp, message string, level string, maturity_level string, "
        "error struct<fatal: boolean, exceptions: array<struct<class_name: string, message: string, "
        "stack: array<string>>>>, details string, event_type string"
    )
    return cast("StructType", schema)
