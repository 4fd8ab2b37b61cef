"""Declarations in Python files; no Spark session is needed (SDP-1)."""

from __future__ import annotations

import logging

import pytest

from lakeward.pipelines.analysis.validation import validate_declaration
from tests.pipelines.conftest import Declare, graph

IMPORTS = ["from pyspark import pipelines as dp", "import dlt as dp", "import dlt; dp = dlt"]


@pytest.mark.parametrize("imports", IMPORTS)
def test_bare_and_called_decorators_are_the_same_r2(declare: Declare, imports: str) -> None:
    for form in ("@dp.table", "@dp.table()", "@dp.materialized_view", "@dp.materialized_view()"):
        found = graph(declare(f"{imports}\n{form}\ndef t(): pass\n"))
        assert [dataset.key for dataset in found] == [("main", "default", "t")]


def test_star_import_brings_everything_along(declare: Declare) -> None:
    text = "from dlt import *\n@table\n@expect('a', 'x > 0')\ndef t(): pass\n@view\ndef v(): pass\n"
    assert graph(declare(text)).names() == ["t", "v"]


@pytest.mark.parametrize("first", ["", "# Databricks notebook source\n"])
def test_the_builtins_of_a_source_are_a_module(declare: Declare, first: str) -> None:
    loop = "for n in range(__builtins__.sum([1, 1])):\n    @dlt.table(name=f't{n}')\n    def t(): pass\n"
    text = f"{first}import dlt\nsum = None\n{loop}"
    assert graph(declare(text)).names() == ["t0", "t1"]


@pytest.mark.parametrize("above", [True, False])
def test_expectations_stand_above_or_below_r3(declare: Declare, above: bool) -> None:
    lines = ["@dp.expect('one', 'a > 0')", "@dp.expect_all_or_drop({'two': 'b > 0', 'three': 'c > 0'})"]
    ordered = [*lines, "@dp.table"] if above else ["@dp.table", *lines]
    found = graph(declare("\n".join(["import dlt as dp", *ordered, "def t(): pass"])))
    rules = [(rule.name, rule.constraint, rule.action) for rule in found.datasets[0].expectations]
    assert rules == [("one", "a > 0", "warn"), ("two", "b > 0", "drop"), ("three", "c > 0", "drop")]


def test_the_six_expectations_have_their_actions(declare: Declare) -> None:
    text = """
import dlt
@dlt.expect("a", "1=1")
@dlt.expect_or_drop("b", "1=1")
@dlt.expect_or_fail("c", "1=1")
@dlt.expect_all({"d": "1=1"})
@dlt.expect_all_or_drop({"e": "1=1"})
@dlt.expect_all_or_fail({"f": "1=1"})
@dlt.table
def t(): pass
"""
    rules = graph(declare(text)).datasets[0].expectations
    assert [(rule.name, rule.action) for rule in rules] == [
        ("a", "warn"), ("b", "drop"), ("c", "fail"), ("d", "warn"), ("e", "drop"), ("f", "fail")
    ]  # fmt: skip


ONE_RULE = ["'a', 'x > 0'", "'a', constraint='x > 0'", "'a', inv='x > 0'"] + [
    f"{name}='a', {constraint}='x > 0'"
    for name in ("description", "name")
    for constraint in ("constraint", "inv")
]


@pytest.mark.parametrize("given", ONE_RULE)
@pytest.mark.parametrize("decorator", ["expect", "expect_or_drop", "expect_or_fail"])
def test_an_expectation_has_either_spelling_of_its_parameters(
    declare: Declare, decorator: str, given: str
) -> None:
    (rule,) = (
        graph(declare(f"import dlt\n@dlt.{decorator}({given})\n@dlt.table\ndef t(): pass\n"))
        .datasets[0]
        .expectations
    )
    assert (rule.name, rule.constraint) == ("a", "x > 0")


WRONG_RULES = {
    "'a'": "missing a required argument: 'constraint'",
    "inv='x > 0'": "missing a required argument: 'description'",
    "'a', 'x > 0', name='b'": "'description' and 'name' are spellings of one argument",
    "'a', 'x > 0', inv='x > 1'": "'constraint' and 'inv' are spellings of one argument",
    "'a', 1": "the constraint of 'a' is SQL text or a Column, not 1",
}


@pytest.mark.parametrize("given", WRONG_RULES)
def test_a_wrong_expectation_is_an_error_of_its_call(declare: Declare, given: str) -> None:
    (error,) = declare(f"import dlt\n@dlt.expect({given})\n@dlt.table\ndef t(): pass\n").errors
    assert "TypeError" in str(error) and WRONG_RULES[given] in str(error)


def test_decorators_applied_by_hand_keep_each_tables_own_rules(declare: Declare) -> None:
    text = """
import dlt
def f(): return 1
dlt.expect_all({"x": "a"})(dlt.table(f, name="one"))
dlt.expect_all({"y": "b"})(dlt.table(f, name="two"))
dlt.append_flow(target="three", name="g")(f)
dlt.create_streaming_table("three", expect_all=None, expect_all_or_fail={"z": "c"}, cluster_by=None)
"""
    found = graph(declare(text))
    assert {dataset.name: [rule.name for rule in dataset.expectations] for dataset in found} == {
        "one": ["x"], "two": ["y"], "three": ["z"]
    }  # fmt: skip


def test_a_decorated_function_stays_callable(declare: Declare) -> None:
    text = """
import dlt
@dlt.expect("a", "b")
@dlt.table(name="other")
def t(): return 42
assert t() == 42 and t.__name__ == "t"
"""
    assert graph(declare(text)).names() == ["other"]


def test_defaults_bind_loop_variables_r4(declare: Declare) -> None:
    text = """
import dlt
for n in ["a", "b"]:
    @dlt.table(name=f"t_{n}")
    def f(n=n): return n
"""
    assert [dataset.flows[0].function() for dataset in graph(declare(text))] == ["a", "b"]


def test_a_function_that_needs_an_argument_is_refused(declare: Declare) -> None:
    (error,) = declare("import dlt\n@dlt.table\ndef t(x): pass\n").errors
    assert "TypeError" in str(error) and "`x`" in str(error)


def test_an_unknown_parameter_is_a_type_error_that_names_it(declare: Declare) -> None:
    (error,) = declare("import dlt\n@dlt.table(nmae='t')\ndef t(): pass\n").errors
    assert "TypeError" in str(error) and "nmae" in str(error) and "file0.py:2" in str(error)


EVERYTHING = {
    "table": "name='t', comment='c', spark_conf={'a': 'b'}, table_properties={'x': 'y'}, path=None, "
    "partition_cols=['p'], cluster_by_auto=True, cluster_by=None, schema='p int', "
    "row_filter='f', private=True",
    "materialized_view": "name='t', comment='c', refresh_policy='auto', private=False, temporary=None",
    "temporary_view": "name='t', comment='c', spark_conf=None",
    "view": "name='t', comment='c'",
    "create_view": "name='t', comment='c'",
}


@pytest.mark.parametrize("decorator", EVERYTHING)
def test_every_documented_parameter_is_accepted(declare: Declare, decorator: str) -> None:
    text = f"import dlt\n@dlt.{decorator}({EVERYTHING[decorator]})\ndef f(): pass\n"
    # A pipeline of temporary views alone is an error.
    text += "@dlt.table\ndef other(): pass\n"
    assert graph(declare(text)).names() == ["t", "other"]


def test_a_parameter_without_meaning_here_warns_once(
    declare: Declare, caplog: pytest.LogCaptureFixture
) -> None:
    text = "import dlt\n" + "".join(
        f"@dlt.table(name='t{i}', cluster_by_auto=True)\ndef f{i}(): pass\n" for i in range(3)
    )
    with caplog.at_level(logging.WARNING, logger="lakeward.pipelines"):
        graph(declare(text))
    assert len([record for record in caplog.records if "cluster_by_auto" in record.getMessage()]) == 1


@pytest.mark.parametrize("name", ["create_target_table", "create_streaming_live_table", "create_table"])
def test_deprecated_names_declare_streaming_tables(declare: Declare, name: str) -> None:
    text = f"import dlt\ndlt.{name}(name='t')\n@dlt.append_flow(target='t')\ndef f(): pass\n"
    (dataset,) = graph(declare(text))
    assert (dataset.name, dataset.dataset_type, dataset.flows[0].name) == ("t", "streaming_table", "f")


def test_create_table_still_works_as_a_decorator(declare: Declare) -> None:
    found = graph(declare("import dlt\n@dlt.create_table(comment='c')\ndef t(): pass\n"))
    assert [(dataset.name, dataset.dataset_type) for dataset in found] == [("t", "table")]


def test_names_have_up_to_three_parts_and_no_case_r8(declare: Declare) -> None:
    text = "import dlt\n" + "".join(
        f"@dlt.table(name='{name}')\ndef f{i}(): pass\n" for i, name in enumerate(["A", "s.B", "Cat.s.c"])
    )
    found = graph(declare(text))
    assert [dataset.key for dataset in found] == [
        ("main", "default", "a"), ("main", "s", "b"), ("cat", "s", "c")
    ]  # fmt: skip
    for name in ("a", "LIVE.A", "live.a", "DEFAULT.a", "main.default.`A`"):
        assert found.find(name) is found.datasets[0]
    assert found.find("b") is None


def test_a_view_has_a_one_part_name(declare: Declare) -> None:
    (error,) = declare("import dlt\n@dlt.view(name='s.v')\ndef v(): pass\n").errors
    assert error.condition == "TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS"
    (error,) = declare("import dlt\n@dlt.table(name='a.b.c.d')\ndef t(): pass\n").errors
    assert error.condition == "IDENTIFIER_TOO_MANY_NAME_PARTS"


@pytest.mark.parametrize(
    ("text", "is_empty"),
    [
        ("", True),
        ("@dlt.view\ndef v(): pass\n", True),
        ("@dlt.view\ndef v(): pass\n@dlt.table\ndef t(): pass\n", False),
        ("dlt.create_sink('k', 'delta', {'path': '/x'})\n", False),
    ],
)
def test_a_pipeline_has_a_dataset_that_is_no_temporary_view(
    declare: Declare, text: str, is_empty: bool
) -> None:
    found = [error.condition for error in declare("import dlt\n" + text).errors]
    assert found == (["RUN_EMPTY_PIPELINE"] if is_empty else [])


@pytest.mark.parametrize("second", ["@dlt.table(name='T')", "@dlt.view(name='t')"])
def test_a_name_used_twice_is_an_error_that_shows_both_places_r9(declare: Declare, second: str) -> None:
    (error,) = declare(
        "import dlt\n@dlt.table\ndef t(): pass\n", f"import dlt\n{second}\ndef u(): pass\n"
    ).errors
    assert error.condition == "PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT"
    assert "file0.py:2" in str(error) and "file1.py:2" in str(error)


@pytest.mark.parametrize("table", ["main.default.t", "default.T"])
@pytest.mark.parametrize("order", [1, -1])
def test_a_table_with_its_schema_and_a_view_are_two_names_r9(
    declare: Declare, table: str, order: int
) -> None:
    files = [
        f"import dlt\n@dlt.table(name='{table}')\ndef a(): pass\n",
        "import dlt\n@dlt.view(name='t')\ndef b(): pass\n",
    ]
    graph = declare(*files[::order]).graph
    assert sorted(graph.names()) == ["main.default.t", "t"]
    view, other = graph.find("t"), graph.find("main.default.t")
    assert view is not None and view.dataset_type == "view"
    assert other is not None and other.dataset_type != "view" and graph.find("default.t") is other


def test_expectations_without_a_dataset_are_an_error(declare: Declare) -> None:
    (error,) = declare("import dlt\n@dlt.expect('a', 'b')\ndef t(): pass\n@dlt.table\ndef u(): pass\n").errors
    assert error.condition == "EXPECTATION_WITHOUT_DATASET" and "'a'" in str(error)


def test_two_expectations_of_one_name_are_an_error(declare: Declare) -> None:
    text = "import dlt\n@dlt.expect('a', 'b')\n@dlt.expect_or_drop('a', 'c')\n@dlt.table\ndef t(): pass\n"
    (error,) = declare(text).errors
    assert error.condition == "DUPLICATE_EXPECTATION"


@pytest.mark.parametrize("kind", ["STREAMING TABLE", "MATERIALIZED VIEW"])
def test_a_constraint_that_is_named_twice_is_an_error_of_its_line(declare: Declare, kind: str) -> None:
    rules = "CONSTRAINT a EXPECT (b), CONSTRAINT a EXPECT (c)"
    (error,) = declare(f"CREATE VIEW v AS SELECT 1;\nCREATE {kind} t ({rules}) AS SELECT 1").errors
    assert error.condition == "DUPLICATE_EXPECTATION" and "file0.sql:2: `t`" in str(error)


def test_a_stream_is_read_by_either_spelling(declare: Declare) -> None:
    graph(declare("import dlt\nassert dlt.readStream is dlt.read_stream\n@dlt.table\ndef t(): pass\n"))


@pytest.mark.parametrize(
    ("text", "using", "where"),
    [
        ("@dlt.table(replace_using=['k'], sequence_by='s')\ndef t(): pass", ("k",), None),
        ("@dlt.table(replace_where='d > 1')\ndef t(): pass", (), "d > 1"),
        ("CREATE STREAMING TABLE t FLOW REPLACE WHERE d > 1 BY NAME SELECT 1", (), "d > 1"),
        ("CREATE STREAMING TABLE t; INSERT INTO t BY NAME REPLACE WHERE d > 1 SELECT 1", (), "d > 1"),
    ],
)
def test_a_flow_says_what_it_replaces(
    declare: Declare, text: str, using: tuple[str, ...], where: str | None
) -> None:
    prefix = "" if text.startswith("CREATE") else "import dlt\n"
    (flow,) = next(iter(graph(declare(prefix + text)))).flows
    assert flow.replaces is not None
    assert (flow.replaces.using, flow.replaces.where) == (using, where)


@pytest.mark.parametrize(
    ("text", "private", "row_filter"),
    [
        ("@dlt.table(private=True, row_filter='ROW FILTER s.f ON (a)')\ndef t(): pass", True, "s.f ON (a)"),
        ("@dlt.materialized_view(temporary=True)\ndef t(): pass", True, None),
        (
            "@dlt.table(private=False, row_filter=' with row  filter f ON ()')\ndef t(): pass",
            False,
            "f ON ()",
        ),
        ("CREATE PRIVATE MATERIALIZED VIEW t WITH ROW FILTER s.f ON (a) AS SELECT 1", True, "s.f ON (a)"),
        ("CREATE TEMPORARY STREAMING TABLE t; INSERT INTO t SELECT 1", True, None),
        ("CREATE STREAMING TABLE t ROW FILTER s.f ON (a); INSERT INTO t SELECT 1", False, "s.f ON (a)"),
    ],
)
def test_a_table_may_be_private_and_filtered(
    declare: Declare, text: str, private: bool, row_filter: str | None
) -> None:
    prefix = "" if text.startswith("CREATE") else "import dlt\n"
    options = next(iter(graph(declare(prefix + text)))).options
    assert (options.private, options.row_filter) == (private, row_filter)


@pytest.mark.parametrize("given", ["replace_using=['a']", "replace_where='a', sequence_by='b'"])
def test_what_is_replaced_is_said_in_one_way(declare: Declare, given: str) -> None:
    (error, *_) = declare(f"import dlt\n@dlt.table({given})\ndef t(): pass\n").errors
    assert error.condition == "INVALID_REPLACE_FLOW"


def test_a_flow_may_have_the_name_of_the_view_that_it_reads_and_of_no_other_flow(declare: Declare) -> None:
    text = "import dlt\n@dlt.view\ndef feed(): pass\ndlt.create_streaming_table('t')\n"
    flow = "dlt.create_auto_cdc_flow(name='Feed', target='t', source='feed', keys=['id'], sequence_by='at')\n"
    view, table = graph(declare(text + flow))
    assert (view.flows[0].name, table.flows[0].name) == ("feed", "Feed")
    (error,) = declare(text + flow + flow).errors
    assert "the flow `Feed` is declared twice" in str(error)


def test_expectations_on_a_flow_are_refused(declare: Declare) -> None:
    text = "import dlt\ndlt.create_streaming_table('t')\n@dlt.append_flow(target='t')\n"
    text += "@dlt.expect('a', 'b')\ndef f(): pass\n"
    assert "EXPECTATION_ON_FLOW" in [error.condition for error in declare(text).errors]


def test_a_flow_into_nothing_names_the_near_miss(declare: Declare) -> None:
    text = (
        "import dlt\ndlt.create_streaming_table('orders')\n@dlt.append_flow(target='order')\ndef f(): pass\n"
    )
    (error,) = declare(text).errors
    assert error.condition == "FLOW_TARGET_NOT_FOUND" and "`orders`" in str(error)
    assert str(error).endswith('Else declare it: dp.create_streaming_table("order").')


CDC = """
from pyspark import pipelines as dp
dp.create_streaming_table("t")
@dp.temporary_view
def v(): pass
"""


@pytest.mark.parametrize(
    ("calls", "condition"),
    [
        ([{"sequence_by": None}], "AUTOCDC_MISSING_SEQUENCE_BY"),
        ([{"sequence_by": " "}], "AUTOCDC_MISSING_SEQUENCE_BY"),
        ([{"source": None}], "AUTOCDC_MISSING_SOURCE"),
        ([{"source": ""}], "AUTOCDC_MISSING_SOURCE"),
        ([{"keys": []}], "AUTOCDC_EMPTY_KEYS"),
        ([{"target": "v"}], "INVALID_FLOW_QUERY_TYPE.AUTOCDC_RELATION_FOR_TEMPORARY_VIEW"),
        ([{"target": "main.default.v"}], "INVALID_FLOW_QUERY_TYPE.AUTOCDC_RELATION_FOR_TEMPORARY_VIEW"),
        ([{}, {"name": "two", "keys": ["id", "k"]}], "AUTOCDC_INVALID_STATE.KEY_SCHEMA_DRIFT"),
        ([{"keys": ["k", "id"]}, {"name": "two", "keys": ["ID", "`k`"]}], None),
    ],
)
def test_wrong_changes_have_the_conditions_of_the_platform(
    declare: Declare, calls: list[dict[str, object]], condition: str | None
) -> None:
    defaults = {"target": "t", "source": "s", "keys": ["id"], "sequence_by": "seq"}
    lines = [f"dp.create_auto_cdc_flow(**{defaults | call})" for call in calls]
    collected = declare(CDC + "\n".join(lines))
    errors = collected.errors or [
        error for dataset in collected.graph for error in validate_declaration(dataset) if dataset.name == "t"
    ]
    assert [error.condition for error in errors] == ([] if condition is None else [condition])
