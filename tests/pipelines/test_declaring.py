"""What files may declare, and how (spec pipelines.md §1): no Spark session is needed to find out."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.errors import PipelineError
from lakeward.pipelines import modules
from lakeward.pipelines.collect import Collected, collect
from lakeward.pipelines.graph import Graph
from lakeward.pipelines.loading import user_modules
from lakeward.pipelines.names import Home

HOME = Home("main", "default")
Declare = Callable[..., Collected]


@pytest.fixture
def declare(tmp_path: Path) -> Declare:
    def read(*texts: str) -> Collected:
        files = []
        for i, text in enumerate(texts):
            suffix = "sql" if text.startswith("CREATE") else "py"
            files.append(tmp_path / f"file{i}.{suffix}")
            files[-1].write_text(text)
        with modules.serving(), user_modules([tmp_path]):
            spark: Any = SimpleNamespace(named="the session")
            return collect(spark, files, HOME, folders=(tmp_path,))

    return read


@pytest.fixture
def without_the_plugin() -> Iterator[None]:
    """`pyspark.pipelines` as it is where no tests run."""
    modules.stop_serving_tests()
    yield
    modules.serve_tests()


def graph(collected: Collected) -> Graph:
    assert not collected.errors, [str(error) for error in collected.errors]
    return collected.graph


IMPORTS = ["from pyspark import pipelines as dp", "import dlt as dp", "import dlt; dp = dlt"]


@pytest.mark.parametrize("imports", IMPORTS)
def test_bare_and_called_decorators_are_the_same_r2(declare: Declare, imports: str) -> None:
    for form in ("@dp.table", "@dp.table()", "@dp.materialized_view", "@dp.materialized_view()"):
        found = graph(declare(f"{imports}\n{form}\ndef t(): pass\n"))
        assert [dataset.key for dataset in found] == [("main", "default", "t")]


def test_star_import_brings_everything_along(declare: Declare) -> None:
    text = "from dlt import *\n@table\n@expect('a', 'x > 0')\ndef t(): pass\n@view\ndef v(): pass\n"
    assert graph(declare(text)).names() == ["t", "v"]


@pytest.mark.parametrize("above", [True, False])
def test_expectations_stand_above_or_below_r3(declare: Declare, above: bool) -> None:
    lines = ["@dp.expect('one', 'a > 0')", "@dp.expect_all_or_drop({'two': 'b > 0', 'three': 'c > 0'})"]
    ordered = [*lines, "@dp.table"] if above else ["@dp.table", *lines]
    found = graph(declare("\n".join(["import dlt as dp", *ordered, "def t(): pass"])))
    rules = [(rule.name, rule.constraint, rule.action) for rule in found.datasets[0].rules]
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
    rules = graph(declare(text)).datasets[0].rules
    assert [(rule.name, rule.action) for rule in rules] == [
        ("a", "warn"), ("b", "drop"), ("c", "fail"), ("d", "warn"), ("e", "drop"), ("f", "fail")
    ]  # fmt: skip


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
    assert {dataset.name: [rule.name for rule in dataset.rules] for dataset in found} == {
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
    assert graph(declare(text)).names() == ["t"]


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
    assert (dataset.name, dataset.declared, dataset.flows[0].name) == ("t", "streaming_table", "f")


def test_create_table_still_works_as_a_decorator(declare: Declare) -> None:
    found = graph(declare("import dlt\n@dlt.create_table(comment='c')\ndef t(): pass\n"))
    assert [(dataset.name, dataset.declared) for dataset in found] == [("t", "table")]


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
    assert error.condition == "INVALID_DATASET_NAME"


@pytest.mark.parametrize("second", ["@dlt.table(name='T')", "@dlt.view(name='t')"])
def test_a_name_used_twice_is_an_error_that_shows_both_places_r9(declare: Declare, second: str) -> None:
    (error,) = declare(
        "import dlt\n@dlt.table\ndef t(): pass\n", f"import dlt\n{second}\ndef u(): pass\n"
    ).errors
    assert error.condition == "PIPELINE_DUPLICATE_IDENTIFIERS"
    assert "file0.py:2" in str(error) and "file1.py:2" in str(error)


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


def test_a_source_runs_as_main_and_is_imported_by_its_name(declare: Declare) -> None:
    first = "import dlt\nif __name__ == '__main__':\n    @dlt.table\n    def a(): return __name__\n"
    second = """from __future__ import annotations
import dlt, file0, typing
class A: pass
class B: a: A
assert typing.get_type_hints(B) == {'a': A}
@dlt.table
def b(): return file0.a()
"""
    assert [dataset.name for dataset in graph(declare(first, second))] == ["a", "b"]


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


@pytest.mark.parametrize("given", ["replace_using=['a']", "replace_where='a', sequence_by='b'"])
def test_what_is_replaced_is_said_in_one_way(declare: Declare, given: str) -> None:
    (error, *_) = declare(f"import dlt\n@dlt.table({given})\ndef t(): pass\n").errors
    assert error.condition == "INVALID_REPLACE_FLOW"


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


def test_a_syntax_error_names_file_and_line_and_shows_it(declare: Declare) -> None:
    (error,) = declare("import dlt\ndef t(:\n    pass\n").errors
    assert "file0.py:2" in str(error) and "def t(:" in str(error)


def test_a_file_that_raises_names_its_own_line(declare: Declare) -> None:
    (error,) = declare("import dlt\n\ndef helper():\n    return {}['missing']\n\nhelper()\n").errors
    assert "file0.py:4: KeyError: 'missing'" in str(error) and "return {}['missing']" in str(error)
    assert "lakeward" not in str(error).replace("lakeward pipeline", "")


def test_all_files_are_read_and_all_their_errors_reported(declare: Declare) -> None:
    found = declare("1/0\n", "import dlt\n@dlt.table\ndef t(): pass\n", "nope\n")
    assert len(found.errors) == 2 and found.graph.names() == ["t"]


def test_siblings_can_be_imported_and_are_forgotten_afterwards(declare: Declare, tmp_path: Path) -> None:
    import sys

    (tmp_path / "rules_of_test.py").write_text("RULES = {'a': 'b'}\n")
    graph(
        declare(
            "import dlt\nfrom rules_of_test import RULES\n@dlt.expect_all(RULES)\n@dlt.table\ndef t(): pass\n"
        )
    )
    assert "rules_of_test" not in sys.modules and str(tmp_path) not in sys.path


def test_a_source_that_imports_a_source_declares_it_once(declare: Declare) -> None:
    assert graph(
        declare(
            "import dlt\nimport file1\n@dlt.table\ndef a(): pass\n", "import dlt\n@dlt.table\ndef b(): pass\n"
        )
    ).names() == ["b", "a"]


def test_the_session_is_a_global_of_every_file(declare: Declare) -> None:
    text = "import dlt\nassert spark.named == 'the session'\nprint(dbutils, display, displayHTML)\n"
    graph(declare(f"{text}@dlt.table\ndef t(): pass\n"))


def test_afterwards_pyspark_has_its_own_functions_again(without_the_plugin: None, declare: Declare) -> None:
    import sys

    from pyspark import pipelines
    from pyspark.pipelines import api

    graph(declare("import dlt\n@dlt.table\ndef t(): pass\n"))
    assert pipelines.table is api.table and not hasattr(pipelines, "expect") and "dlt" not in sys.modules


def test_decorators_outside_of_a_pipeline_say_how_to_run_one(without_the_plugin: None) -> None:
    with modules.serving():
        import dlt  # type: ignore[import-not-found]

        with pytest.raises(PipelineError, match="lakeward pipeline"):
            dlt.table(lambda: None, name="t")


def test_files_without_datasets_are_an_error(declare: Declare) -> None:
    (error,) = declare("x = 1\n").errors
    assert error.condition == "RUN_EMPTY_PIPELINE"


def test_a_file_that_a_unit_test_has_imported_is_read_all_the_same(
    declare: Declare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib
    import sys

    monkeypatch.syspath_prepend(str(tmp_path))
    text = "from pyspark import pipelines as dp\n@dp.table\ndef t(): return 1\n"
    (tmp_path / "file0.py").write_text(text)
    monkeypatch.setattr("lakeward.pipelines.outside._allowed", True)
    with modules.serving():
        module = importlib.import_module("file0")
    try:
        assert module.t() == 1
        assert graph(declare(text)).names() == ["t"]
        assert sys.modules["file0"] is module
    finally:
        del sys.modules["file0"]


def test_a_mock_of_dlt_is_put_away_while_a_pipeline_is_read(
    declare: Declare, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys
    from unittest.mock import MagicMock

    mock = MagicMock()
    monkeypatch.setitem(sys.modules, "dlt", mock)
    assert graph(declare("import dlt\n@dlt.table\ndef t(): pass\n")).names() == ["t"]
    assert sys.modules["dlt"] is mock


def test_breakpoints_in_dataset_functions_stop_at_the_users_line(declare: Declare, tmp_path: Path) -> None:
    """Editors set them by file name and line: the code of a collected function must have the user's."""
    text = (
        "import dlt\n\n\n@dlt.table\n@dlt.expect('a', 'id > 0')\ndef t():\n    first = 1\n    return first\n"
    )
    (dataset,) = graph(declare(text))
    (flow,) = dataset.flows
    code = inspect.unwrap(flow.function).__code__
    assert code.co_filename == str(tmp_path / "file0.py")
    lines = {line for _, _, line in code.co_lines() if line}
    assert {7, 8} <= lines <= set(range(4, 9))
