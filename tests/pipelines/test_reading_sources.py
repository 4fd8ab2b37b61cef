"""How the files of a pipeline are read, and what becomes of their errors: no Spark session is needed."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from lakeward.errors import ConfigurationError, PipelineError
from lakeward.pipelines.api.modules import serve_modules
from lakeward.pipelines.sources.collection import load_source
from lakeward.pipelines.sources.source_files import find_sources
from tests.pipelines.conftest import Declare, graph


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


_ITS_PATH = """
from pathlib import PurePosixPath
from pyspark import pipelines as dp
path = PurePosixPath(dbutils.notebook.entry_point.getDbutils().notebook().getContext().notebookPath().get())

@dp.table(name="{name}_of_" + path.name)
def {name}(): return spark.range(1)
assert str(path.parent) == "{folder}"
"""


def test_each_source_has_its_own_path_as_that_of_the_notebook(declare: Declare, tmp_path: Path) -> None:
    def source(name: str) -> str:
        return _ITS_PATH.format(name=name, folder=tmp_path)

    head = "# Databricks notebook source\n"
    (tmp_path / "child.py").write_text(head + source("child"))
    found = graph(declare(source("plain"), head + source("notebook"), f"{head}# MAGIC %run ./child\n"))
    # A notebook that is included has the path of the one that includes it, as on the platform.
    assert [dataset.name for dataset in found] == ["plain_of_file0", "notebook_of_file1", "child_of_file2"]


def test_afterwards_pyspark_has_its_own_functions_again(without_the_plugin: None, declare: Declare) -> None:
    import sys

    from pyspark import pipelines
    from pyspark.pipelines import api

    graph(declare("import dlt\n@dlt.table\ndef t(): pass\n"))
    assert pipelines.table is api.table and not hasattr(pipelines, "expect") and "dlt" not in sys.modules


def test_decorators_outside_of_a_pipeline_say_how_to_run_one(without_the_plugin: None) -> None:
    with serve_modules():
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
    monkeypatch.setattr("lakeward.pipelines.api.signatures._unit_tests_enabled", True)
    with serve_modules():
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


@pytest.mark.parametrize("file", ["dlt.py", "dlt/__init__.py", "dlt/pipeline.py"])
@pytest.mark.parametrize("is_imported", [False, True], ids=["new", "imported"])
def test_a_folder_or_package_named_dlt_does_not_hide_the_platforms(
    declare: Declare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, *, is_imported: bool
) -> None:
    import importlib
    import sys

    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "dlt", raising=False)
    before = importlib.import_module("dlt") if is_imported else None
    assert graph(declare("import dlt\n@dlt.table\ndef t(): pass\n")).names() == ["t"]
    assert sys.modules.get("dlt") is before


def test_modules_in_a_folder_named_dlt_are_imported(
    declare: Declare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dlt").mkdir()
    (tmp_path / "dlt" / "names_of_test.py").write_text("NAME = 't'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "import dlt\nfrom dlt.names_of_test import NAME\n@dlt.table(name=NAME)\ndef f(): pass\n"
    assert graph(declare(text)).names() == ["t"]


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


def test_a_path_without_a_source_is_compared_with_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "pipeline").mkdir()
    with pytest.raises(ConfigurationError) as caught:
        find_sources([tmp_path / "pipelin"])
    assert caught.value.condition == "PIPELINE_SOURCE_NOT_FOUND"
    assert caught.value.next_step == "Did you mean `pipeline`?"
    for other in (tmp_path / "zzz", tmp_path / "none" / "pipeline"):
        with pytest.raises(ConfigurationError) as caught:
            find_sources([other])
        assert caught.value.next_step is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.py", b"x = 1\0"),
        ("a.sql", b"\0"),
        ("a.sql", b"SELECT '\xe4'"),
        ("a.ipynb", bytes(range(128, 256)) * 9),
    ],
)
def test_a_source_that_is_no_text_is_named_and_not_quoted(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(PipelineError) as caught:
        load_source(tmp_path / name, {"spark": None}, root=None)
    assert caught.value.condition == "PIPELINE_SOURCE_SYNTAX_ERROR"
    assert caught.value.message.endswith("it is not UTF-8 text.")
    assert len(str(caught.value)) < 300
