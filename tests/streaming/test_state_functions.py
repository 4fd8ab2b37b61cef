"""`read_statestore` and `read_state_metadata`: the state of a stream as a relation of SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException

if TYPE_CHECKING:
    from tests.streaming.conftest import Streams


@pytest.fixture
def checkpoint(streams: Streams) -> str:
    name = streams.run(streams.stream().groupBy("k").count(), "complete", {"availableNow": True})
    return str(streams.folder / name)


def test_the_state_of_a_stream_is_a_relation(streams: Streams, checkpoint: str) -> None:
    spark = streams.spark
    for call in (
        f"read_statestore('{checkpoint}')",
        f"READ_STATESTORE(path => '{checkpoint}', operatorId => 0, storeName => 'default')",
    ):
        rows = spark.sql(f"SELECT key.k, value.count FROM {call} ORDER BY 1").collect()
        assert rows == [("a", 1), ("b", 2)], call
    for call in (f"read_state_metadata('{checkpoint}')", f"read_state_metadata(path => '{checkpoint}')"):
        rows = spark.sql(f"SELECT operatorName, stateStoreName FROM {call}").collect()
        assert rows == [("stateStoreSave", "default")], call
    with pytest.raises(AnalysisException, match="no stream"):
        spark.sql(f"SELECT * FROM STREAM read_statestore('{checkpoint}')")
    with pytest.raises(AnalysisException, match="WRONG_NUM_ARGS"):
        spark.sql("SELECT * FROM read_state_metadata()")
