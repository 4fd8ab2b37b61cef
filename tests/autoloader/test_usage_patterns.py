"""Usage patterns of three public repositories, in code of our own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from delta.tables import DeltaTable
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tests.autoloader.conftest import Landing


def test_latin_1_with_semicolons_into_a_named_table_at_a_path_of_its_own(landing: Landing) -> None:
    """One folder for schema and checkpoint; `writeStream.table` with a path."""

    def ingest() -> None:
        stream = landing.stream(
            format="csv", sep=";", encoding="latin1", cf_schemaLocation=str(landing.checkpoint)
        )
        writer = stream.writeStream.format("delta").option("checkpointLocation", str(landing.checkpoint))
        writer = writer.option("mergeSchema", "true").option("path", str(landing.folder.parent / "table"))
        writer.trigger(availableNow=True).outputMode("append").table(landing.table).awaitTermination()  # type: ignore[attr-defined]

    text = '"User-ID";"Location";"Age"\n"1";"münchen, germany";"18"\n"2";"porto";NULL\n'
    (landing.folder / "a.csv").write_bytes(text.encode("latin-1"))
    ingest()
    (landing.folder / "b.csv").write_bytes('"Age";"User-ID";"Location"\n"30";"3";"graz"\n'.encode("latin-1"))
    ingest()
    assert landing.rows("`User-ID`", "Location", "Age", "_rescued_data") == [
        ("1", "münchen, germany", "18", None),
        ("2", "porto", "NULL", None),
        ("3", "graz", "30", None),
    ]
    assert (landing.folder.parent / "table" / "_delta_log").is_dir()


def test_the_first_of_each_key_is_merged_in_batches_that_know_their_files(landing: Landing) -> None:
    """`dropDuplicates` before `_metadata`, update mode, a MERGE by a table's name, `start` with a name."""
    spark = landing.spark
    spark.sql(f"CREATE TABLE {landing.table} (id STRING, name STRING, source STRING, at TIMESTAMP)")

    def upsert(batch: DataFrame, _: int) -> None:
        values: dict[str, Any] = {name: f"s.{name}" for name in ("id", "name", "source")}
        values["at"] = F.current_timestamp()
        merge = DeltaTable.forName(spark, landing.table).alias("t").merge(batch.alias("s"), "t.id = s.id")
        merge.whenMatchedUpdate(set=values).whenNotMatchedInsert(values=values).execute()

    def ingest() -> None:
        stream = landing.stream(format="csv", cf_schemaLocation=str(landing.checkpoint))
        source = F.col("_metadata.file_path").alias("source")
        stream = stream.dropDuplicates(["id"]).select("*", source, F.current_timestamp().alias("at"))
        writer = stream.writeStream.format("delta").outputMode("update").foreachBatch(upsert)
        writer = writer.option("checkpointLocation", str(landing.checkpoint)).trigger(availableNow=True)
        writer.start(landing.table).awaitTermination()

    landing.put("a.csv", text="id,name\n1,Ana\n2,Bo\n2,Bo\n")
    ingest()
    landing.put("b.csv", text="id,name\n2,Bob\n3,Cy\n")
    ingest()
    files = {name: f"file:{landing.folder}/{name}" for name in ("a.csv", "b.csv")}
    assert landing.rows("id", "name", "source") == [
        ("1", "Ana", files["a.csv"]),
        ("2", "Bo", files["a.csv"]),
        ("3", "Cy", files["b.csv"]),
    ]


def test_options_from_a_file_and_bad_records_as_a_table(landing: Landing) -> None:
    """Options as one dict with keys in another case, `badRecordsPath`, a day taken from the file's path."""
    spark, bad = landing.spark, landing.folder.parent / "bad"
    read = {
        "cloudFiles.format": "json",
        "cloudFiles.inferColumnTypes": "false",
        "cloudFiles.schemaLocation": str(landing.schemas),
        "inferSchema": "false",
        "encoding": "utf-8",
        "multiline": "false",
        "pathGlobFilter": "codex.json",
        "badRecordsPath": str(bad),
    }
    write = {
        "mergeSchema": "false",
        "checkpointLocation": str(landing.checkpoint),
        "delta.columnMapping.mode": "name",
    }
    landing.put("20250101/codex.json", text='{"id": 1, "name": "Sol", "more": 3}\n{"id": "two"}\n{"id":\n')
    landing.put("20250101/other.json", {"id": 9})
    stream = spark.readStream.format("cloudFiles").options(**read).schema("id LONG, name STRING")
    day = F.regexp_extract("file.file_path", r"/(\d{8})/", 1).alias("day")
    with pytest.warns(UserWarning, match="Option inferSchema has no effect here") as warned:
        loaded = stream.load(f"{landing.folder}/")
    assert [each.filename for each in warned] == [__file__]
    rows = loaded.select("*", F.col("_metadata").alias("file")).select("*", day)
    writer = rows.writeStream.format("delta").options(**write).outputMode("append")
    query = writer.trigger(availableNow=True).table(landing.table)  # type: ignore[attr-defined]
    query.awaitTermination()
    assert landing.rows("id", "name", "day", "file.file_name") == [(1, "Sol", "20250101", "codex.json")]
    files = [str(path) for path in bad.rglob("*") if path.is_file()]
    found = [
        json.loads(row.record) if row.record != '{"id":' else None for row in spark.read.json(files).collect()
    ]
    assert sorted(found, key=repr) == [None, {"id": "two"}]
