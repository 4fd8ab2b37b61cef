"""Rows that are computed once, and the hint that joins broadcast them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeward.pipelines.storage import computed_rows as module
from lakeward.pipelines.storage.computed_rows import (
    aggregate_rows,
    compute_rows,
    computed_rows,
    count_rows,
    hint_small,
    repeat_rows,
)
from lakeward.pipelines.storage.key_ranges import KeyRanges
from lakeward.spark_internals import scala_context

COLUMNS = (
    "id BIGINT, text STRING, amount DECIMAL(12, 2), day DATE, at TIMESTAMP, local TIMESTAMP_NTZ, ratio DOUBLE"
)


def is_hinted(frame: DataFrame) -> bool:
    return "broadcast" in frame._jdf.queryExecution().analyzed().toString().lower()  # type: ignore[operator]


def jobs(spark: SparkSession) -> int:
    """The number of jobs that were started, also of those that Spark's status store has forgotten."""
    return int(scala_context(spark.sparkContext).dagScheduler().numTotalJobs())


@pytest.fixture(params=[512 << 10, 0], ids=["planned", "stored"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The bytes up to which rows are a part of plans."""
    monkeypatch.setattr(module, "_MAX_PLANNED_BYTES", request.param)
    return int(request.param)


@pytest.mark.usefixtures("size")
def test_computed_rows_are_hinted_whatever_their_estimated_size(spark: SparkSession) -> None:
    """Spark estimates the rows of a join by the product of its sides."""
    pairs = spark.range(200).crossJoin(spark.range(200).withColumnRenamed("id", "other")).where("id = other")
    with computed_rows(pairs) as kept, computed_rows(pairs) as more:
        assert is_hinted(hint_small(kept.where("id > 3")))
        assert is_hinted(hint_small(kept.unionAll(more)))


@pytest.mark.usefixtures("size")
def test_rows_that_are_not_computed_or_come_from_a_table_are_not_hinted(spark: SparkSession) -> None:
    with computed_rows(spark.range(9)) as kept:
        assert is_hinted(hint_small(kept))
        assert not is_hinted(hint_small(kept.unionAll(spark.range(3).toDF("id"))))
    assert not is_hinted(hint_small(spark.range(9).toDF("id")))


def test_many_rows_are_not_hinted(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_PLANNED_BYTES", 0)
    with computed_rows(spark.range(9)) as kept:
        monkeypatch.setattr(module, "_MAX_BROADCAST_BYTES", 100)
        assert not is_hinted(hint_small(kept))


@pytest.mark.usefixtures("size")
def test_a_frame_is_computed_once(spark: SparkSession) -> None:
    """Values of a nondeterministic function stay as they are, and no action calls it again."""
    with computed_rows(spark.range(20).select("id", F.rand().alias("value"))) as kept:
        first = kept.orderBy("id").collect()
        assert kept.orderBy("id").collect() == first
        assert kept.where("value >= 0").count() == 20


USES: dict[str, Callable[[DataFrame], object]] = {
    "count": count_rows,
    "ranges": lambda rows: KeyRanges(rows.dtypes).of(rows),
    "isEmpty": lambda rows: rows.where("id < 0").isEmpty(),
    "repeat_rows": lambda rows: repeat_rows(rows.withColumn("n", F.lit(2)), rows.columns, "n").collect(),
    "collect": lambda rows: rows.where("id > 1").select("text").collect(),
    "compute_rows": lambda rows: compute_rows(rows.where("id > 1")).collect(),
}


@pytest.mark.parametrize("use", USES)
def test_a_few_computed_rows_need_no_further_job(spark: SparkSession, use: str) -> None:
    rows = spark.range(9).selectExpr("id", "CAST(id AS STRING) AS text", "date_add('2026-01-01', 3) AS day")
    kept = compute_rows(rows.repartition(3))
    before = jobs(spark)
    USES[use](kept)
    assert jobs(spark) == before


ROW = st.tuples(
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.text(max_size=3),
    st.none() | st.decimals(-9_999, 9_999, places=2),
    st.none() | st.dates(),
    st.none() | st.datetimes(),
    st.none() | st.datetimes(),
    st.none() | st.floats(),
)


@pytest.mark.usefixtures("size")
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ROW, max_size=6))
def test_aggregates_and_numbers_are_those_of_a_job(
    spark: SparkSession, rows: list[tuple[object, ...]]
) -> None:
    """The oracle is Spark, which computes them from rows that no plan contains."""
    frame = spark.createDataFrame(rows, COLUMNS)
    kept, ranges = compute_rows(frame.repartition(2)), KeyRanges(frame.dtypes)
    wanted = frame.repartition(2).agg(F.count(F.lit(1)), *ranges.aggregates).collect()[0]
    assert aggregate_rows(kept, F.count(F.lit(1)), *ranges.aggregates) == wanted
    assert count_rows(kept) == len(rows)
    assert kept.schema == frame.schema


@pytest.mark.usefixtures("size")
@pytest.mark.parametrize("counts", [[], [1], [0, -3], [3, 0, 1, -1], [9_000, 2]])
def test_rows_are_repeated_as_often_as_their_count_says(spark: SparkSession, counts: list[int]) -> None:
    rows = spark.createDataFrame(
        [(f"r{at}", number) for at, number in enumerate(counts)], "name STRING, n BIGINT"
    )
    with computed_rows(rows.repartition(2)) as kept:
        found = {
            row["name"]: row["count"]
            for row in repeat_rows(kept, ["name"], "n").groupBy("name").count().collect()
        }
    assert found == {f"r{at}": number for at, number in enumerate(counts) if number > 0}
