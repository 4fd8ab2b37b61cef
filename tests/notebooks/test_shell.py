"""`get_ipython()` in cells: the notebook's names and magics, without an import."""

from __future__ import annotations

import pytest

from tests.notebooks.conftest import Desk

CALLS = {
    "dbutils": "get_ipython().user_ns['dbutils'] is dbutils",
    "session": "get_ipython().user_ns['spark'] is spark",
    "names of the notebook": "get_ipython().user_ns['x'] == x",
    "other names": "get_ipython().user_ns.get('no_such_name') is None",
    "class": "type(get_ipython()).__name__ == 'DatabricksShell'",
    "line magic": "get_ipython().run_line_magic('load_ext', 'autoreload') is None",
    "magic with its name": "get_ipython().magic('%env LAKEWARD_SHELL_TEST=1') is None",
    "statement": "get_ipython().run_cell_magic('sql', '', 'SELECT 7 AS v') or _sqldf.first()[0] == 7",
    "directory": "get_ipython().run_line_magic('pwd', '') is not None",
}


@pytest.mark.parametrize("name", CALLS)
def test_a_cell_reaches_the_notebook(desk: Desk, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEWARD_SHELL_TEST", "")
    text = f"x = [1]\n# COMMAND ----------\nassert {CALLS[name]}\n"
    desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}"))


def test_a_name_that_is_set_is_one_of_the_notebook(desk: Desk) -> None:
    text = "get_ipython().user_ns['made'] = 3\n# COMMAND ----------\nassert made == 3\n"
    desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}"))


@pytest.mark.parametrize("allow", [True, False])
def test_a_shell_command_needs_the_option(desk: Desk, allow: bool) -> None:
    file = desk.file("n.py", "# Databricks notebook source\nget_ipython().system('true')\n")
    assert desk.run(file, allow_shell=allow).state == ("COMPLETED" if allow else "FAILED")


def test_it_stays_after_a_restart_of_python(desk: Desk) -> None:
    text = "dbutils.library.restartPython()\n# COMMAND ----------\nget_ipython().user_ns['dbutils'].fs\n"
    desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}"))
