"""Views as streams, streams as views, and the older names of things."""

from __future__ import annotations

from contextlib import suppress

import pytest
from pyspark.errors import StreamingQueryException

from lakeward.session import full_text, get_profile
from tests.streaming.conftest import Streams

NOW = {"availableNow": True}


def test_a_view_is_read_as_its_query_over_streams(streams: Streams) -> None:
    spark = streams.spark
    spark.sql(
        f"CREATE VIEW {streams.table}_v (number, upper) AS SELECT id, upper(k) AS u FROM {streams.table}"
    )
    frame = spark.readStream.table(f"{streams.table}_v")
    assert (frame.isStreaming, frame.columns) == (True, ["number", "upper"])
    name = streams.run(frame.where("number > 1"), "append", NOW, table=True)
    assert spark.table(name).collect() == [(2, "B"), (2, "B")]


def test_a_delta_table_is_streamed_by_its_path(streams: Streams) -> None:
    spark, path = streams.spark, streams.folder / "by path"
    spark.table(streams.table).write.format("delta").save(str(path))
    counted = [
        spark.sql(f"SELECT d.id FROM STREAM delta.`{path}` d WHERE d.id > 1"),
        spark.sql(f"SELECT id FROM STREAM(delta.`{path}`) WHERE id > 1"),
        spark.readStream.option("skipChangeCommits", "true").table(f"delta.`{path}`").where("id > 1"),
    ]
    assert all(frame.isStreaming for frame in counted)
    name = streams.run(counted[0].unionByName(counted[1]).unionByName(counted[2].select("id")), "append", NOW)
    assert spark.table(name).count() == 6


@pytest.mark.slow
def test_a_temporary_view_of_a_stream_is_queried_with_sql_and_read_back(streams: Streams) -> None:
    spark = streams.spark
    streams.stream().createOrReplaceTempView("devices")
    try:
        counts = spark.sql("SELECT k, count(*) AS n FROM devices GROUP BY k")
        counts.createOrReplaceTempView("device_counts")
        frame = spark.readStream.table("device_counts")
        assert spark.table("device_counts").isStreaming
        name = streams.run(frame, "complete", NOW, table=True)
        spark.sql(f"INSERT INTO {streams.table} VALUES (3, now(), 'b')")
        assert sorted(spark.table(name).collect()) == [("a", 1), ("b", 2)]
    finally:
        spark.catalog.dropTempView("devices")
        spark.catalog.dropTempView("device_counts")


@pytest.mark.slow
def test_once_takes_all_and_says_that_it_is_deprecated(streams: Streams) -> None:
    with pytest.warns(DeprecationWarning, match="availableNow"):
        name = streams.run(streams.stream(), "append", {"once": True}, table=True)
    assert streams.spark.table(name).count() == 3


@pytest.mark.parametrize(
    ("runtime", "condition"), [("17.3", None), ("18.3", "STATE_STORE_COMMIT_VALIDATION")]
)
def test_a_foreach_batch_may_leave_stateful_rows_unread_before_runtime_18(
    streams: Streams, runtime: str, condition: str | None
) -> None:
    conf, name = streams.spark.conf, "spark.sql.streaming.stateStore.commitValidation.enabled"
    before = conf.get(name)
    conf.set(name, get_profile(runtime).conf()[name])
    try:
        writer = streams.stream().dropDuplicates(["k"]).writeStream.foreachBatch(lambda frame, number: None)
        query = writer.trigger(availableNow=True).start()
        with suppress(StreamingQueryException):
            query.awaitTermination()
    finally:
        conf.set(name, str(before))
    text = full_text(query.exception())
    assert condition in text if condition else not text


def test_state_is_kept_in_rocksdb_by_the_name_of_databricks(streams: Streams) -> None:
    spark, key = streams.spark, "spark.sql.streaming.stateStore.providerClass"
    spark.conf.set(key, "com.databricks.sql.streaming.state.RocksDBStateStoreProvider")
    try:
        counted = spark.readStream.table(streams.table).dropDuplicates(["id"])
        name = streams.run(counted, "append", NOW, table=True)
    finally:
        spark.conf.unset(key)
    assert spark.table(name).count() == spark.table(streams.table).distinct().count()
    assert list(streams.folder.rglob("state/0/*/*.zip"))
