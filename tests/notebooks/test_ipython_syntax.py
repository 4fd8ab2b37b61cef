"""Cells are read as IPython reads them: by a run, by a pipeline and by `check`, in every form of file."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from lakeward.check import check
from lakeward.notebooks import MAGIC, MAGICS, Compiler, Notebook, line_magics, parse
from lakeward.pipelines.sources.notebook_source import declare_cells
from lakeward.pipelines.sql.declarations import SqlFile

FORMS = ("py", "marked py", "sql", "marked sql", "ipynb")

# The text of a cell, its language, and what its Python leaves in `x`.
CELLS: dict[str, tuple[str, str, Any]] = {
    "indent": (" x = 1", "python", 1),
    "indented block": ("    if True:\n        x = 2", "python", 2),
    "blank line, then indent": ("\n\n  x = 3\n  y = x", "python", 3),
    "automagic": ("pip install pytest", "python", None),
    "indented automagic": ("  pip install pytest", "python", None),
    "line magic": ("%pip install pytest\nx = 4", "python", 4),
    "indented line magic": ("  %pip install pytest\n  x = 5", "python", 5),
    "continued line magic": ("%pip install \\\n  pytest \\\n  hypothesis\nx = 6", "python", 6),
    "line magic in a block": ("if True:\n    %pip install pytest\n    x = 7", "python", 7),
    "timed cell": ("%%time\nx = 8", "python", 8),
    "shell line": ("x = 9\n!ls", "python", 9),
    "assigned shell line": ("x = 13\ny = !ls", "python", 13),
    "in a string": ('x = """\n%sql select 1\n!ls\n"""', "python", "\n%sql select 1\n!ls\n"),
    "in brackets": ("b = 7\nx = (5\n%b)\n%time", "python", 5),
    "one line": ("%pip install pytest", "pip", None),
    "double one line": ("%%pip install pytest", "pip", None),
    "%sql": ("%sql select 1 as a", "sql", None),
    " %sql": (" %sql\n select 1 as a", "sql", None),
    "%%sql": ("%%sql\nselect 1 as a", "sql", None),
    " %%sql": (" %%sql\n select 1 as a", "sql", None),
    "%SQL": ("%SQL\nselect 1 as a", "sql", None),
    "%python": ("%python x = 10", "python", 10),
    "%python, indented": ("%python\n  x = 11\n  y = x", "python", 11),
    "%py": ("%py\nx = 12", "python", 12),
    "%sh": ("%sh\nls", "sh", None),
    "%md": ("%md\n# Title", "md", None),
    "%fs": ("%fs ls /", "fs", None),
}
ALL = [(form, name) for form in FORMS for name in CELLS]


def content_of(form: str, *cells: str) -> bytes:
    """Return a notebook file of `cells`: magics as they are, or behind MAGIC in the marked forms."""
    language = form.rsplit(maxsplit=1)[-1]
    if language == "ipynb":
        made = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
        return json.dumps({"cells": made, "metadata": {}}).encode()
    comment = {"py": "#", "sql": "--"}[language]
    written = [
        "\n".join(f"{comment} MAGIC {line}" for line in cell.split("\n"))
        if form.startswith("marked")
        else cell
        for cell in cells
    ]
    separator = f"\n\n{comment} COMMAND ----------\n\n"
    return f"{comment} Databricks notebook source\n{separator.join(written)}\n".encode()


def notebook_of(form: str, name: str) -> Notebook:
    text, language, _ = CELLS[name]
    if form.endswith("sql") and language == "python" and not text.lstrip().startswith(("%p", "%%t")):
        text = f"%python\n{text}"
    notebook = parse(content_of(form, text), f".{form.rsplit(maxsplit=1)[-1]}")
    assert notebook is not None
    return notebook


SET_UP = (
    *("load_ext autoreload", "autoreload 2", "aimport shop", "rehashx", "rehashx # clear the cache"),
    *(
        "unload_ext autoreload",
        "reload_ext autoreload",
        "matplotlib inline",
        "config Completer.use_jedi = False",
    ),
    *("xmode Minimal", "pdb off", "colors NoColor", "precision 3"),
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("line", SET_UP)
def test_magics_that_set_up_ipython_are_lines_of_python(line: str, form: str, tmp_path: Path) -> None:
    content = content_of(form, f"%{line}\nx = 1")
    notebook = parse(content, f".{form.rsplit(maxsplit=1)[-1]}")
    assert notebook is not None
    assert [cell.language for cell in notebook.cells] == ["python"]
    names: dict[str, Any] = {MAGIC: lambda magic, text: MAGICS[magic](None, text, 1)}  # type: ignore[arg-type]
    exec(Compiler().compile(notebook, notebook.cells[0], "/n.py").body, names)
    assert names["x"] == 1
    (tmp_path / f"n.{form.rsplit(maxsplit=1)[-1]}").write_bytes(content)
    assert not check(tmp_path, environ={}).of("refused")


@pytest.mark.parametrize("line", ["env {}=a b", "env {} a b", "set_env {}=a b", "set_env {} a b"])
def test_an_environment_variable_is_set_in_every_spelling(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEWARD_TEST_VARIABLE", "")
    name, _, text = line.format("LAKEWARD_TEST_VARIABLE").partition(" ")
    MAGICS[name](None, text, 1)  # type: ignore[arg-type]
    assert os.environ["LAKEWARD_TEST_VARIABLE"] == "a b"


@pytest.mark.parametrize(("form", "name"), ALL)
def test_every_spelling_is_read_alike_in_every_form(form: str, name: str) -> None:
    notebook = notebook_of(form, name)
    assert [cell.language for cell in notebook.cells] == [CELLS[name][1]]
    names: dict[str, Any] = {}
    calls: list[tuple[str, str]] = []
    names[MAGIC] = lambda magic, text: calls.append((magic, text))
    if CELLS[name][1] == "python":
        code = Compiler().compile(notebook, notebook.cells[0], "/n.py")
        exec(code.body, names)
        if code.last is not None:
            eval(code.last, names)
        assert names.get("x") == CELLS[name][2]
        if "automagic" in name:
            assert calls == [("pip", "install pytest")]
        if "continued" in name:
            assert calls == [("pip", "install pytest hypothesis")]


@pytest.mark.parametrize(("form", "name"), [each for each in ALL if not each[0].endswith("sql")])
def test_pipelines_run_python_cells_in_every_spelling(form: str, name: str, tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    sql: Any = object.__new__(SqlFile)
    assert declare_cells(notebook_of(form, name), tmp_path / "n.py", names, sql) == []
    assert names.get("x") == CELLS[name][2]


@pytest.mark.parametrize("form", FORMS)
def test_check_reads_every_spelling_in_every_form(form: str, tmp_path: Path) -> None:
    for at, name in enumerate(CELLS):
        text, language, _ = CELLS[name]
        if form.endswith("sql") and language == "python" and not text.lstrip().startswith(("%p", "%%t")):
            text = f"%python\n{text}"
        (tmp_path / f"n{at}.{form.rsplit(maxsplit=1)[-1]}").write_bytes(content_of(form, text))
    report = check(tmp_path, environ={})
    assert [(each.place.file, each.reason) for each in report.unread] == []
    assert not report.of("refused")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("spelling", ["%sql\nselect * from a.b", " %%sql\n select * from a.b"])
def test_check_finds_what_cells_without_mark_read(form: str, spelling: str, tmp_path: Path) -> None:
    (tmp_path / f"n.{form.rsplit(maxsplit=1)[-1]}").write_bytes(content_of(form, "%md\nText", spelling))
    [finding] = check(tmp_path, environ={}).of("needs_seed")
    assert finding.construct == "table a.b"
    assert finding.place.cell == (2 if form == "ipynb" else 0)
    assert finding.place.line == (2 if form == "ipynb" else 8)


def test_a_variable_hides_the_automagic_of_its_name() -> None:
    notebook = parse(content_of("py", "ls - 1"), ".py")
    assert notebook is not None
    code = Compiler().compile(notebook, notebook.cells[0], "/n.py")
    assert code.last is not None
    assert eval(code.last, {"ls": 3, MAGIC: lambda *calls: calls}) == 2
    assert eval(code.last, {MAGIC: lambda *calls: calls}) == ("ls", "- 1")


@pytest.mark.parametrize("text", ["pip = 1", "env == 2", "time.sleep(0)", "ls, pwd = 1, 2", "pip\nenv"])
def test_what_is_python_is_no_automagic(text: str) -> None:
    assert [magic for magic in line_magics(text) if not magic.code] == []


def test_the_error_of_one_cell_names_file_cell_and_line(tmp_path: Path) -> None:
    cells = ("x = 1", "y = (\n)\nz = = 2", "spark.table('a.b')")
    (tmp_path / "n.py").write_bytes(content_of("py", *cells))
    (tmp_path / "n.ipynb").write_bytes(content_of("ipynb", *cells))
    report = check(tmp_path, environ={})
    assert [(str(each.place), each.reason) for each in report.unread] == [
        ("n.ipynb#2:3:5", "Python cannot read it: invalid syntax"),
        ("n.py:8:5", "cell 2: Python cannot read it: invalid syntax"),
    ]
    # Cells that can be read are.
    assert [str(each.place)[:7] for each in report.of("needs_seed")] == ["n.ipynb", "n.py:12"]


def test_a_pipeline_continues_after_a_notebook_that_exits(tmp_path: Path) -> None:
    from lakeward.dbutils import NotebookExit

    def leave() -> None:
        raise NotebookExit("done")

    names: dict[str, Any] = {"leave": leave}
    notebook = parse(content_of("py", "x = 1", "leave()", "x = 2"), ".py")
    assert notebook is not None
    sql: Any = object.__new__(SqlFile)
    declare_cells(notebook, tmp_path / "n.py", names, sql)
    assert names["x"] == 1


def test_many_cells_take_linear_time() -> None:
    seconds = []
    for count in (1_000, 10_000):
        notebook = parse(content_of("py", *["x = 1"] * count), ".py")
        assert notebook is not None
        compiler = Compiler()
        began = time.process_time()
        for cell in notebook.cells:
            compiler.compile(notebook, cell, "/n.py")
        seconds.append(time.process_time() - began)
    assert seconds[1] < 30 * seconds[0]


@pytest.mark.parametrize("text", ["y = = 2", "x = 1\nreturn x", "  y = 1\n   z = 2"])
def test_a_syntax_error_has_the_line_of_its_file(text: str) -> None:
    notebook = parse(content_of("py", "x = 1", text), ".py")
    assert notebook is not None
    with pytest.raises(SyntaxError) as raised:
        Compiler().compile(notebook, notebook.cells[1], "/n.py")
    assert (raised.value.filename, raised.value.lineno) == ("/n.py", 6 + text.count("\n"))


@pytest.mark.slow
def test_a_cell_of_five_megabytes_takes_linear_time() -> None:
    line = "x = ['a', \"b\", (1)]  # %sql\n"
    small, large = (line * count + "%time\n" for count in (20_000, 180_000))
    assert len(large) > 5_000_000
    seconds = []
    for text in (small, large):
        began = time.process_time()
        assert len(list(line_magics(text))) == 1
        seconds.append(time.process_time() - began)
    assert seconds[1] < 30 * seconds[0]
