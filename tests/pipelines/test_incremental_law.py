"""After every update an incremental view has the rows that its query gives: generated queries and changes."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward.pipelines.incremental import day_files, join_bounds, technique_choice
from tests.lanes import sampled
from tests.pipelines.conftest import LIMITS, Lab, replace_rows
from tests.pipelines.incremental import planned, python_views, qualified, qualified_change, sql_views

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
    "unioned": "SELECT CAST({k} AS STRING) AS k FROM a WHERE {p} UNION ALL SELECT name FROM b",
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
    "once": "SELECT id, v, repeats FROM (SELECT id, v, valid, row_number() OVER (PARTITION BY valid, id "
    "ORDER BY v, t, g) AS copy, count(*) OVER (PARTITION BY valid, id) AS repeats "
    "FROM (SELECT *, coalesce({p}, false) AS valid FROM a)) WHERE NOT valid OR copy = 1",
    "newest_joined": "SELECT b.name, count(*) AS n, sum(x.v) AS s FROM (SELECT id, v, g, row_number() "
    "OVER (PARTITION BY id, t ORDER BY v DESC, g) AS r FROM a) x JOIN b ON x.g = b.g WHERE r = 1 "
    "GROUP BY b.name",
    "lagged": "SELECT id, v, lag(v) OVER (PARTITION BY g ORDER BY id, v) AS before FROM a WHERE {p}",
    "moving": "SELECT id, sum(v) OVER (PARTITION BY g ORDER BY id, v ROWS 1 PRECEDING) AS s FROM a",
    "rolled_up": "SELECT {k}, {q}, count(*) AS n, sum(v) AS s FROM a GROUP BY ROLLUP ({k}, {q})",
    "coarse": "SELECT g, avg(f) AS m FROM a GROUP BY g, v, t",
    "total": "SELECT count(*) AS n, sum(amount) AS s, max(t) AS hi FROM a WHERE {p}",
    "below_total": "SELECT a.id, a.v FROM a CROSS JOIN (SELECT max(w) AS hi FROM b) x WHERE a.v <= x.hi",
    "averaged_by_g": "SELECT g, t, avg(f) AS m, count(*) AS n FROM a WHERE {p} GROUP BY g, t",
    "ranked_by_g": "SELECT id, g, rank() OVER (PARTITION BY g, t ORDER BY v) AS r FROM a",
    "joined_by_g": "SELECT a.g, b.name, sum(a.f) AS s FROM a LEFT JOIN b ON a.g = b.g GROUP BY a.g, b.name",
    "by_time": "SELECT at, count(*) AS n, max(t) AS hi, avg(f) AS m FROM (SELECT *, timestampadd(HOUR, "
    "CAST(v * 17 AS INT), TIMESTAMP'2024-01-01 20:00:00') AS at FROM a WHERE {p}) GROUP BY at",
    "once_by_day": "SELECT day, t, v FROM (SELECT *, row_number() OVER (PARTITION BY day, t "
    "ORDER BY v, id, g, f) AS r FROM (SELECT *, date_add(DATE'2024-01-01', v) AS day FROM a)) WHERE r = 1",
    "except": "SELECT g FROM a WHERE {p} EXCEPT SELECT g FROM b",
    "except_all": "SELECT g FROM a EXCEPT ALL SELECT g FROM b",
    "intersect": "SELECT g FROM a INTERSECT SELECT g FROM b WHERE w > 0",
    "intersect_all": "SELECT g FROM a WHERE {p} INTERSECT ALL SELECT g FROM b",
    "upcoming": "SELECT id, v FROM a WHERE date_add(DATE'2024-01-01', CAST(id AS INT)) >= current_date()",
    "past_averaged": "SELECT {k}, count(*) AS n, avg(f) AS m FROM a "
    "WHERE date_add(DATE'2024-01-01', v) < current_date() OR t IS NULL GROUP BY {k}",
    "upcoming_joined": "SELECT a.id, x.name FROM a LEFT JOIN (SELECT * FROM b "
    "WHERE date_add(DATE'2024-01-01', CAST(w AS INT)) > current_date()) x ON a.g = x.g",
    "upcoming_groups": "SELECT g, max(v) AS hi FROM a GROUP BY g "
    "HAVING date_add(DATE'2024-01-01', max(v)) > current_date()",
}  # fmt: skip
# DataFrames that SQL has no words for, and what they have to equal.
PYTHON = {
    "repeated_keys": ("{a}.dropDuplicates(['g', 't']).select('g', 't')", "SELECT DISTINCT g, t FROM a"),
    "repeats_counted": (
        "{a}.dropDuplicates(['g', 't']).groupBy('g').count()",
        "SELECT g, count(DISTINCT struct(t)) AS count FROM a GROUP BY g",
    ),
    "repeats_joined": (
        "{a}.dropDuplicates(['g', 'v']).join({b}.distinct(), 'g').select('v', 'name')",
        (
            "SELECT x.v, y.name FROM (SELECT DISTINCT g, v FROM a) x "
            "JOIN (SELECT DISTINCT * FROM b) y ON x.g = y.g"
        ),
    ),
    "repeated": ("{a}.dropDuplicates(['g', 't'])", ""),
}
ALL = tuple({**QUERIES, **PYTHON})
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


@pytest.fixture(autouse=True)
def _small_sources_are_not_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(day_files, "MIN_BYTES", 0)
    monkeypatch.setattr(join_bounds, "MIN_BYTES", 0)


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
        if not query:
            check_kept_rows(lab, name, what)
            continue
        assert difference(lab, name, query) == (Counter(), Counter()), (name, query, what)


def check_kept_rows(lab: Lab, name: str, what: Any) -> None:
    """dropDuplicates may keep any row of a key: it is one of the source, and the only one of its key."""
    kept = Counter((row.g, row.t) for row in lab.table(name).collect())
    wanted = lab.spark.sql(f"SELECT DISTINCT g, t FROM main.{lab.source}.a").collect()
    assert kept == Counter((row.g, row.t) for row in wanted), what
    strange = Counter(map(repr, lab.table(name).collect()))
    strange -= Counter(map(repr, lab.spark.table(f"main.{lab.source}.a").collect()))
    assert not strange, (name, what)


def run_law(
    lab: Lab,
    queries: dict[str, str],
    steps: list[list[str]],
    *,
    vectors: bool,
    feed: bool,
    python: Collection[str] = (),
) -> Counter[str]:
    """Run an update after each step; return how often each technique was used.

    Args:
        lab: The pipeline.
        queries: The views in SQL by name.
        steps: Statements that change the sources.
        vectors: Whether the sources have deletion vectors.
        feed: Whether they have the change data feed.
        python: Names of further views.
    """
    source = f"main.{lab.source}"
    for table, columns in (("a", A), ("b", B)):
        lab.spark.sql(f"DROP TABLE IF EXISTS {source}.{table}")
        properties = (
            f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{str(vectors).lower()}', "
            f"'delta.enableChangeDataFeed' = '{str(feed).lower()}')"
        )
        lab.spark.sql(f"CREATE TABLE {source}.{table} ({columns}) {properties}")
    queries = {name: qualified(query, source) for name, query in queries.items()}
    if queries:
        lab.file("views.sql", sql_views(queries, policy="INCREMENTAL"))
    lab.file("views.py", python_views({name: PYTHON[name][0] for name in python}))
    queries |= {name: qualified(PYTHON[name][1], source) for name in python}
    used: Counter[str] = Counter()
    for day, statements in enumerate(steps):
        for statement in statements:
            lab.spark.sql(qualified_change(statement, source))
        now = datetime(2024, 1, 1 + day, 12, tzinfo=timezone.utc)
        update = lab.done(now=now.timestamp)
        today = {name: query.replace("current_date()", f"DATE'{now:%F}'") for name, query in queries.items()}
        check(lab, today, steps)
        used.update(plan.chosen for plan in planned(lab, update).values())
    return used


def filled(draw: st.DrawFn, names: list[str]) -> dict[str, str]:
    found = {}
    for name in names:
        key = draw(st.sampled_from(_KEYS))
        other = draw(st.sampled_from([each for each in _KEYS if each != key]))
        found[name] = QUERIES[name].format(p=draw(st.sampled_from(_PREDICATES)), k=key, q=other)
    return found


Case = tuple[dict[str, str], list[str], list[list[str]], bool, bool, str]


@st.composite
def cases(draw: st.DrawFn, size: int) -> Case:
    names = draw(
        st.lists(st.sampled_from(sorted({**QUERIES, **PYTHON})), min_size=size, max_size=size, unique=True)
    )
    steps = draw(st.lists(changes(), min_size=4, max_size=5))
    python = [name for name in names if name in PYTHON]
    queries = filled(draw, [name for name in names if name in QUERIES])
    return (
        queries,
        python,
        steps,
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.sampled_from([*LIMITS, "mixes"])),
    )


def first_rows(table: str, rows: list[str]) -> str:
    return f"INSERT INTO {table} VALUES {', '.join(rows)}"


START = [
    first_rows("a", [
        "(1, 1, 1, 1.25, 1.5D, 'x', array(1))", "(1, 1, 1, 1.25, 1.5D, 'x', array(1))",
        "(2, 2, 3, NULL, -0.0D, NULL, NULL)",
        "(3, NULL, 2, -3.10, double('NaN'), '#1', array(2, NULL, 2))",
        "(4, 2, 2, 99.99, 0.0D, 'y', array())", "(5, 3, 1, 0.10, 0.5D, 'x', array(5))",
        "(8, 7, NULL, NULL, NULL, NULL, NULL)",
    ]),
    first_rows("b", ["(1, 'one', 1)", "(2, 'two', 2)", "(2, 'two', 2)", "(NULL, 'none', 3)"]),
]  # fmt: skip
STEPS = [
    START,
    [
        "INSERT INTO a VALUES (6, 2, 2, 7.00, -0.0D, 'z', array(1, 1)), (7, 4, 1, 1.0, 2.5D, NULL, NULL)",
        "INSERT INTO a VALUES (9, 7, 1, 2.5, NULL, NULL, NULL), (10, 3, NULL, NULL, NULL, NULL, NULL)",
    ],
    [
        "UPDATE a SET v = v + 1, g = 3 WHERE id IN (1, 4)",
        "DELETE FROM a WHERE id = 3",
        "DELETE FROM b WHERE g = 2",
        "INSERT INTO b VALUES (3, 'three', 2), (4, NULL, 0)",
    ],
    ["OPTIMIZE a"],
    [
        "UPDATE a SET g = 2 WHERE id IN (1, 9)",
        "DELETE FROM a WHERE id = 6",
        "INSERT INTO a VALUES (11, 2, 2, 8.00, 0.5D, 'z', array(1)), (11, 2, 2, 8.00, 0.5D, 'z', array(1))",
    ],
]


def filled_steadily(names: Iterable[str]) -> dict[str, str]:
    return {name: QUERIES[name].format(p="v > 0", k="g", q="t") for name in names if name in QUERIES}


@pytest.mark.parametrize(
    ("names", "techniques"),
    [
        pytest.param(
            ("filtered", "summed", "averaged", "ranked", "total", "by_time"),
            {"APPEND_ONLY", "ROW_BASED", "GROUP_AGGREGATE", "GENERIC_AGGREGATE", "WINDOW_FUNCTION"},
            id="one of a kind",
        ),
        *[
            pytest.param(ALL[at : at + 8], set(), id=f"{at} to {at + 7}", marks=pytest.mark.slow)
            for at in range(0, len(ALL), 8)
        ],
    ],
)
@pytest.mark.parametrize("way", sampled(["rewrites", "marks", "merges"], "marks"))
def test_every_query_of_the_grammar_equals_its_recomputation(
    lab: Lab,
    names: tuple[str, ...],
    techniques: set[str],
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replace_rows(monkeypatch, way)
    python = [name for name in names if name in PYTHON]
    used = run_law(lab, filled_steadily(names), STEPS, vectors=True, feed=False, python=python)
    assert set(used) >= techniques
    timeless = [name for name in names if "current_date" not in QUERIES.get(name, "")]
    assert used["NO_OP"] == len(timeless), "OPTIMIZE changes no row"
    assert used["COMPLETE_RECOMPUTE"] == len(names), "each view is computed as a whole once"


@pytest.mark.slow
@pytest.mark.parametrize("feed", [False, True])
def test_partitions_that_are_replaced_as_a_whole_equal_their_recomputation(
    lab: Lab, feed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = {"PARTITION_OVERWRITE": 0.0, "GROUP_AGGREGATE": 1.0}
    monkeypatch.setattr(technique_choice, "estimate", lambda technique, *_: costs.get(technique, 2.0))
    queries = filled_steadily(name for name in QUERIES if name.endswith("_by_g"))
    used = run_law(lab, queries, STEPS, vectors=not feed, feed=feed)
    assert used["PARTITION_OVERWRITE"] == 3 * len(queries)


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(case=cases(10))
def test_any_sequence_of_changes_leaves_the_rows_of_the_query(lab: Lab, case: Case) -> None:
    queries, python, steps, vectors, feed, way = case
    # Below pytest's own folder: elsewhere a path without a scheme is a DBFS path in a pipeline.
    with tempfile.TemporaryDirectory(dir=lab.folder) as folder:
        (Path(folder) / "lab").mkdir()
        fresh = Lab(lab.spark, lab.settings, Path(folder) / "lab")
        with pytest.MonkeyPatch.context() as patch:
            replace_rows(patch, way)
            run_law(fresh, queries, steps, vectors=vectors, feed=feed, python=python)
