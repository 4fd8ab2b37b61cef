"""Statements about the history and the details of a dataset in dataset functions."""

from __future__ import annotations

import pytest

from tests.pipelines.conftest import Lab

# Statement -> a column of its result, its values in the analysis and the execution of two updates.
STATEMENTS = {
    "DESCRIBE HISTORY a": ("count(*) > 0", "[[False, True], [True, True]]"),
    "DESCRIBE HISTORY SCHEMA.a LIMIT 1": ("max(version)", "[[None, 0], [1, 1]]"),
    "SELECT * FROM (DESCRIBE HISTORY a)": ("max(version)", "[[None, 0], [1, 1]]"),
    "DESCRIBE DETAIL a": ("format", "[['delta', 'delta'], ['delta', 'delta']]"),
    "DESCRIBE DETAIL main.SCHEMA.a": ("location IS NULL", "[[True, False], [False, False]]"),
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_history_and_details_are_those_of_the_last_update(lab: Lab, statement: str) -> None:
    """Analysis reads them before the first update, too; then there are no versions."""
    column, expected = STATEMENTS[statement]
    lab.seed("feed", "SELECT 1 AS id")
    lab.file(
        "p.py",
        f"""
        from pyspark import pipelines as dp

        @dp.table
        def a():
            return spark.readStream.table("SRC.feed")

        seen = []

        @dp.materialized_view
        def b():
            found = spark.sql("{statement.replace("SCHEMA", lab.schema)}").selectExpr("{column} AS c")
            seen.append(found.first()[0])
            return spark.createDataFrame([(str(seen),)], "seen STRING")
        """,
    )
    updates = []
    for _ in range(2):
        lab.done()
        updates.append(lab.rows("b")[0][0])
    assert f"[{', '.join(updates)}]" == expected
