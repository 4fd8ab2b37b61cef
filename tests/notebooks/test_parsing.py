"""Notebook files become cells that know where they stand in the file."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import ConfigurationError
from lakeward.notebooks import Compiler, line_magics, parse, parse_run_line
from lakeward.notebooks.loader import find_notebook, load_notebook
from lakeward.notebooks.packages import requirement_lines

PYTHON = textwrap.dedent(
    """\
    # Databricks notebook source
    # MAGIC %md
    # MAGIC # Title
    # MAGIC text

    # COMMAND ----------

    # DBTITLE 1,First steps
    x = 1
    y = x + 1

    # COMMAND ----------

    # MAGIC %sql
    # MAGIC SELECT 1
    # MAGIC   FROM t

    # COMMAND ----------

    # MAGIC %python print(x)

    # COMMAND ----------

    # only a comment
    """
)


def cells(text: str, suffix: str = ".py") -> list[tuple[int, str, str, int]]:
    notebook = parse(text.encode(), suffix)
    assert notebook is not None
    return [(cell.number, cell.language, cell.source.strip(), cell.line) for cell in notebook.cells]


def test_a_python_notebook_has_cells_in_languages_with_their_lines() -> None:
    assert cells(PYTHON) == [
        (1, "md", "# Title\ntext", 2),
        (2, "python", "# DBTITLE 1,First steps\nx = 1\ny = x + 1", 8),
        (3, "sql", "SELECT 1\n  FROM t", 14),
        (4, "python", "print(x)", 20),
    ]
    notebook = parse(PYTHON.encode(), ".py")
    assert notebook is not None and notebook.cells[1].title == "First steps"


def test_a_sql_notebook_has_sql_where_a_cell_names_no_magic() -> None:
    text = (
        "-- Databricks notebook source\n-- MAGIC %python\n-- MAGIC x = 1\n\n-- COMMAND ----------\n\nselect 1"
    )
    assert cells(text, ".sql") == [(1, "python", "x = 1", 2), (2, "sql", "select 1", 7)]


@pytest.mark.parametrize(
    ("suffix", "comment", "text"),
    [
        (
            ".py",
            "#",
            'query = """\n-- COMMAND ----------\n-- MAGIC %md\n-- DBTITLE 1,Inner\nselect 1\n"""\nx = 1',
        ),
        (".sql", "--", "select '\n# COMMAND ----------\n# MAGIC %md\n# DBTITLE 1,Inner\n' as a"),
    ],
)
def test_marks_of_the_other_language_are_text_of_a_cell(suffix: str, comment: str, text: str) -> None:
    language = "python" if suffix == ".py" else "sql"
    first = f"{comment} Databricks notebook source"
    content = f"{first}\n{text}\n\n{comment} COMMAND ----------\n\n{text}\n"
    notebook = parse(content.encode(), suffix)
    assert notebook is not None and [cell.title for cell in notebook.cells] == ["", ""]
    assert [(number, of, source) for number, of, source, _ in cells(content, suffix)] == [
        (1, language, f"{first}\n{text}"),
        (2, language, text),
    ]


@pytest.mark.parametrize("between", ["", "\n", "   \n", "{c} a comment"])
@pytest.mark.parametrize("mark", ["{c} MAGIC", "{c}MAGIC"])
@pytest.mark.parametrize("magic", ["%md", "%md-sandbox", "%sql", "%sh", "%python"])
@pytest.mark.parametrize(("suffix", "comment"), [(".py", "#"), (".sql", "--")])
def test_marked_lines_go_on_over_empty_lines(
    suffix: str, comment: str, magic: str, mark: str, between: str
) -> None:
    mark, between = mark.format(c=comment), between.format(c=comment)
    lines = [f"{comment} Databricks notebook source", f"{mark} {magic}", f"{mark} a", between]
    (cell,) = cells("\n".join([*lines, f"{mark} b"]), suffix)
    empty = "\n" * (between.count("\n") + 1)
    assert cell == (1, magic[1:], f"a\n{empty}b", 2)
    named = cells("\n".join([*lines, f"{mark} %fs ls"]), suffix)
    assert [each[1:3] for each in named] == [(magic[1:], "a"), ("fs", "ls")]
    code = cells("\n".join([*lines, "x = 1", f"{mark} {magic} b"]), suffix)
    assert [each[1] for each in code] == [magic[1:], "python" if suffix == ".py" else "sql", magic[1:]]


@pytest.mark.parametrize("path", ["./a", '"./a b"', '/Workspace/Users/a@b.c/d $x="1 2"'])
@pytest.mark.parametrize("run", ["%run\n{}", "%run \n{}\n", "\n%run\n\n  {}", "%RUN\n{}", "%%run\n{}"])
@pytest.mark.parametrize("suffix", [".py", ".sql", ".ipynb"])
def test_the_path_of_run_may_be_on_the_next_line(suffix: str, run: str, path: str) -> None:
    text = run.format(path)
    comment = {".py": "# ", ".sql": "-- "}.get(suffix, "")
    if comment:
        marked = "\n".join(f"{comment}MAGIC {line}" for line in text.split("\n"))
        text = f"{comment}Databricks notebook source\n{marked}"
    else:
        text = json.dumps({"cells": [{"cell_type": "code", "source": text}], "metadata": {}, "nbformat": 4})
    (cell,) = cells(text, suffix)
    assert cell[1] == "run"
    assert parse_run_line(cell[2]) == parse_run_line(path)


@pytest.mark.parametrize(("text", "suffix"), [("x = 1", ".py"), ("select 1", ".sql"), (PYTHON, ".sql")])
def test_a_file_without_its_languages_first_line_is_no_notebook(text: str, suffix: str) -> None:
    assert parse(text.encode(), suffix) is None


def test_an_ipynb_keeps_markdown_magics_and_lines_of_code_apart() -> None:
    content = {
        "metadata": {"kernelspec": {"language": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# T\n", "x"]},
            {"cell_type": "code", "source": "%sql\nselect 1"},
            {"cell_type": "code", "source": "%pip install a\nx = 1"},
            {"cell_type": "raw", "source": "no"},
        ],
    }
    found = cells(json.dumps(content), ".ipynb")
    assert [(number, language) for number, language, _, _ in found] == [(1, "md"), (2, "sql"), (3, "python")]
    assert [magic.text for magic in line_magics(found[2][2])] == ["install a"]


def test_what_is_no_ipynb_is_said_to_be_none() -> None:
    with pytest.raises(ValueError, match="not a notebook"):
        parse(b"[]", ".ipynb")


def test_code_keeps_the_files_lines_in_tracebacks() -> None:
    notebook = parse(PYTHON.replace("y = x + 1", "y = 1 / 0").encode(), ".py")
    assert notebook is not None
    code = Compiler().compile(notebook, notebook.cells[1], "/f.py")
    with pytest.raises(ZeroDivisionError) as raised:
        exec(code.body, {})
    last = raised.traceback[-1]
    assert (str(last.path), last.lineno + 1) == ("/f.py", 10)


def test_the_last_expression_is_a_value_and_futures_hold_for_later_cells() -> None:
    first, second = "from __future__ import annotations", "def f(a: nope): pass\nf"
    text = f"# Databricks notebook source\n{first}\n\n# COMMAND ----------\n\n{second}\n"
    notebook = parse(text.encode(), ".py")
    assert notebook is not None
    compiler, names = Compiler(), dict[str, object]()
    for cell in notebook.cells:
        code = compiler.compile(notebook, cell, "/f.py")
        exec(code.body, names)
    assert code.last is not None and eval(code.last, names) is names["f"]


def test_run_names_a_notebook_with_arguments_with_or_without_its_extension(tmp_path: Path) -> None:
    run = parse_run_line('./set up/a $mode="x y" $n=1')
    assert parse_run_line('"./set up/a" $mode="x y"').arguments == {"mode": "x y"}
    assert run.arguments["n"] == "1"
    (tmp_path / "b.py").write_text("")
    assert find_notebook("./b", tmp_path) == (tmp_path / "b.py").resolve()
    assert find_notebook("/Workspace/b", Path("/"), tmp_path) == (tmp_path / "b.py").resolve()
    assert find_notebook("./c", tmp_path) is None


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("install -q -U tiny 'pandas>=2'  # why", ["tiny", "pandas>=2"]),
        ("install -r r.txt --requirement=./s.txt", ["-r r.txt", "-r ./s.txt"]),
        ("install -e . --no-deps --target /x -c c.txt", ["-e .", "-c c.txt"]),
        ("install --index-url=https://i/ -f ./w", ["--index-url https://i/", "--find-links ./w"]),
        ("install $wheel {wheel} ${wheel} $other", ["./a.whl", "./a.whl", "./a.whl", "$other"]),
        ("install", []),
        ("", []),
        ("list", None),
        ("install 'open", None),
    ],
)
def test_pip_lines_are_lines_of_a_requirements_file(line: str, lines: list[str] | None) -> None:
    assert requirement_lines(line, {"wheel": "./a.whl"}) == lines


@given(st.text(alphabet="# -MAGICOND\n%x'\"=", max_size=200))
def test_every_text_is_a_notebook_and_no_line_of_code_is_lost(text: str) -> None:
    notebook = parse(b"# Databricks notebook source\n" + text.encode(), ".py")
    assert notebook is not None
    kept = "\n".join(cell.source for cell in notebook.cells)
    for line in text.split("\n"):
        # The name of a magic becomes the cell's language.
        if line.strip() and not line.lstrip().startswith(("#", "%")):
            assert line.rstrip() in kept


@pytest.mark.parametrize(("suffix", "language"), [(".scala", "Scala"), (".r", "R")])
@pytest.mark.parametrize("named", [True, False])
def test_notebooks_in_other_languages_are_refused_by_name(
    tmp_path: Path, suffix: str, language: str, named: bool
) -> None:
    (tmp_path / f"n{suffix}").write_text("// Databricks notebook source\nval x = 1\n")
    with pytest.raises(ConfigurationError, match=f"a notebook in {language}") as refused:
        load_notebook(tmp_path / (f"n{suffix}" if named else "n"))
    assert refused.value.condition == "NOTEBOOK_INVALID"


ABOUT = (
    '{"cells": [], "metadata": {"application/vnd.databricks.v1+notebook": {"environmentMetadata": VALUE}}}'
)
WITHOUT_ENVIRONMENT = [
    (".py", "# /// script\n# [tool.databricks.environment\n# ///\n"),
    (".py", "# /// script\n# dependencies = ['x']\n# ///\n"),
    (".py", "# /// script\n# [tool.databricks.environment]\n# dependencies = ['x']\nx = 1\n"),
    (".py", "# MAGIC %environment\n# MAGIC : [\n"),
    (".py", '# MAGIC %environment\n# MAGIC "dependencies": null\n'),
    (".ipynb", ABOUT.replace("VALUE", "null")),
    (".ipynb", ABOUT.replace("VALUE", '{"dependencies": "x"}')),
]


@pytest.mark.parametrize(("suffix", "text"), WITHOUT_ENVIRONMENT)
def test_a_notebook_without_a_readable_environment_has_no_dependencies(suffix: str, text: str) -> None:
    head = "# Databricks notebook source\n" if suffix == ".py" else ""
    notebook = parse(f"{head}{text}".encode(), suffix)
    assert notebook is not None and notebook.dependencies == ()


def test_a_sql_notebook_has_an_environment() -> None:
    text = """\
        -- Databricks notebook source
        -- /// script
        -- [tool.databricks.environment]
        -- dependencies = [
        --   "tiny",
        -- ]
        -- ///
        SELECT 1
        """
    notebook = parse(textwrap.dedent(text).encode(), ".sql")
    assert notebook is not None and notebook.dependencies == ("tiny",)
