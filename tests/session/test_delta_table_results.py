"""What `DeltaTable.update`, `delete` and `merge` return: the numbers of rows, as the SQL statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from lakeward.session import condition_of

NAME = "main.default.changed"
Change = Callable[[DeltaTable], Any]


@pytest.fixture(params=["name", "path", "alias", "partitioned"])
def table(spark: SparkSession, request: pytest.FixtureRequest) -> DeltaTable:
    layout = "PARTITIONED BY (v)" if request.param == "partitioned" else ""
    spark.sql(f"CREATE OR REPLACE TABLE {NAME} (id INT, v STRING, s STRUCT<n: INT>) USING delta {layout}")
    spark.sql(f"INSERT INTO {NAME} SELECT id, string(id % 2), named_struct('n', id) FROM range(6)")
    found = DeltaTable.forName(spark, NAME)
    if request.param == "path":
        return DeltaTable.forPath(spark, found.detail().select("location").head()[0])  # type: ignore[index]
    return found.alias("t") if request.param == "alias" else found


CHANGES: dict[str, tuple[Change, int, list[int]]] = {
    "delete, text": (lambda t: t.delete("id > 3"), 2, [0, 1, 2, 3]),
    "delete, column": (lambda t: t.delete(F.col("v") == "1"), 3, [0, 2, 4]),
    "delete, named": (lambda t: t.delete(condition="s.n = 2"), 1, [0, 1, 3, 4, 5]),
    "delete, no row": (lambda t: t.delete("id = 99"), 0, [0, 1, 2, 3, 4, 5]),
    "delete, all": (lambda t: t.delete(), 6, []),
    "update, texts": (lambda t: t.update("id > 3", {"id": "id + 10"}), 2, [0, 1, 2, 3, 14, 15]),
    "update, columns": (lambda t: t.update(F.col("id") == 1, {"id": F.lit(7)}), 1, [0, 2, 3, 4, 5, 7]),
    "update, field": (lambda t: t.update("id = 1", {"s.n": "9"}), 1, [0, 1, 2, 3, 4, 5]),
    "update, all": (lambda t: t.update(set={"id": "1"}), 6, [1] * 6),
    "update, no row": (lambda t: t.update("id = 99", {"id": "1"}), 0, [0, 1, 2, 3, 4, 5]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_returns_its_numbers_and_runs_once(
    spark: SparkSession, table: DeltaTable, change: str
) -> None:
    call, affected, left = CHANGES[change]
    result = call(table)
    assert isinstance(result, DataFrame)
    assert (result.columns, result.collect()) == (["num_affected_rows"], [(affected,)])
    # A second action does not change the table again.
    assert result.count() == 1
    assert sorted(row.id for row in spark.table(NAME).collect()) == left


def test_the_result_of_merge_has_the_numbers_of_each_kind(spark: SparkSession, table: DeltaTable) -> None:
    source = spark.range(4, 8).selectExpr("int(id) AS id").alias("s")
    result = (
        table.alias("t")
        .merge(source, "t.id = s.id")
        .whenMatchedDelete()
        .whenNotMatchedInsert(values={"id": "s.id", "v": "'x'"})
        .execute()
    )
    assert result.first() == (4, 0, 2, 2)


@pytest.mark.parametrize(
    ("change", "condition"),
    [
        (lambda t: t.delete("missing = 1"), "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        (lambda t: t.update("id = 1", {"id": "missing"}), "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        (lambda t: t.update("id = 1", {"missing": "1"}), "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ],
)
def test_a_column_that_is_missing_is_refused(spark: SparkSession, change: Change, condition: str) -> None:
    spark.sql(f"CREATE OR REPLACE TABLE {NAME} (id INT)")
    with pytest.raises(AnalysisException) as caught:
        change(DeltaTable.forName(spark, NAME))
    assert condition_of(caught.value) == condition


@pytest.mark.parametrize("values", [None, [1], {1: "1"}, {"id": 1}])
def test_wrong_values_are_refused(spark: SparkSession, values: Any) -> None:
    spark.sql(f"CREATE OR REPLACE TABLE {NAME} (id INT)")
    with pytest.raises((TypeError, ValueError), match="'set'"):
        DeltaTable.forName(spark, NAME).update("id = 1", values)
