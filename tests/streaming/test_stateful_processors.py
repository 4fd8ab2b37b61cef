"""transformWithState runs without a setting of the state store, wherever its checkpoint is."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor, StreamingQueryListener

from lakeward.session import full_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from tests.streaming.conftest import Streams

NOW = {"availableNow": True}
STORE = "spark.sql.streaming.stateStore.providerClass"


class Total(StatefulProcessor):
    """The sum of `id` of each key, in a value, a list and a map."""

    def init(self, handle: Any) -> None:
        self.value = handle.getValueState("value", "n LONG")
        self.list = handle.getListState("list", "n LONG")
        self.map = handle.getMapState("map", "k STRING", "n LONG")

    def add(self, ids: list[int]) -> int:
        before = self.value.get()[0] if self.value.exists() else 0
        for each in ids:
            self.list.appendValue((each,))
        total = before + sum(ids)
        self.value.update((total,))
        self.map.updateValue(("total",), (total,))
        listed = sum(row[0] for row in self.list.get())
        return total if listed == total == self.map.getValue(("total",))[0] else -1

    def handleInputRows(self, key: Any, rows: Iterator[Any], *_: Any) -> Iterator[Any]:  # noqa: N802
        yield Row(k=key[0], total=self.add([row.id for row in rows]))

    def close(self) -> None:
        return


class PandasTotal(Total):
    def handleInputRows(self, key: Any, rows: Iterator[Any], *_: Any) -> Iterator[Any]:  # noqa: N802
        total = self.add([int(each) for frame in rows for each in frame["id"]])
        yield pd.DataFrame({"k": [key[0]], "total": [total]})


def totals(frame: DataFrame, *, pandas: bool = False) -> DataFrame:
    processor = PandasTotal() if pandas else Total()
    groups = frame.groupBy("k")
    call: Any = groups.transformWithStateInPandas if pandas else groups.transformWithState
    return call(processor, "k STRING, total LONG", "Append", "None")


def run(frame: DataFrame, checkpoint: str, table: str) -> None:
    writer = frame.writeStream.outputMode("append").trigger(**NOW)
    query = writer.option("checkpointLocation", checkpoint).toTable(table)
    query.awaitTermination()


@pytest.mark.parametrize("pandas", [False, True])
@pytest.mark.parametrize("place", ["file", "dbfs", "volume"])
def test_state_is_kept_without_a_setting(streams: Streams, place: str, pandas: bool) -> None:
    spark, name = streams.spark, f"processed_{uuid.uuid4().hex[:8]}"
    spark.sql("CREATE VOLUME IF NOT EXISTS main.default.checkpoints")
    roots = {
        "file": str(streams.folder),
        "dbfs": "dbfs:/tmp",
        "volume": "dbfs:/Volumes/main/default/checkpoints",
    }
    checkpoint, table = f"{roots[place]}/{name}", f"main.default.{name}"
    before = spark.conf.get(STORE, None)
    run(totals(streams.stream(), pandas=pandas), checkpoint, table)
    assert sorted(spark.table(table).collect()) == [("a", 1), ("b", 4)]
    spark.sql(f"INSERT INTO {streams.table} VALUES (5, timestamp'2024-01-03', 'a')")
    run(totals(streams.stream(), pandas=pandas), checkpoint, table)
    assert sorted(spark.table(table).collect()) == [("a", 1), ("a", 6), ("b", 4)]
    assert spark.conf.get(STORE, None) == before
    spark.sql(f"DROP TABLE {table}")


@pytest.mark.parametrize("provider", ["com.databricks.sql", "org.apache.spark.sql.execution"])
@pytest.mark.parametrize("pandas", [False, True])
def test_rocksdb_is_set_by_either_name(streams: Streams, provider: str, pandas: bool) -> None:
    """Databricks' documentation of transformWithState sets the state store in each example."""
    spark, name = streams.spark, f"processed_{uuid.uuid4().hex[:8]}"
    checkpoint, table = str(streams.folder / name), f"main.default.{name}"
    spark.conf.set(STORE, f"{provider}.streaming.state.RocksDBStateStoreProvider")
    try:
        run(totals(streams.stream(), pandas=pandas), checkpoint, table)
        spark.sql(f"INSERT INTO {streams.table} VALUES (5, timestamp'2024-01-03', 'a')")
        run(totals(streams.stream(), pandas=pandas), checkpoint, table)
    finally:
        spark.conf.unset(STORE)
    assert sorted(spark.table(table).collect()) == [("a", 1), ("a", 6), ("b", 4)]


def test_other_streams_do_not_see_the_setting(streams: Streams) -> None:
    """The listener runs while `start` does, when another thread may start a stream of the same session."""
    seen = []

    class Listener(StreamingQueryListener):
        def onQueryStarted(self, event: Any) -> None:  # noqa: N802
            seen.append(streams.spark.conf.get(STORE, None))

        def onQueryProgress(self, event: Any) -> None: ...  # noqa: N802

        def onQueryTerminated(self, event: Any) -> None: ...  # noqa: N802

    before, listener = streams.spark.conf.get(STORE, None), Listener()
    streams.spark.streams.addListener(listener)
    try:
        streams.run(totals(streams.stream()), "append", NOW)
    finally:
        streams.spark.streams.removeListener(listener)
    assert seen == [before]


def test_a_setting_of_the_users_own_wins(streams: Streams) -> None:
    conf = streams.spark.conf
    conf.set(STORE, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    try:
        with pytest.raises(PySparkException) as raised:
            streams.run(totals(streams.stream()), "append", NOW)
    finally:
        conf.unset(STORE)
    assert "STORE_BACKEND_NOT_SUPPORTED_FOR_TWS" in full_text(raised.value)
