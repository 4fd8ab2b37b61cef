"""After every update an incremental view has the rows that its query gives: generated queries and changes."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.pipelines.conftest import Lab
from tests.pipelines.incremental import planned, qualified, qualified_change, sql_views

A = "id BIGINT, g INT, v INT, amount DECIMAL(10,2), f DOUBLE, t STRING, xs ARRAY<INT>"
B = "g INT, name STRING, w BIGINT"
# Queries of every operator of the grammar; {p} is a condition, {k} a key, {q} another one.
QUERIES = {
    "filtered": "SELECT id, v * 2 AS v2, f FROM a WHERE {p}",
    "nested": "SELECT id, named_struct('k', {k}, 'xs', xs) AS s FROM a WHERE {p}",
    "exploded": "SELECT id, x FROM a LATERAL VIEW explode(xs) AS x WHERE {p}",
    "joined": "SELECT a.id, a.{k}, b.name FROM a JOIN b ON a.g = b.g WHERE {p}",
    "left_joined": "SELECT a.id, b.name, b.w FROM a LEFT JOIN b ON a.g = b.g AND {p}",
    "outer_joined": "SELECT a.id, b.name FROM a FULL OUTER JOIN b ON a.g = b.g",
    "semi_joined": "SELECT id, v FROM a WHERE g IN (SELECT g FROM b WHERE w > 1)",
    "anti_joined": "SELECT id FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.g = a.g)",
    "unioned": "SELECT {k} AS k FROM a WHERE {p} UNION ALL SELECT g FROM b",
    "distinct": "SELECT DISTINCT {k}, {q} FROM a WHERE {p}",
    "united": "SELECT g FROM a UNION SELECT g FROM b",
    "summed": "SELECT {k}, count(*) AS n, sum(amount) AS s, min(t) AS lo, max(v) AS hi FROM a GROUP BY {k}",
    "averaged": "SELECT {k}, {q}, avg(f) AS m, sum(f) AS s, count(DISTINCT t) AS d FROM a GROUP BY 1, 2",
    "having": "SELECT {k}, sum(v) AS s FROM a WHERE {p} GROUP BY {k} HAVING count(*) > 1",
    "join_summed": "SELECT b.name, sum(a.v) AS s, count(b.w) AS n FROM a JOIN b ON a.g = b.g GROUP BY b.name",
    "left_summed": "SELECT a.{k}, sum(b.w) AS s FROM a LEFT JOIN b ON a.g = b.g GROUP BY a.{k}",
    "twice_summed": "SELECT n, count(*) AS c FROM (SELECT {k}, count(*) AS n FROM a GROUP BY {k}) GROUP BY n",
    "common": "WITH c AS (SELECT * FROM a WHERE {p}) SELECT x.id, y.id AS other FROM c x JOIN c y USING (g)",
    "ranked": "SELECT id, {k}, rank() OVER (PARTITION BY {k} ORDER BY v) AS r FROM a WHERE {p}",
    "numbered": "SELECT * FROM (SELECT id, v, f, t, g, row_number() "
    "OVER (PARTITION BY {k} ORDER BY id, v, f, t, g) AS r FROM a) WHERE r = 1",
    "running": "SELECT id, {k}, sum(v) OVER (PARTITION BY {k} ORDER BY id RANGE UNBOUNDED PRECEDING) AS s "
    "FROM a",
    "firsts": "SELECT id FROM (SELECT id, dense_rank() OVER (PARTITION BY g ORDER BY v) AS r FROM a) "
    "WHERE r = 1",
}  # fmt: skip
_KEYS = ("g", "v", "t")
_PREDICATES = ("v > 1", "t IS NOT NULL", "f >= 0", "id % 2 = 0", "amount < 5 OR g IS NULL")

_ids = st.integers(0, 4)
_merge_actions = st.sampled_from(["WHEN MATCHED THEN DELETE", "WHEN MATCHED THEN UPDATE SET g = s.k"])
_small = st.one_of(st.none(), st.integers(0, 3))
_floats = st.sampled_from(["NULL", "0.0D", "-0.0D", "1.5D", "double('NaN')", "-2.25D"])


def _sql(value: object) -> str:
    return "NULL" if value is None else str(value)


@st.composite
def rows_of_a(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(["NULL", "''", "'x'", "'y'", "'#1'"]))
    xs = draw(st.sampled_from(["NULL", "array()", "array(1)", "array(2, NULL, 2)"]))
    amount = draw(st.sampled_from(["NULL", "0.00", "1.25", "-3.10", "99.99"]))
    small = [_sql(draw(each)) for each in (st.integers(0, 6), _small, _small)]
    return f"({', '.join([*small, amount, draw(_floats), text, xs])})"


@st.composite
def rows_of_b(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(["NULL", "'one'", "'two'"]))
    return f"({_sql(draw(_small))}, {name}, {_sql(draw(_small))})"


ROWS = {"a": rows_of_a(), "b": rows_of_b()}


@st.composite
def changes(draw: st.DrawFn) -> list[str]:
    """SQL statements that change the sources."""
    statements = []
    for _ in range(draw(st.integers(1, 3))):
        table = draw(st.sampled_from(["a", "a", "b"]))
        key = "id" if table == "a" else "w"
        values = ", ".join(draw(st.lists(ROWS[table], min_size=1, max_size=3)))
        statements.append(
            draw(
                st.sampled_from(
                    [
                        f"INSERT INTO {table} VALUES {values}",
                        f"INSERT INTO {table} VALUES {values}",
                        f"DELETE FROM {table} WHERE {key} % 3 = {draw(st.integers(0, 2))}",
                        f"UPDATE {table} SET g = {_sql(draw(_small))} WHERE {key} = {draw(_ids)}",
                        f"MERGE INTO {table} t USING (SELECT {draw(_ids)} AS k) s ON t.{key} = s.k "
                        + draw(_merge_actions),
                        f"INSERT OVERWRITE {table} VALUES {values}",
                        f"OPTIMIZE {table}",
                    ]
                )
            )
        )
    return statements


def difference(lab: Lab, name: str, query: str) -> tuple[Counter[str], Counter[str]]:
    """Return the rows that only the view has, and those that only its query has."""
    stored, wanted = lab.table(name), lab.spark.sql(query)
    assert stored.columns == wanted.columns
    has, needs = (Counter(map(repr, frame.collect())) for frame in (stored, wanted))
    return has - needs, needs - has


def check(lab: Lab, queries: Mapping[str, str], what: Any) -> None:
    for name, query in queries.items():
        assert difference(lab, name, query) == (Counter(), Counter()), (name, query, what)


def run_law(lab: Lab, queries: dict[str, str], steps: list[list[str]], *, vectors: bool) -> Counter[str]:
    """Run an update after each step; return how often each technique was used."""
    source = f"main.{lab.source}"
    for table, columns in (("a", A), ("b", B)):
        lab.spark.sql(f"DROP TABLE IF EXISTS {source}.{table}")
        properties = f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{str(vectors).lower()}')"
        lab.spark.sql(f"CREATE TABLE {source}.{table} ({columns}) {properties}")
    queries = {name: qualified(query, source) for name, query in queries.items()}
    lab.file("views.sql", sql_views(queries, policy="INCREMENTAL"))
    used: Counter[str] = Counter()
    for statements in steps:
        for statement in statements:
            lab.spark.sql(qualified_change(statement, source))
        update = lab.done()
        check(lab, queries, steps)
        used.update(plan.chosen for plan in planned(lab, update).values())
    return used


def filled(draw: st.DrawFn, names: list[str]) -> dict[str, str]:
    found = {}
    for name in names:
        key = draw(st.sampled_from(_KEYS))
        other = draw(st.sampled_from([each for each in _KEYS if each != key]))
        found[name] = QUERIES[name].format(p=draw(st.sampled_from(_PREDICATES)), k=key, q=other)
    return found


@st.composite
def cases(draw: st.DrawFn, size: int) -> tuple[dict[str, str], list[list[str]], bool]:
    names = draw(st.lists(st.sampled_from(sorted(QUERIES)), min_size=size, max_size=size, unique=True))
    steps = draw(st.lists(changes(), min_size=4, max_size=5))
    return filled(draw, names), steps, draw(st.booleans())


def first_rows(table: str, rows: list[str]) -> str:
    return f"INSERT INTO {table} VALUES {', '.join(rows)}"


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(
            ("filtered", "left_joined", "summed", "averaged", "ranked", "common"), id="one of a kind"
        ),
        pytest.param(tuple(QUERIES), id="all", marks=pytest.mark.slow),
    ],
)
def test_every_query_of_the_grammar_equals_its_recomputation(lab: Lab, names: tuple[str, ...]) -> None:
    queries = {name: QUERIES[name].format(p="v > 0", k="g", q="t") for name in names}
    start = [
        first_rows("a", [
            "(1, 1, 1, 1.25, 1.5D, 'x', array(1))", "(1, 1, 1, 1.25, 1.5D, 'x', array(1))",
            "(2, 2, 3, NULL, -0.0D, NULL, NULL)",
            "(3, NULL, 2, -3.10, double('NaN'), '#1', array(2, NULL, 2))",
            "(4, 2, 2, 99.99, 0.0D, 'y', array())", "(5, 3, 1, 0.10, 0.5D, 'x', array(5))",
        ]),
        first_rows("b", ["(1, 'one', 1)", "(2, 'two', 2)", "(2, 'two', 2)", "(NULL, 'none', 3)"]),
    ]  # fmt: skip
    steps = [
        start,
        ["INSERT INTO a VALUES (6, 2, 2, 7.00, -0.0D, 'z', array(1, 1)), (7, 4, 1, 1.00, 2.5D, NULL, NULL)"],
        [
            "UPDATE a SET v = v + 1, g = 3 WHERE id IN (1, 4)",
            "DELETE FROM a WHERE id = 3",
            "DELETE FROM b WHERE g = 2",
            "INSERT INTO b VALUES (3, 'three', 2), (4, NULL, 0)",
        ],
        ["OPTIMIZE a"],
    ]
    used = run_law(lab, queries, steps, vectors=True)
    assert set(used) >= {
        "APPEND_ONLY",
        "ROW_BASED",
        "GROUP_AGGREGATE",
        "GENERIC_AGGREGATE",
        "WINDOW_FUNCTION",
        "NO_OP",
    }
    assert used["COMPLETE_RECOMPUTE"] == len(queries), "each view is computed as a whole once"


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(case=cases(10))
def test_any_sequence_of_changes_leaves_the_rows_of_the_query(
    lab: Lab, case: tuple[dict[str, str], list[list[str]], bool]
) -> None:
    queries, steps, vectors = case
    # Below pytest's own folder: elsewhere a path without a scheme is a DBFS path in a pipeline.
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder:
        (Path(folder) / "lab").mkdir()
        fresh = Lab(lab.spark, lab.settings, Path(folder) / "lab")
        run_law(fresh, queries, steps, vectors=vectors)
