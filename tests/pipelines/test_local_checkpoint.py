"""Rows that are kept for several reads, and the hint that joins broadcast them."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeward.pipelines.storage import local_checkpoint as module
from lakeward.pipelines.storage.local_checkpoint import hint_small, local_checkpoint


def is_hinted(frame: DataFrame) -> bool:
    return "broadcast" in frame._jdf.queryExecution().analyzed().toString().lower()  # type: ignore[operator]


def test_computed_rows_are_hinted_whatever_their_estimated_size(spark: SparkSession) -> None:
    """Spark estimates the rows of a join by the product of its sides."""
    pairs = spark.range(200).crossJoin(spark.range(200).withColumnRenamed("id", "other")).where("id = other")
    with local_checkpoint(pairs) as kept, local_checkpoint(pairs) as more:
        assert is_hinted(hint_small(kept.where("id > 3")))
        assert is_hinted(hint_small(kept.unionAll(more)))


def test_rows_that_are_not_computed_or_come_from_a_table_are_not_hinted(spark: SparkSession) -> None:
    with local_checkpoint(spark.range(9), eager=False) as kept:
        assert not is_hinted(hint_small(kept))
        kept.count()
        assert is_hinted(hint_small(kept))
        assert not is_hinted(hint_small(kept.unionAll(spark.range(3).toDF("id"))))
    assert not is_hinted(hint_small(spark.range(9).toDF("id")))


def test_many_rows_are_not_hinted(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    with local_checkpoint(spark.range(9)) as kept:
        monkeypatch.setattr(module, "_MAX_BROADCAST_BYTES", 100)
        assert not is_hinted(hint_small(kept))
