"""Micro-batches that Spark's own readers read: metadata, partitions, drift, retries, faults and options."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

from tests.autoloader.scan_routes import Plans, longs, plans, put_avro, put_parquet, scanning

__all__ = ["plans", "scanning"]


@pytest.mark.rule("5.2.1")
@pytest.mark.parametrize("name", ["parquet", "avro"])
def test_folders_metadata_and_the_order_of_columns(landing, plans: Plans, name: str) -> None:
    schema = "b string, n bigint, _rescued_data string, day date, x double, ok boolean, a bigint, "
    schema += "at timestamp, k int, t string"
    for number in range(3):
        folder = (
            landing.folder / f"n={number}/day=2024-02-2{number}/x={number}.5/ok=true/k={number}/t=ü {number}"
        )
        if number == 2:
            folder = landing.folder / "n=__HIVE_DEFAULT_PARTITION__/day=2024-02-29/x=1/ok=false/k=1/t=u"
        folder.mkdir(parents=True)
        if name == "parquet":
            put_parquet(folder / "f.parquet", a=longs(number, None), b=["x", f"y{number}"])
        else:
            put_avro(
                folder / "f.avro",
                {"a": (["null", "long"], "", [number, None]), "b": ("string", "", ["x", f"y{number}"])},
                2,
            )
    columns = ["*", "_metadata.file_name AS fn", "_metadata.file_block_length AS fl"]
    columns += ["_metadata.file_modification_time AS fm"]
    found = plans.assert_same(
        *columns,
        rows=6,
        schema=schema,
        format=name,
        cf_partitionColumns="n,day,x,ok,k,t",
        rescuedDataColumn="_rescued_data",
    )
    assert found.where("n IS NULL").count() == 2
    assert found.where("a IS NULL").count() == 3
    assert found.where("at IS NOT NULL").count() == 0


@pytest.mark.parametrize("name", ["parquet", "avro"])
def test_large_files_are_read_in_parts(landing, plans: Plans, name: str) -> None:
    cells = [random.Random(n).randbytes(1 << 20) for n in range(75)]
    if name == "parquet":
        table = pa.table({"n": list(range(75)), "data": cells})
        pq.write_table(table, landing.folder / "a.parquet", row_group_size=4, compression="none")
    else:
        put_avro(
            landing.folder / "a.avro", {"n": ("long", "", list(range(75))), "data": ("bytes", "", cells)}, 75
        )
    found = plans.load(
        0,
        "n",
        "length(data) AS size_of",
        "sha2(data, 256) AS sum",
        schema="n bigint, data binary",
        format=name,
    )
    assert {(row.n, row.size_of, row.sum) for row in found.collect()} == {
        (n, 1 << 20, hashlib.sha256(cell).hexdigest()) for n, cell in enumerate(cells)
    }
    assert found.count() == 75
    assert len(found.inputFiles()) >= 2


def test_new_columns_fail_the_stream_once_and_no_row_is_lost(landing, scanning) -> None:
    put_parquet(landing.folder / "a.parquet", id=longs(1))
    landing.ingest(landing.stream(format="parquet"))
    put_parquet(landing.folder / "b.parquet", id=longs(2))
    put_parquet(landing.folder / "c.parquet", id=longs(3), more=["x"])
    with pytest.raises(StreamingQueryException, match="UNKNOWN_FIELD_EXCEPTION"):
        landing.ingest(landing.stream(format="parquet"))
    landing.ingest(landing.stream(format="parquet"))
    assert landing.rows("id", "more", "_rescued_data") == [(1, None, None), (2, None, None), (3, "x", None)]


@pytest.mark.rule("6.1.3")
def test_a_batch_that_failed_is_read_again_with_the_same_files(landing, scanning, failing) -> None:
    for number in range(4):
        put_parquet(landing.folder / f"{number}.parquet", id=longs(number))
    taken: list[list[int]] = []

    def run(sink: Callable[[Any, int], None]) -> None:
        landing.stream("id bigint", format="parquet", cf_maxFilesPerTrigger=2).writeStream.foreachBatch(
            sink
        ).option("checkpointLocation", str(landing.checkpoint)).trigger(
            availableNow=True
        ).start().awaitTermination()

    def sink(df: Any, batch: int) -> None:
        ids = sorted(row.id for row in df.collect())
        assert df.count() == len(ids)
        taken.append(ids)
        if len(taken) == 2:
            raise RuntimeError("the second batch fails")

    assert "the second batch fails" in str(failing(lambda: run(sink)))
    put_parquet(landing.folder / "later.parquet", id=longs(9))
    run(sink)
    assert taken == [[0, 1], [2, 3], [2, 3], [9]]


def deleted(path: Path) -> None:
    path.unlink()


def changed(path: Path) -> None:
    put_parquet(path, id=longs(1, 2, 3))


def damaged(path: Path) -> None:
    # Behind the plan's back: size and time stay.
    stat, data = path.stat(), bytearray(path.read_bytes())
    data[4:40] = b"\xff" * 36
    path.write_bytes(bytes(data))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


@pytest.mark.rule("6.3")
@pytest.mark.parametrize(
    ("change", "condition"),
    [
        (deleted, "FAILED_READ_FILE.FILE_NOT_EXIST"),
        (changed, "CF_FILE_CHANGED"),
        (damaged, "FAILED_READ_FILE.NO_HINT"),
    ],
)
def test_files_that_change_after_the_batch_is_planned_fail_it(
    landing, scanning, change, condition: str
) -> None:
    path = put_parquet(landing.folder / "a b.parquet", id=longs(*range(100)))

    def sink(df: Any, batch: int) -> None:
        change(path)
        df.collect()

    query = (
        landing.stream("id bigint", format="parquet")
        .writeStream.foreachBatch(sink)
        .option("checkpointLocation", str(landing.checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    with pytest.raises(StreamingQueryException) as error:
        query.awaitTermination()
    assert error.value.getCondition() == condition
    assert "a%20b.parquet" in str(error.value)


@pytest.mark.parametrize(
    "options",
    [
        {"ignoreCorruptFiles": True},
        {"ignoreMissingFiles": True},
        {"badRecordsPath": "/tmp/bad"},
        {"schema": "id bigint NOT NULL"},
        {"schema": "id bigint, s string COLLATE UNICODE"},
        {"format": "orc"},
    ],
)
def test_streams_that_only_the_python_readers_read(landing, scanning, options: dict[str, Any]) -> None:
    given = {"schema": "id bigint", "format": "parquet", **options}
    put_parquet(landing.folder / "a.parquet", id=longs(1))
    df = landing.stream(**given)
    assert (
        "AutoLoaderTable"
        not in df._jdf.queryExecution().analyzed().collectLeaves().apply(0).table().getClass().getName()
    )


@pytest.mark.parametrize(("key", "value"), [("spark.sql.parquet.int96AsTimestamp", "false")])
def test_settings_that_change_what_spark_reads(spark, landing, scanning, key: str, value: str) -> None:
    put_parquet(landing.folder / "a.parquet", id=longs(1))
    spark.conf.set(key, value)
    try:
        df = landing.stream("id bigint", format="parquet")
    finally:
        spark.conf.unset(key)
    assert (
        "AutoLoaderTable"
        not in df._jdf.queryExecution().analyzed().collectLeaves().apply(0).table().getClass().getName()
    )
