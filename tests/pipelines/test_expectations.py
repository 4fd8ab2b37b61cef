"""Expectations: rows kept, dropped and refused, with exact counts (INV-11, SDP-2)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from lakeward.pipelines import Update
from tests.lanes import sampled
from tests.pipelines.conftest import Lab, result

VALUES = st.lists(st.one_of(st.none(), st.integers(-2, 2)), max_size=8)
RULES = st.lists(
    st.tuples(
        st.sampled_from(["x > 0", "x < 2", "x IS NOT NULL", "x <> 1", "x > NULL", "x % 2 = 0"]),
        st.sampled_from(["warn", "drop"]),
    ),
    min_size=1,
    max_size=3,
)
HOLDS = {
    "x > 0": lambda x: x is not None and x > 0,
    "x < 2": lambda x: x is not None and x < 2,
    "x IS NOT NULL": lambda x: x is not None,
    "x <> 1": lambda x: x is not None and x != 1,
    "x > NULL": lambda x: False,
    "x % 2 = 0": lambda x: x is not None and x % 2 == 0,
}


def declaration(
    rules: list[tuple[str, str]], read: str, name: str = "t", query: str = "table('SRC.raw')"
) -> str:
    decorators = {"warn": "expect", "drop": "expect_or_drop", "fail": "expect_or_fail"}
    lines = [f"@dlt.{decorators[action]}('r{i}', '{rule}')" for i, (rule, action) in enumerate(rules)]
    return "\n".join(["import dlt", "@dlt.table", *lines, f"def {name}(): return spark.{read}.{query}", ""])


Example = tuple[list[int | None], list[tuple[str, str]]]


def generate_examples(count: int) -> list[Example]:
    found: list[Example] = []

    @settings(max_examples=count, phases=[Phase.generate], derandomize=True, database=None)
    @given(values=VALUES, rules=RULES)
    def collect(values: list[int | None], rules: list[tuple[str, str]]) -> None:
        found.append((values, rules))

    collect()
    return found


EXAMPLES = 5
READS = ["read", "readStream"]


@pytest.fixture(scope="module")
def partitioned(module_lab: Callable[[], Lab]) -> tuple[Lab, Update, list[Example]]:
    """One update with a table of each kind for every example; all read the same source."""
    lab, examples = module_lab(), generate_examples(EXAMPLES)
    rows = [(n, x) for n, (values, _) in enumerate(examples) for x in values]
    lab.spark.createDataFrame(rows, "example int, x int").write.saveAsTable(f"main.{lab.source}.raw")
    for n, (_, rules) in enumerate(examples):
        for read in READS:
            query = f"table('SRC.raw').where('example = {n}').select('x')"
            lab.file(f"{read}{n}.py", declaration(rules, read, f"{read.lower()}{n}", query))
    return lab, lab.done(), examples


@pytest.mark.parametrize("example", range(EXAMPLES))
@pytest.mark.parametrize("read", READS)
def test_the_partition_law(partitioned: tuple[Lab, Update, list[Example]], read: str, example: int) -> None:
    """INV-11: passed + failed = input for every rule, written + dropped = input; NULL violates."""
    lab, update, examples = partitioned
    values, rules = examples[example]
    table = f"{read.lower()}{example}"
    done = result(update, table)
    drops = [HOLDS[rule] for rule, action in rules if action == "drop"]
    kept = [x for x in values if all(holds(x) for holds in drops)]
    assert lab.rows(table) == sorted(((x,) for x in kept), key=repr)
    assert (done.rows_written, done.dropped) == (len(kept), len(values) - len(kept))
    assert [(rule.name, rule.passed, rule.failed) for rule in done.expectations] == [
        (f"r{i}", passed, len(values) - passed)
        for i, (rule, _) in enumerate(rules)
        for passed in [sum(HOLDS[rule](x) for x in values)]
    ]


@pytest.mark.parametrize("read", sampled(["read", "readStream"], "readStream"))
def test_a_failing_rule_leaves_the_target_unchanged_and_shows_the_record(lab: Lab, read: str) -> None:
    lab.seed("raw", "SELECT 1 x, 'fine' AS s")
    lab.file("a.py", declaration([("x > 0", "fail"), ("x IS NOT NULL", "fail"), ("x > 1", "drop")], read))
    lab.done()
    version, rows = lab.version("t"), lab.rows("t")
    lab.seed("raw", "SELECT * FROM VALUES (5, 'good'), (NULL, 'it''s \"bad\"') AS v(x, s)")
    update = lab.run()
    error = str(result(update, "t").error)
    assert update.state == "FAILED" and result(update, "t").rows_written is None
    assert error.startswith(
        "[EXPECTATION_VIOLATION.VERBOSITY_OUTPUT] Flow 't' failed to meet the expectation. "
    )
    assert "Violated expectations: 'r0, r1'. Output record: '" in error
    assert re.search(r"SQLSTATE: 22000\n    \S*a\.py:\d+$", error), error
    record = error.split("Output record: '")[1].split("'. SQLSTATE", maxsplit=1)[0]
    assert json.loads(record) == {"x": None, "s": 'it\'s "bad"'}
    assert (lab.version("t"), lab.rows("t")) == (version, rows)
    assert lab.log("event_type = 'flow_progress' AND level = 'ERROR'")


def test_rules_see_rows_of_the_query_alone(lab: Lab) -> None:
    """Filters, semi joins and distincts come first: a rule is not evaluated on what the query removes."""
    lab.seed("raw", "SELECT id x FROM range(-5, 5)")
    lab.seed("good", "SELECT id x FROM range(0, 3)")
    lab.file("a.py", """
        import dlt
        @dlt.table
        @dlt.expect_or_fail("positive", "x >= 0")
        def t(): return spark.sql("SELECT x FROM SRC.raw WHERE x IN (SELECT x FROM SRC.good)")
        @dlt.table
        @dlt.expect_or_fail("positive", "x >= 0")
        def u(): return spark.readStream.table("SRC.raw").where("x >= 0")
    """)  # fmt: skip
    update = lab.done()
    assert [(rule.passed, rule.failed) for each in update.datasets for rule in each.expectations] == [
        (3, 0),
        (5, 0),
    ]


COLUMN_RULES = """
import dlt
from pyspark.sql import functions as F
@dlt.table
@dlt.expect("kept", F.col("x") > 1)
@dlt.expect_or_drop("dropped", F.col("x").isNotNull())
@dlt.expect_or_fail("possible", inv=F.expr("coalesce(x, 0) < 9"))
def one(): return spark.table("SRC.raw")
@dlt.table
@dlt.expect_all({"kept": F.col("x") > 1, "text": "x > 1"})
@dlt.expect_all_or_drop({"dropped": F.col("x").isNotNull()})
@dlt.expect_all_or_fail({"possible": F.coalesce("x", F.lit(0)) < 9})
def several(): return spark.table("SRC.raw")
dlt.create_streaming_table(
    "target",
    expect_all={"kept": F.col("x") > 1},
    expect_all_or_drop={"dropped": F.col("x").isNotNull()},
    expect_all_or_fail={"possible": F.coalesce("x", F.lit(0)) < 9},
)
@dlt.append_flow(target="target")
def flow(): return spark.readStream.table("SRC.raw")
"""


def test_a_constraint_is_sql_text_or_a_column(lab: Lab) -> None:
    lab.seed("raw", "SELECT * FROM VALUES (0), (1), (2), (CAST(NULL AS INT)) AS v(x)")
    lab.file("a.py", COLUMN_RULES)
    update = lab.done()
    for table in ("one", "several", "target"):
        done = result(update, table)
        counts = {rule.name: (rule.passed, rule.failed) for rule in done.expectations}
        assert counts == {"kept": (1, 3), "dropped": (3, 1), "possible": (4, 0)} | (
            {"text": (1, 3)} if table == "several" else {}
        )
        assert (done.rows_written, done.dropped) == (3, 1)


def test_a_changed_column_is_a_changed_rule_and_a_wrong_one_an_error_of_its_name(lab: Lab) -> None:
    text = """
        import dlt
        from pyspark.sql import functions as F
        @dlt.table
        @dlt.expect_or_drop("rule", F.col("{}") > {})
        def t(): return spark.table("SRC.raw")
    """
    lab.seed("raw", "SELECT id x FROM range(4)")
    for bound in (0, 2):
        lab.file("a.py", text.format("x", bound))
        assert result(lab.done(), "t").rows_written == 3 - bound
    lab.file("a.py", text.format("y", 0))
    error = str(result(lab.run(), "t").error)
    where = r"\[UNRESOLVED_COLUMN\.WITH_SUGGESTION\] \S+a\.(py|sql):\d+: the expectation 'rule' on `"
    assert re.match(where, error), error


SHAPES = {
    "sorted": "spark.table('SRC.raw').orderBy('x')",
    "ranged": "spark.table('SRC.raw').repartitionByRange(4, 'x')",
    "limited": "spark.table('SRC.raw').orderBy('x').limit(4)",
    "empty": "spark.table('SRC.raw').where('x < 0')",
    "empty join": "spark.sql('SELECT x FROM SRC.raw JOIN (SELECT DISTINCT -1 AS x FROM SRC.raw) USING (x)')",
    "aggregated": "spark.table('SRC.raw').groupBy('x').count().select('x')",
    "self union": "spark.table('SRC.raw').union(spark.table('SRC.raw'))",
    "window": "spark.sql('SELECT x FROM SRC.raw QUALIFY row_number() OVER (ORDER BY x) <= 5')",
}


@pytest.mark.parametrize(
    "options",
    [
        "",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("partition_cols=['x']", "cluster_by=['x']")
        ),
    ],
)
def test_counts_of_views_are_exact_whatever_the_plan(lab: Lab, options: str) -> None:
    """Spark doubles metrics under a sort and omits some of empty results; reported counts are exact."""
    lab.seed("raw", "SELECT id x FROM range(10)")
    text = ["import dlt"]
    for i, query in enumerate(SHAPES.values()):
        text += [
            f"@dlt.table({options})",
            "@dlt.expect('a', 'x % 2 = 0')",
            "@dlt.expect_or_drop('b', 'x < 3')",
        ]
        text += [f"def t{i}(): return {query}.selectExpr('x', '-x AS y')"]
    lab.file("a.py", "\n".join(text))
    update = lab.done()
    inputs = {
        "sorted": range(10), "ranged": range(10), "limited": range(4), "empty": [], "empty join": [],
        "aggregated": range(10), "self union": [*range(10), *range(10)], "window": range(5),
    }  # fmt: skip
    for i, shape in enumerate(SHAPES):
        rows, done = list(inputs[shape]), result(update, f"t{i}")
        found: dict[str, Any] = {rule.name: (rule.passed, rule.failed) for rule in done.expectations}
        even, small = sum(x % 2 == 0 for x in rows), sum(x < 3 for x in rows)
        assert found == {"a": (even, len(rows) - even), "b": (small, len(rows) - small)}, shape
        assert (done.rows_written, done.dropped) == (small, len(rows) - small), shape


@pytest.mark.slow
def test_a_views_expectations_are_counted_for_each_consumer(lab: Lab) -> None:
    """Rows that a view drops are absent downstream."""
    lab.seed("raw", "SELECT id x FROM range(10)")
    lab.file("a.py", """
        import dlt
        @dlt.view
        @dlt.expect_or_drop("small", "x < 4")
        def v(): return spark.readStream.table("SRC.raw")
        @dlt.view
        @dlt.expect("even", "x % 2 = 0")
        def b(): return spark.read.table("SRC.raw")
        @dlt.table
        def one(): return dlt.read_stream("v")
        @dlt.table
        @dlt.expect("positive", "x > 0")
        def two(): return spark.sql("SELECT * FROM STREAM(v)")
        @dlt.table
        def three(): return spark.table("b").orderBy("x")
    """)  # fmt: skip
    update = lab.done()
    assert [(rule.passed, rule.failed) for rule in result(update, "v").expectations] == [(8, 12)]
    assert [(rule.passed, rule.failed) for rule in result(update, "b").expectations] == [(5, 5)]
    assert [(rule.passed, rule.failed) for rule in result(update, "two").expectations] == [(3, 1)]
    assert (len(lab.rows("one")), len(lab.rows("two")), result(update, "v").dropped) == (4, 4, 12)
    quality = [
        (event["origin"]["flow_name"].split(".")[-1], rule["dataset"], rule["passed_records"])
        for event in lab.log("event_type = 'flow_progress'")
        for rule in json.loads(event["details"])["flow_progress"]
        .get("data_quality", {})
        .get("expectations", ())
    ]
    assert sorted(quality) == [("one", "v", 4), ("three", "b", 5), ("two", "two", 3), ("two", "v", 4)]


def test_a_view_read_for_its_columns_alone_is_not_counted(lab: Lab) -> None:
    """The counts are those of the one consumer of rows, whatever the kind of the other flows."""
    lab.seed("raw", "SELECT id x FROM range(10)")
    lab.file("a.py", """
        import dlt
        @dlt.view
        @dlt.expect_or_drop("small", "x < 4")
        def s(): return spark.readStream.table("SRC.raw")
        @dlt.view
        @dlt.expect_or_drop("small", "x < 4")
        def b(): return spark.read.table("SRC.raw")

        def raw(names, stream=True):
            reader = spark.readStream if stream else spark.read
            return reader.table("SRC.raw").select(*names)

        @dlt.table
        def rows(): return spark.readStream.table("s")
        @dlt.table
        def appended(): return raw(spark.readStream.table("s").columns)
        @dlt.table
        def by_sql(): return raw(field.name for field in spark.sql("SELECT * FROM STREAM(s)").schema)
        @dlt.table
        def replaced(): return raw(spark.read.table("b").columns, stream=False)
        @dlt.view
        def above(): return raw(dlt.read("b").schema.names, stream=False)
        @dlt.table
        def of_view(): return spark.sql("SELECT * FROM above")
        dlt.create_streaming_table("once")
        @dlt.append_flow(target="once", once=True)
        def backfill(): return raw(spark.table("b").columns, stream=False)
        @dlt.view
        def feed(): return raw(dlt.read_stream("s").columns)
        dlt.create_streaming_table("changed")
        dlt.apply_changes(target="changed", source="feed", keys=["x"], sequence_by="x")
    """)  # fmt: skip
    update = lab.done()
    assert [(rule.passed, rule.failed) for rule in result(update, "s").expectations] == [(4, 6)]
    assert [(rule.passed, rule.failed) for rule in result(update, "b").expectations] in ([], [(0, 0)])
    for name in ("appended", "by_sql", "replaced", "of_view", "once", "changed"):
        assert len(lab.rows(name)) == 10, name


def test_the_quarantine_pattern_with_its_inverse_rule(lab: Lab) -> None:
    """Rows whose rule is NULL are in neither table, by three-valued logic."""
    lab.seed("raw", "SELECT * FROM VALUES (1), (-1), (NULL) AS v(x)")
    lab.file("a.py", """
        import dlt
        rules = {"positive": "x > 0"}
        @dlt.table
        @dlt.expect_all_or_drop(rules)
        def valid(): return spark.readStream.table("SRC.raw")
        @dlt.table
        @dlt.expect_all_or_drop({"invalid_record": "NOT({0})".format(" AND ".join(rules.values()))})
        def invalid(): return spark.readStream.table("SRC.raw")
    """)  # fmt: skip
    update = lab.done()
    assert (lab.rows("valid"), lab.rows("invalid")) == ([(1,)], [(-1,)])
    assert [each.dropped for each in update.datasets] == [2, 2]


RENAMED = """
import dlt
from pyspark.sql import functions as F
@dlt.table
@dlt.expect("renamed", "id IS NOT NULL")
@dlt.expect_or_drop("left_out", "x > 0")
@dlt.expect_or_fail("kept", F.col("name") < "d")
def t(): return spark.READ.table("SRC.raw").withColumnRenamed("id", "key").select("key", "name")
@dlt.view
@dlt.expect_or_drop("left_out", "x > 1")
def v(): return spark.READ.table("SRC.raw").select("id")
@dlt.table
def of_view(): return spark.READ.table("v")
"""


@pytest.mark.parametrize("read", sampled(READS, "readStream"))
def test_a_constraint_names_columns_that_the_last_projection_leaves_out(lab: Lab, read: str) -> None:
    """As a filter does in Spark; the dataset has no more columns for it."""
    lab.seed("raw", "SELECT * FROM VALUES (1, 'a', 1), (NULL, 'b', 2), (3, 'c', -1) AS v(id, name, x)")
    lab.file("a.py", RENAMED.replace("READ", read))
    update = lab.done()
    assert lab.rows("t") == sorted([(1, "a"), (None, "b")], key=repr) and lab.rows("of_view") == [(None,)]
    done = result(update, "t")
    assert [(rule.name, rule.passed, rule.failed) for rule in done.expectations] == [
        ("renamed", 2, 1),
        ("left_out", 2, 1),
        ("kept", 3, 0),
    ]
    lab.seed("raw", "SELECT * FROM VALUES (10, 'd', 1) AS v(id, name, x)")
    error = str(result(lab.run(), "t").error)
    assert """'kept'. Output record: '{"key":10,"name":"d"}'""" in error
    assert lab.rows("t") == sorted([(1, "a"), (None, "b")], key=repr)
