"""Modules that exist only on Databricks; nothing here starts a JVM."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import pytest

from lakeward import databricks_shims
from lakeward.dbutils import Context, Environment, NotebookExit, dbutils, use_environment
from lakeward.session import Settings
from lakeward.workspace_connection import NO_WORKSPACE
from tests.processes import environ_without, outcome

SUITE = """\
import sys

from databricks.sdk.runtime import *
from databricks.sdk.runtime import spark, dbutils
from pyspark.dbutils import DBUtils


class TestThings:
    session = spark

    def test_names(self):
        assert isinstance(DBUtils(spark), DBUtils)
        assert dbutils.widgets.getArgument("a", "b") == "b"
        from pyspark import SparkContext
        assert SparkContext._gateway is None, "a JVM was started"
"""


def test_the_runtime_has_every_name_and_starts_nothing(installed: None) -> None:
    runtime = importlib.import_module("databricks.sdk.runtime")
    assert set(runtime.__all__) == set(databricks_shims.NAMES)
    assert runtime.dbutils is dbutils()
    assert repr(runtime.spark) == "<pyspark.sql.SparkSession of lakeward>"
    assert not hasattr(runtime.spark, "_pytestfixturefunction")
    assert not hasattr(runtime.spark, "__wrapped__")
    from pyspark.sql import SparkSession

    assert isinstance(runtime.spark, SparkSession)
    assert importlib.import_module("databricks.sdk.runtime.dbutils_stub").dbutils


@pytest.mark.parametrize(
    "code",
    [
        "from dbruntime.databricks_repl_context import get_context\ncontext = get_context()",
        "import dbruntime.databricks_repl_context as repl\ncontext = repl.get_context()",
        "import dbruntime.databricks_repl_context\ncontext = dbruntime.databricks_repl_context.get_context()",
        "from dbruntime import databricks_repl_context as repl\ncontext = repl.get_context()",
    ],
)
def test_the_context_of_the_repl_is_that_of_the_notebook(installed: None, code: str) -> None:
    facts = Context(
        *("ada", "/Users/ada/load"),
        *(NO_WORKSPACE, "7", "c", "n", "j", "r", "t"),
    )
    with use_environment(Environment(context=facts)):
        names: dict[str, Any] = {}
        exec(code, names)
        context, java = names["context"], dbutils().notebook.entry_point.getDbutils().notebook().getContext()
        for name in (
            *("apiUrl", "apiToken", "browserHostName", "workspaceId", "clusterId"),
            *("notebookId", "notebookPath", "jobId", "currentRunId", "rootRunId"),
        ):
            assert getattr(context, name) == getattr(java, name)().get()
        assert (context.user, context.taskKey, context.workspaceUrl) == ("ada", "t", context.browserHostName)
        assert context.apiToken not in repr(context)


def test_a_repl_context_without_a_job_has_no_run(installed: None) -> None:
    repl = importlib.import_module("dbruntime.databricks_repl_context")
    context = repl.get_context()
    assert (context.user, context.jobId, context.currentRunId, context.notebookId) == (
        "ada",
        None,
        None,
        None,
    )
    # MLflow looks for a workspace's experiments where it has them.
    assert not any(hasattr(context, name) for name in ("isInNotebook", "isInJob", "isInCluster"))


def test_modules_of_dbruntime_have_the_objects_of_notebooks(installed: None) -> None:
    module = importlib.import_module("dbruntime.dbutils")
    assert isinstance(dbutils(), module.DBUtils)
    dbutils().fs.put("dbfs:/a.txt", "x")
    assert all(isinstance(each, module.FileInfo) for each in dbutils().fs.ls("dbfs:/"))
    shown = importlib.import_module("dbruntime.display")
    runtime = importlib.import_module("databricks.sdk.runtime")
    assert (shown.display, shown.displayHTML) == (runtime.display, runtime.displayHTML)
    with pytest.raises(ImportError, match="UserNamespaceInitializer"):
        # databricks-sdk takes it as the sign that it authenticates on Databricks.
        exec("from dbruntime import UserNamespaceInitializer")


def test_its_names_go_when_the_stand_ins_go(nothing_installed: None) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("pyspark.dbutils")
    databricks_shims.install()
    databricks_shims.install()
    from pyspark.dbutils import DBUtils

    assert DBUtils().fs
    databricks_shims.uninstall()
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("pyspark.dbutils")


def test_nothing_is_installed_when_lakeward_is_off(
    nothing_installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEWARD_DISABLE", "1")
    databricks_shims.install()
    assert not databricks_shims.is_installed()


def test_a_suite_that_imports_spark_at_its_top_starts_no_jvm(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    environ = environ_without("PYTEST")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    ran = outcome(command, cwd=tmp_path, env=environ)
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


def test_without_databricks_sdk_its_packages_are_empty(nothing_installed: None, tmp_path: Path) -> None:
    # -S: an interpreter without site-packages, which has only what is named here.
    import py4j

    lends = [str(Path(databricks_shims.__file__).parents[2]), str(Path(py4j.__file__).parents[1])]
    (tmp_path / "py4j").symlink_to(Path(lends[1]) / "py4j")
    code = (
        "import lakeward.databricks_shims as s; s.install()\n"
        "from databricks.sdk.runtime import dbutils, display\n"
        "print(type(dbutils).__name__)\n"
        "try:\n    from databricks.sdk import WorkspaceClient\n"
        "except ImportError as error:\n    print('no', error.name)\n"
    )
    ran = outcome(
        [sys.executable, "-S", "-c", code], env={"PYTHONPATH": os.pathsep.join([lends[0], str(tmp_path)])}
    )
    assert ran.stdout.splitlines() == ["DBUtils", "no databricks.sdk"], ran.stderr


_EAGER = "shell = None\ndef get_ipython():\n    return shell\n"
# As of IPython 9.18.
_LAZY = (
    "shell = None\ndef __getattr__(name):\n    if name == 'get_ipython':\n        return lambda: shell\n"
    "    raise AttributeError(name)\n"
)


@pytest.fixture(params=[_EAGER, _LAZY], ids=["eager", "lazy"])
def ipython(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[str]:
    """A package of the name whose shell does not run, as the real one's outside of a notebook."""
    (tmp_path / "IPython").mkdir()
    (tmp_path / "IPython" / "__init__.py").write_text(request.param)
    library = tmp_path / "site-packages" / "plots.py"
    library.parent.mkdir()
    library.write_text("import IPython\ndef in_notebook():\n    return IPython.get_ipython() is not None\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(library.parent))
    yield "IPython"
    for name in ("IPython", "IPython.display", "plots"):
        sys.modules.pop(name, None)


def test_the_shells_namespace_has_dbutils_for_user_code_alone(ipython: str, installed: None) -> None:
    module = importlib.import_module(ipython)
    assert module.get_ipython().user_ns["dbutils"] is dbutils()
    assert not importlib.import_module("plots").in_notebook()
    from IPython import get_ipython  # type: ignore[import-not-found]

    assert get_ipython().user_ns["dbutils"] is dbutils()
    module.shell = "a real shell"
    assert module.get_ipython() == "a real shell"
    databricks_shims.uninstall()
    module.shell = None
    assert module.get_ipython() is None


@pytest.mark.parametrize("mock", [MagicMock(), ModuleType("databricks.sdk")], ids=["mock", "module"])
def test_uninstalling_is_silent_where_tests_left_a_mock_of_the_sdk(
    installed: None, monkeypatch: pytest.MonkeyPatch, mock: object
) -> None:
    importlib.import_module("databricks.sdk")
    for name in [name for name in sys.modules if name.startswith("databricks.sdk.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "databricks.sdk", mock)
    databricks_shims.uninstall()
    assert not databricks_shims.is_installed()


@pytest.mark.parametrize(
    "name", ["IPython", "IPython.display", "IPython.core.display", "IPython.core.getipython"]
)
def test_ipython_that_is_not_installed_is_there_in_tasks_only(
    nothing_installed: None, settings: Settings, name: str
) -> None:
    """A Databricks runtime has IPython; a repository's own environment of tests has it or not."""
    if importlib.util.find_spec("IPython") is not None:
        pytest.skip("IPython is installed")
    for _ in range(2):
        databricks_shims.install()
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module(name)
        with databricks_shims.use_surroundings(Environment(settings=lambda: settings)):
            assert importlib.import_module(name).__name__ == name
            assert importlib.import_module("IPython").get_ipython().user_ns["dbutils"] is dbutils()
        assert not [each for each in sys.modules if each.partition(".")[0] == "IPython"]
        databricks_shims.uninstall()


def test_functions_of_the_installed_ipython_show_in_the_notebook_that_runs(
    ipython: str, installed: None, tmp_path: Path
) -> None:
    text = "def display(*values):\n    return 'a terminal'\ndef clear_output():\n    return 'cleared'\n"
    (tmp_path / ipython / "display.py").write_text(text)
    module = importlib.import_module("IPython.display")
    shown: list[object] = []
    with databricks_shims.use_display(lambda value, **options: shown.append((value, options))):
        module.display(1, 2)
        module.clear_output(wait=True)
    assert shown == [(1, {}), (2, {}), (None, {"clear": "next"})]
    assert (module.display(1), module.clear_output()) == ("a terminal", "cleared")
    databricks_shims.uninstall()
    assert module.display(1) == "a terminal"


def test_a_run_has_the_runtimes_version_and_leaves_nothing_behind(
    nothing_installed: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(databricks_shims.VERSION, raising=False)
    environment = Environment(settings=lambda: settings.with_(profile="15.4.x-scala2.12"))
    with databricks_shims.use_surroundings(environment):
        assert os.environ[databricks_shims.VERSION] == "15.4"
        with databricks_shims.use_surroundings():
            assert os.environ[databricks_shims.VERSION] == "15.4"
        assert isinstance(importlib.import_module("pyspark.dbutils"), ModuleType)
    assert databricks_shims.VERSION not in os.environ
    assert not databricks_shims.is_installed()
    assert databricks_shims.runtime_version("serverless").startswith("client.")


def test_a_failing_run_leaves_nothing_behind_either(nothing_installed: None, settings: Settings) -> None:
    def run() -> None:
        with databricks_shims.use_surroundings(Environment(settings=lambda: settings)):
            dbutils().notebook.exit("done")

    with pytest.raises(NotebookExit):
        run()
    assert databricks_shims.VERSION not in os.environ
    assert not databricks_shims.is_installed()


def test_display_prints_tables_and_hands_over_to_a_notebook(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    import pandas as pd

    databricks_shims.display(pd.DataFrame({"a": [1, 2]}))
    assert capsys.readouterr().out == "   a\n0  1\n1  2\n"
    databricks_shims.display()
    databricks_shims.displayHTML("<b>x</b>")
    assert capsys.readouterr().out == "<b>x</b>\n"
    shown: list[object] = []
    with databricks_shims.use_display(lambda value, **options: shown.append((value, options))):
        databricks_shims.display([1], streamName="s")
        databricks_shims.displayHTML("<b>x</b>")
    assert shown == [([1], {"streamName": "s"}), (None, {"html": "<b>x</b>"})]


def test_free_names_follow_the_environment_in_force(settings: Settings) -> None:
    names = databricks_shims.free_names()
    with use_environment(Environment(settings=lambda: settings, arguments={"day": "1"})):
        assert names["getArgument"]("day") == "1"
        assert names["dbutils"].widgets.get("day") == "1"
