"""`get_ipython()` in cells: the notebook's names and magics, without an import."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Any

import pandas as pd
import pytest

from lakeward.notebooks import write
from tests.notebooks.conftest import Desk, text_of

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


IMPORTS = {
    "none": "",
    "package": "from IPython import get_ipython",
    "module": "import IPython; get_ipython = IPython.get_ipython",
    "core": "from IPython.core.getipython import get_ipython",
}


@pytest.mark.parametrize("how", IMPORTS)
@pytest.mark.parametrize("name", CALLS)
def test_a_cell_reaches_the_notebook(
    desk: Desk, name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAKEWARD_SHELL_TEST", "")
    text = f"x = [1]\n{IMPORTS[how]}\n# COMMAND ----------\nassert {CALLS[name]}\n"
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


# A picture of one pixel.
_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
OBJECTS = {
    "HTML": ("HTML('<b>bold</b>')", "text/html", "<b>bold</b>", "<b>bold</b>"),
    "Markdown": ("Markdown('# Head')", "text/markdown", "# Head", "<h1>Head</h1>"),
    "SVG": ("SVG('<svg/>')", "image/svg+xml", "<svg/>", "<svg/>"),
    "JSON": ("JSON({'a': 1})", "application/json", {"a": 1}, "&quot;a&quot;: 1"),
    "Latex": ("Latex('$x$')", "text/latex", "$x$", "$x$"),
    "Javascript": ("Javascript('go()')", "application/javascript", "go()", "<script>go()</script>"),
    "Image": (f"Image(data=base64.b64decode('{_PNG}'))", "image/png", _PNG, f"base64,{_PNG}"),
    "Image of a URL": ("Image(url='https://x/y.png')", "text/html", None, 'src="https://x/y.png"'),
    "IFrame": ("IFrame('https://x', 10, 20)", "text/html", None, "<iframe"),
}
SHOWN = {
    "last expression": "{}",
    "display of notebooks": "display({})",
    "display of IPython": "from IPython.display import display\ndisplay(1, {})",
}


@pytest.mark.parametrize("how", SHOWN)
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_of_ipython_are_shown(desk: Desk, name: str, how: str) -> None:
    made, kind, content, on_page = OBJECTS[name]
    text = f"import base64\nfrom IPython.display import {made.partition('(')[0]}\n{SHOWN[how].format(made)}\n"
    ran = write(desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}")), desk.folder / "runs")
    data = ran.cells[0].outputs[-1]["data"]
    assert content is None or data[kind] == content
    assert (desk.folder / "runs" / "n.html").read_text().count(on_page)


def _texts(ran: Any) -> list[str]:
    return [each.get("text") or each["data"]["text/plain"] for each in ran.cells[0].outputs]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("print(1); clear_output(); print(2)", ["2\n"]),
        ("print(1); clear_output(wait=True)", ["1\n"]),
        ("print(1); clear_output(wait=True); print(2)", ["2\n"]),
        ("print(1); display(2, clear=True)", ["2"]),
        ("h = display(1, display_id=True); h.update(2)", ["2"]),
        ("display(1, display_id='a'); display(3); update_display(2, display_id='a')", ["2", "3"]),
        ("publish_display_data({'text/plain': 'seven'})", ["seven"]),
    ],
)
def test_outputs_are_cleared_and_updated(desk: Desk, code: str, expected: list[str]) -> None:
    text = f"from IPython.display import *\n{code}\n"
    assert _texts(desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}"))) == expected


def test_an_output_of_another_cell_is_not_updated(desk: Desk) -> None:
    """The platform's known issue: `update_display` updates the outputs of the current cell alone."""
    text = (
        "from IPython.display import *\nh = display(1, display_id=True)\n# COMMAND ----------\nh.update(2)\n"
    )
    assert _texts(desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}"))) == ["1"]


def test_a_class_whose_display_method_fails_is_shown_as_text(desk: Desk) -> None:
    text = "class A:\n    def _repr_html_(self): raise ValueError\n    def __repr__(self): return 'A'\nA()\n"
    assert "A" in _texts(desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}")))


WIDE = "pd.DataFrame({f'column_{n}': ['x' * 30] for n in range(6)})"
PRINTED = {
    "print": f"print({WIDE})",
    "repr": f"print(repr({WIDE}))",
    "last value": WIDE,
    "from Spark": f"print(spark.createDataFrame({WIDE}).toPandas())",
    "series": f"print({WIDE}.describe())",
}


@pytest.mark.parametrize("how", PRINTED)
def test_pandas_prints_all_columns_as_in_a_notebook(desk: Desk, how: str) -> None:
    text = f"import pandas as pd\n# COMMAND ----------\n{PRINTED[how]}\n"
    printed = text_of(desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}")), 2)
    assert [name for name in (f"column_{n}" for n in range(6)) if name not in printed] == []


def test_the_number_of_columns_of_pandas_is_that_of_notebooks_while_they_run(desk: Desk) -> None:
    get = "import pandas as pd\nassert pd.get_option('display.max_columns') == 20\n"
    desk.file("child.py", f"# Databricks notebook source\n{get}")
    text = f"{get}dbutils.notebook.run('./child', 0)\n# COMMAND ----------\n{get}"
    desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}"))
    assert pd.get_option("display.max_columns") == 0


def test_a_number_of_columns_that_the_user_sets_is_kept(desk: Desk) -> None:
    before = pd.get_option("display.max_columns")
    text = "import pandas as pd\npd.set_option('display.max_columns', 5)\n# COMMAND ----------\n"
    text += "assert pd.get_option('display.max_columns') == 5\n"
    try:
        desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}"))
        assert pd.get_option("display.max_columns") == 5
    finally:
        pd.set_option("display.max_columns", before)


@pytest.mark.parametrize(("notebook", "expected"), [(True, "20 0"), (False, "0 0")])
def test_pandas_that_a_cell_imports_first_has_the_columns_of_a_notebook(
    notebook: bool, expected: str
) -> None:
    text = """
        import sys
        from contextlib import nullcontext
        from lakeward.databricks_shims import DatabricksShell, install, use_shell
        install()
        assert "pandas" not in sys.modules
        with use_shell(DatabricksShell({})) if NOTEBOOK else nullcontext():
            import pandas as pd
            print(pd.get_option("display.max_columns"))
        print(pd.get_option("display.max_columns"))
        """
    code = textwrap.dedent(text).replace("NOTEBOOK", str(notebook))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == expected.split()
