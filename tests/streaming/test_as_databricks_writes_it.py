"""Views as streams, streams as views, and the older names of things."""

from __future__ import annotations

import uuid
from contextlib import suppress

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame

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


def _made_view(streams: Streams, query: str) -> str:
    name = f"{streams.table}_{uuid.uuid4().hex[:8]}"
    streams.spark.sql(f"CREATE VIEW {name} AS {query.format(t=streams.table)}")
    return name


def _ids(streams: Streams, frame: DataFrame) -> list[int]:
    batches: list[list[int]] = []
    folder = str(streams.folder / uuid.uuid4().hex)
    writer = frame.writeStream.option("checkpointLocation", folder).trigger(availableNow=True)
    writer.foreachBatch(
        lambda rows, _: batches.append([row.id for row in rows.collect()])
    ).start().awaitTermination()
    return sorted(number for batch in batches for number in batch)


def test_options_of_a_streamed_view_reach_its_table(streams: Streams) -> None:
    spark = streams.spark
    view = _made_view(streams, "SELECT id FROM {t} WHERE id > 0")
    spark.sql(f"INSERT INTO {streams.table} VALUES (3, timestamp'2024-01-03', 'c')")
    spark.sql(f"UPDATE {streams.table} SET k = 'z' WHERE id = 3")
    spark.sql(f"INSERT INTO {streams.table} VALUES (4, timestamp'2024-01-04', 'd')")
    for spelling in ("startingVersion", "STARTINGVERSION"):
        reader = spark.readStream.option("skipChangeCommits", "true").option(spelling, 1)
        assert _ids(streams, reader.table(view)) == [3, 4], spelling
    with pytest.raises(StreamingQueryException, match="DELTA_SOURCE_TABLE_IGNORE_CHANGES"):
        _ids(streams, spark.readStream.option("startingVersion", 1).table(view))
    assert _ids(streams, spark.readStream.options(startingVersion="latest").table(view)) == []
    assert _ids(streams, spark.readStream.option("maxFilesPerTrigger", 1).table(view)) == [1, 2, 2, 3, 4]
    with pytest.raises(StreamingQueryException, match="DELTA_ILLEGAL_OPTION"):
        _ids(streams, spark.readStream.option("maxBytesPerTrigger", "many").table(view))


def test_options_that_views_do_not_support_are_refused(streams: Streams) -> None:
    spark = streams.spark
    plain = _made_view(streams, "SELECT id FROM {t}")
    union = _made_view(streams, "SELECT id FROM {t} UNION ALL SELECT id FROM {t} WHERE id > 1")
    refused = {plain: ("readChangeFeed", "mergeSchema"), union: ("withEventTimeOrder", "startingVersion")}
    for view, keys in refused.items():
        for key in keys:
            with pytest.raises(AnalysisException) as caught:
                spark.readStream.option(key, "true" if key != "startingVersion" else "0").table(view)
            condition = "UNSUPPORTED_STREAMING_OPTIONS_FOR_VIEW.UNSUPPORTED_OPTION"
            assert (caught.value.getCondition(), key in str(caught.value)) == (condition, True)
    assert _ids(streams, spark.readStream.option("skipChangeCommits", "true").table(union)) == [1, 2, 2, 2, 2]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM {view}",
        "SELECT v.id FROM {view} AS v WHERE v.id > 0",
        "WITH c AS (SELECT * FROM {view}) SELECT id FROM c",
        "WITH c AS (SELECT * FROM {t}), d AS (SELECT id FROM c) SELECT id FROM d",
    ],
)
def test_views_of_views_and_with_clauses_are_streamed_in_python_and_sql(streams: Streams, query: str) -> None:
    spark = streams.spark
    inner = _made_view(streams, "SELECT id, k FROM {t} WHERE id < 4")
    view = _made_view(streams, query.replace("{view}", inner))
    short = view.rsplit(".", 1)[1]
    spark.sql(f"INSERT INTO {streams.table} VALUES (3, timestamp'2024-01-03', 'c')")
    frames = [
        spark.readStream.option("startingVersion", 1).table(view),
        spark.sql(f"SELECT * FROM STREAM {view} WITH (startingVersion = 1)"),
        spark.sql(f"SELECT {short}.id FROM STREAM({view}) WHERE id > 2"),
    ]
    for frame in frames:
        assert frame.isStreaming
        assert _ids(streams, frame) == [3]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, count(*) AS id FROM {t} GROUP BY k",
        "SELECT count(*) AS id FROM {t}",
        "SELECT DISTINCT id FROM {t}",
        "SELECT id FROM {t} ORDER BY id",
        "SELECT id FROM {t} LIMIT 1",
        "SELECT a.id FROM {t} AS a JOIN {t} AS b ON a.id = b.id",
        "SELECT id FROM {t} UNION SELECT id FROM {t}",
        "SELECT explode(array(id, 1)) AS id FROM {t}",
    ],
)
def test_a_streamed_view_has_no_other_operators(streams: Streams, query: str) -> None:
    with pytest.raises(AnalysisException) as caught:
        streams.spark.readStream.table(_made_view(streams, query))
    assert caught.value.getCondition() == "UNEXPECTED_OPERATOR_IN_STREAMING_VIEW"


def test_streams_do_not_travel_in_time(streams: Streams) -> None:
    spark = streams.spark
    spark.table(streams.table).write.format("delta").save(str(path := streams.folder / "travelled"))
    for key, value in (("versionAsOf", "0"), ("timestampasof", "2024-01-01")):
        for read in (
            lambda reader: reader.table(streams.table),
            lambda reader: reader.format("delta").load(str(path)),
        ):
            with pytest.raises(AnalysisException) as caught:
                read(spark.readStream.option(key, value))
            assert caught.value.getCondition() == "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS", key


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
