"""Bags of rows: days that are left out of a comparison have the same rows on both sides."""

from __future__ import annotations

from collections import Counter

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeward.pipelines.incremental import change_set, row_bags
from lakeward.pipelines.incremental.group_hashes import changed_groups
from lakeward.pipelines.incremental.row_bags import is_hashable, net_rows, without_equal_days
from tests.lanes import sampled
from tests.pipelines.conftest import Lab
from tests.pipelines.incremental import planned, sql_views

TYPES = "day {day}, a INT, b INT, x DOUBLE, text STRING, amount DECIMAL(20, 2), bytes BINARY"
SAME = "('2024-01-01', 1, 2, 1.5D, 'one', 9.99, X'00')"
OTHER_DAY = "('2024-01-02', {}, {}, {}, {}, 9.99, X'00')"
CHANGED = {
    "a value": ((1, 2, "1.5D", "'x'"), (1, 3, "1.5D", "'x'")),
    "NULL in another column": ((1, "NULL", "1.5D", "'x'"), ("NULL", 1, "1.5D", "'x'")),
    "an empty text for NULL": ((1, 2, "1.5D", "''"), (1, 2, "1.5D", "NULL")),
    "the sign of zero": ((1, 2, "0.0D", "'x'"), (1, 2, "-0.0D", "'x'")),
    "NaN": ((1, 2, "double('NaN')", "'x'"), (1, 2, "1.0D", "'x'")),
    "the same NaN": ((1, 2, "double('NaN')", "'x'"), (1, 2, "double('NaN')", "'x'")),
    "values that change places": ((1, 2, "1.5D", "'x'"), (2, 1, "1.5D", "'x'")),
}


def rows(spark: SparkSession, day: str, *values: str) -> DataFrame:
    names = ", ".join(each.split()[0] for each in TYPES.split(", ")[:5])
    casts = ", ".join(
        f"CAST({each.split()[0]} AS {each.split()[1]})" for each in TYPES.format(day=day).split(", ")[:5]
    )
    text = f"SELECT {casts}, CAST(amount AS DECIMAL(20, 2)), bytes FROM VALUES {', '.join(values)}"
    return spark.sql(f"{text} AS t({names}, amount, bytes)").toDF(*[f"c{i}" for i in range(7)])


def bag(frame: DataFrame) -> Counter[str]:
    return Counter(repr(sorted(row.asDict().items())) for row in frame.collect())


def assert_equal_nets(plus: DataFrame, minus: DataFrame) -> list[DataFrame]:
    """The rows of equal days cancel out: without them the difference is the same."""
    kept = list(without_equal_days(plus, minus))
    assert bag(net_rows(*kept)) == bag(net_rows(plus, minus))
    return kept


@pytest.mark.slow
@pytest.mark.parametrize("day", sampled(["DATE", "TIMESTAMP", "TIMESTAMP_NTZ"], "TIMESTAMP"))
def test_equal_days_are_left_out(spark: SparkSession, day: str) -> None:
    for name, (before, after) in CHANGED.items():
        plus, minus = (rows(spark, day, SAME, OTHER_DAY.format(*each)) for each in (after, before))
        counts = [each.count() for each in assert_equal_nets(plus, minus)]
        assert counts == ([0, 0] if before == after else [1, 1]), name


@pytest.mark.slow
def test_copies_and_missing_days_are_differences(spark: SparkSession) -> None:
    one, none = OTHER_DAY.format(1, 2, "1.5D", "'x'"), "(NULL, 1, 2, 1.5D, 'one', 9.99, X'00')"
    two = OTHER_DAY.format(3, 4, "1.5D", "'x'")
    for plus, minus in (
        ((one, one), (two, two)),
        ((one, one), (one,)),
        ((SAME,), (one,)),
        ((none, SAME), (SAME,)),
        ((none, none), (none,)),
        ((none, one), (none, two)),
    ):
        assert_equal_nets(rows(spark, "DATE", *plus), rows(spark, "DATE", *minus))


def test_what_cannot_be_hashed_is_compared_as_a_whole(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrays = spark.sql("SELECT DATE'2024-01-01' AS c0, array(NULL, 1) AS c1")
    other = spark.sql("SELECT DATE'2024-01-01' AS c0, array(1, NULL) AS c1")
    assert without_equal_days(arrays, other) == (arrays, other)
    numbers = spark.sql("SELECT 1 AS c0")
    assert without_equal_days(numbers, numbers) == (numbers, numbers)
    monkeypatch.setattr(row_bags, "MAX_DAYS", 1)
    plus, minus = rows(spark, "DATE", SAME), rows(spark, "DATE", OTHER_DAY.format(1, 2, "1.5D", "'x'"))
    assert without_equal_days(plus, minus) == (plus, minus)


def test_changed_groups_are_those_of_the_different_rows(spark: SparkSession) -> None:
    """By day, and by day and a number: the groups of rows that one side has more copies of."""
    before, after = (
        [OTHER_DAY.format(*each) for each in side] for side in zip(*CHANGED.values(), strict=True)
    )
    copies = "('2024-01-03', 1, 2, 1.5D, 'one', 9.99, X'00')"
    none = "(NULL, NULL, 2, 1.5D, 'one', 9.99, X'00')"
    for plus, minus in (
        ((SAME, copies, copies, none), (SAME, copies)),
        ((SAME, none), (none, SAME)),
        *[((SAME, new), (SAME, old)) for old, new in zip(before, after, strict=True)],
        (tuple(after), tuple(before)),
    ):
        sides = [rows(spark, "DATE", *each) for each in (plus, minus)]
        for keys in (1, 2):
            names = sides[0].columns[:keys]
            assert bag(changed_groups(*sides, keys)) == bag(net_rows(*sides).select(*names).distinct())


def test_nested_values_are_not_hashed(spark: SparkSession) -> None:
    """A hash passes over NULL inside of them; a collation has equal texts with different hashes."""
    assert is_hashable(rows(spark, "DATE", SAME))
    for value in ("array(1)", "named_struct('x', 1)", "map(1, 2)", "'a' COLLATE UTF8_LCASE"):
        assert not is_hashable(spark.sql(f"SELECT {value} AS c0"))


@pytest.mark.slow
def test_a_view_over_a_rewritten_file_equals_its_query(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 40 days in one file, the rows of the updated and deleted ones are compared."""
    monkeypatch.setattr(change_set, "MIN_HASHED_BYTES", 0)
    found: list[int] = []

    def counted(plus: DataFrame, minus: DataFrame) -> tuple[DataFrame, DataFrame]:
        kept = without_equal_days(plus, minus)
        found.extend(each.count() for each in kept)
        return kept

    monkeypatch.setattr(change_set, "without_equal_days", counted)
    lab.seed("a", "SELECT id, DATE'2024-01-01' + CAST(id % 40 AS INT) AS day, 1.0D AS x FROM range(4000)")
    table = f"main.{lab.source}.a"
    query = f"SELECT day, count(*) AS n, sum(id) AS s, max(x) AS x FROM {table} GROUP BY day"
    lab.file("views.sql", sql_views({"v0": query}, policy="INCREMENTAL"))
    lab.done()
    lab.spark.sql(f"UPDATE {table} SET x = 2 WHERE day = DATE'2024-01-03'")
    lab.spark.sql(f"DELETE FROM {table} WHERE day = DATE'2024-01-07' AND id > 100")
    assert planned(lab, lab.done())["v0"].chosen == "GROUP_AGGREGATE"
    assert bag(lab.table("v0")) == bag(lab.spark.sql(query))
    assert found == [103, 200]
