"""Datasets whose query keeps state with transformWithState, without a setting of the state store."""

from __future__ import annotations

from tests.pipelines.conftest import Lab

SOURCE = """
from pyspark import pipelines as dp
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor

class Total(StatefulProcessor):
    def init(self, handle):
        self.total = handle.getValueState("total", "n LONG")

    def handleInputRows(self, key, rows, timerValues):
        before = self.total.get()[0] if self.total.exists() else 0
        self.total.update((before + sum(row.id for row in rows),))
        yield Row(k=key[0], total=self.total.get()[0])

    def close(self):
        pass

@dp.table
def totals():
    groups = spark.readStream.table("SRC.raw").groupBy("k")
    return groups.transformWithState(Total(), "k STRING, total LONG", "Append", "None")
"""


def test_a_streaming_table_keeps_state_over_updates(lab: Lab) -> None:
    lab.seed("raw", "SELECT 'a' AS k, 1L AS id UNION ALL SELECT 'b', 4L")
    lab.file("totals.py", SOURCE)
    lab.done()
    assert lab.rows("totals") == [("a", 1), ("b", 4)]
    lab.seed("raw", "SELECT 'a' AS k, 5L AS id")
    lab.done()
    assert lab.rows("totals") == [("a", 1), ("a", 6), ("b", 4)]
