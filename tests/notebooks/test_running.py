"""Notebooks run as on the platform: languages, widgets, other notebooks, errors, and the written outcome."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

from lakeward.notebooks import load_notebook, write
from lakeward.notebooks.cell_errors import explain_error
from tests.notebooks.conftest import Desk, text_of

MANY = """\
    # Databricks notebook source
    # MAGIC %md
    # MAGIC # A *title*

    # COMMAND ----------

    # MAGIC %run ./helpers/setup $mode="fast"

    # COMMAND ----------

    dbutils.widgets.text("limit", "2")
    print(MODE, greet("you"))

    # COMMAND ----------

    # MAGIC %sql
    # MAGIC CREATE WIDGET DROPDOWN kind DEFAULT 'b' CHOICES SELECT * FROM VALUES ('a'), ('b');
    # MAGIC SELECT '$kind' AS k, '${kind}' AS l, :kind AS m, getArgument('limit') AS n, id
    # MAGIC   FROM range(5) WHERE id < ${limit}

    # COMMAND ----------

    assert _sqldf.count() == int(dbutils.widgets.get("limit"))
    _sqldf.select("id", "m")
    display(_sqldf)
    len("abc")

    # COMMAND ----------

    # MAGIC %fs ls /databricks-datasets-none-here

    # COMMAND ----------

    # MAGIC %sql SELECT 1
"""


def test_cells_of_all_languages_share_one_namespace_and_the_widgets_values(desk: Desk) -> None:
    desk.file(
        "helpers/setup.py",
        """\
        # Databricks notebook source
        MODE = dbutils.widgets.get("mode")

        # COMMAND ----------

        def greet(name):
            return f"hello {name}"
        """,
    )
    notebook = desk.file("many.py", MANY)
    finished = desk.run(notebook, parameters={"limit": "3"})
    assert "fast hello you" in text_of(finished, 3)
    assert text_of(finished, 4).splitlines()[2].split() == ["b", "b", "b", "3", "0"]
    assert "3" in text_of(finished, 5)
    assert finished.state == "FAILED" and finished.error is not None
    assert finished.error.cell == 6 and [cell.state for cell in finished.cells][-2:] == ["FAILED", "SKIPPED"]

    written = write(finished, desk.folder / "out")
    outcome = json.loads(Path(written.files["ipynb"]).read_text())
    assert [cell["cell_type"] for cell in outcome["cells"][:2]] == ["markdown", "code"]
    assert outcome["cells"][3]["outputs"][0]["data"]["text/html"].startswith("<table>")
    page = Path(written.files["html"]).read_text()
    assert "<em>title</em>" in page and "hello you" in page and page.count("<section") == 7


MIXED = {
    "mixed.py": """\
        # Databricks notebook source
        print(1)

        # COMMAND ----------

        # MAGIC %sql
        # MAGIC SELECT 1 AS a,
        # MAGIC   2 AS b

        # COMMAND ----------

        # MAGIC %sql SELECT 3

        # COMMAND ----------

        # MAGIC %fs ls /
        """,
    "plain.sql": """\
        -- Databricks notebook source
        SELECT 1

        -- COMMAND ----------

        -- MAGIC %python
        -- MAGIC print(2)
        """,
}


MAGICS = {"mixed.py": [None, "%sql", "%sql", "%fs"], "plain.sql": ["%sql", None]}


@pytest.mark.parametrize("name", MIXED)
def test_the_outcome_keeps_the_language_of_every_cell(desk: Desk, name: str) -> None:
    finished = desk.done(desk.file(name, MIXED[name]))
    written = Path(write(finished, desk.folder / "out").files["ipynb"])
    sources = ["".join(cell["source"]).split() for cell in json.loads(written.read_text())["cells"]]
    found = [[word for word in words if word.startswith("%") and word != "%python"] for words in sources]
    assert found == [[magic] if magic else [] for magic in MAGICS[name]]
    _, again = load_notebook(written)
    assert [each.language for each in again.cells] == [each.language for each in finished.cells]


def test_data_frames_display_themselves(desk: Desk) -> None:
    notebook = desk.file("shown.py", "spark.range(2).display()\nspark.range(1).display()\n")
    finished = desk.done(notebook)
    assert text_of(finished, 1).split() == ["id", "--", "0", "1", "id", "--", "0"]
    page = Path(write(finished, desk.folder / "out").files["html"]).read_text()
    assert page.count("<table>") == 2


@pytest.mark.parametrize(
    "cell",
    [
        "display(stream.orderBy('id'))",
        "stream.orderBy('id').display()",
        "%sql\nSELECT * FROM numbers ORDER BY id",
    ],
)
def test_a_displayed_stream_without_an_aggregation_has_the_error_of_append_mode(
    desk: Desk, cell: str
) -> None:
    magic = "\n".join(f"# MAGIC {line}" for line in cell.splitlines()) if cell.startswith("%") else cell
    source = (
        "stream = spark.readStream.format('rate').load().withColumnRenamed('value', 'id')\n"
        "stream.createOrReplaceTempView('numbers')\n\n# COMMAND ----------\n\n"
    )
    path = desk.file("sorted.py", "")
    path.write_text(f"# Databricks notebook source\n{source}{magic}\n")
    finished = desk.run(path)
    assert finished.state == "FAILED"
    assert "Sorting is not supported on streaming DataFrames" in str(finished.error)


def test_another_notebook_gets_arguments_and_gives_its_exit_value(desk: Desk) -> None:
    desk.file(
        "child.sql",
        """\
        -- Databricks notebook source
        CREATE OR REPLACE GLOBAL TEMPORARY VIEW from_child AS SELECT :who AS who

        -- COMMAND ----------

        -- MAGIC %python
        -- MAGIC dbutils.notebook.exit(dbutils.widgets.get("who"))

        -- COMMAND ----------

        SELECT nothing_comes_here
        """,
    )
    notebook = desk.file(
        "parent.py",
        """\
        # Databricks notebook source
        value = dbutils.notebook.run("./child", 60, {"who": "me"})

        # COMMAND ----------

        seen = spark.table("global_temp.from_child").first()["who"]
        dbutils.notebook.exit(f"{value} {seen}")
        """,
    )
    finished = desk.done(notebook)
    assert finished.exit_value == "me me"
    assert finished.children[0].exit_value == "me"


@pytest.mark.parametrize("runs", ["[child(who) for who in names]", "list(Pool(3).map(child, names))"])
def test_notebooks_that_run_others_share_neither_session_nor_output(desk: Desk, runs: str) -> None:
    before, active = Path.cwd(), SparkSession._activeSession
    desk.file(
        "reader.py",
        """\
        import threading
        from pyspark.sql import SparkSession

        all_have_started = threading.Barrier(3)

        def rows(spark):
            return spark.table("mine").first()["who"]

        def active():
            return rows(SparkSession.getActiveSession())

        def built():
            return rows(SparkSession.builder.getOrCreate())
        """,
    )
    desk.file(
        "children/child.py",
        """\
        # Databricks notebook source
        import reader

        dbutils.widgets.text("wait", "no")
        who = dbutils.widgets.get("who")
        spark.createDataFrame([(who,)], "who string").createOrReplaceTempView("mine")
        if dbutils.widgets.get("wait") == "yes":
            reader.all_have_started.wait(60)
        print(f"I am {who}")

        # COMMAND ----------

        dbutils.notebook.exit(f"{who} {reader.active()} {reader.built()}")
        """,
    )
    notebook = desk.file(
        "parent.py",
        f"""\
        # Databricks notebook source
        from concurrent.futures import ThreadPoolExecutor as Pool
        from pathlib import Path
        import reader

        names = ["a", "b", "c"]
        wait = "yes" if "Pool" in '{runs}' else "no"

        def child(who):
            return dbutils.notebook.run("./children/child", 60, {{"who": who, "wait": wait}})

        spark.sql("SELECT 'parent' AS who").createOrReplaceTempView("mine")
        found = {runs}
        folder = Path.cwd().name
        print("I am the parent")

        # COMMAND ----------

        dbutils.notebook.exit(f"{{found}} {{reader.active()}} {{reader.built()}} {{folder}}")
        """,
    )
    finished = desk.done(notebook)
    assert finished.exit_value == f"['a a a', 'b b b', 'c c c'] parent parent {desk.folder.name}"
    assert sorted(text_of(child, 1) for child in finished.children) == ["I am a\n", "I am b\n", "I am c\n"]
    assert text_of(finished, 1) == "I am the parent\n"
    assert Path.cwd() == before
    assert SparkSession._activeSession is active
    assert str(desk.folder) not in sys.path
    assert type(sys.stdout).__name__ != "_Tee"


HEAD = "# Databricks notebook source\n"
IN_SQL = "\n# COMMAND ----------\n\n# MAGIC %sql\n# MAGIC SELECT 1;\n# MAGIC SELECT\n# MAGIC   nope"


@pytest.mark.parametrize(
    ("text", "place", "condition"),
    [
        ("x = 1\n\n# COMMAND ----------\n\ny = x / 0\n", 6, "ZeroDivisionError"),
        ("x = (\n", 2, "SyntaxError"),
        (IN_SQL, 8, "UNRESOLVED_COLUMN"),
        ("# MAGIC %sh ls\n", 2, "SHELL_NOT_ALLOWED"),
        ("# MAGIC %scala\n# MAGIC val x = 1\n", 2, "MAGIC_NOT_SUPPORTED"),
        ("# MAGIC %run ./none\n", 2, "NOTEBOOK_NOT_FOUND"),
        ("# MAGIC %pip install ./no-such-thing.whl\n", 2, "PACKAGE_FILE_NOT_FOUND"),
    ],
)
def test_an_error_names_the_cell_and_the_users_line(
    desk: Desk, text: str, place: int, condition: str
) -> None:
    notebook = desk.file("wrong.py", HEAD + text)
    error = desk.run(notebook).error
    assert error is not None and error.condition.startswith(condition), error
    assert error.place == f"{notebook}:{place}"
    assert f"cell {error.cell}, " in str(error)


@pytest.mark.parametrize("call", ["# MAGIC %run {}", "dbutils.notebook.run('{}', 0)"])
@pytest.mark.parametrize(
    ("path", "advice"),
    [("./childd", "Did you mean"), ("zzz", "Paths are relative to"), ("/Workspace/x/y", "--mount")],
)
def test_a_notebook_that_is_missing_has_the_same_advice_for_both_ways_to_run_it(
    desk: Desk, call: str, path: str, advice: str
) -> None:
    desk.file("child.py", HEAD + "pass\n")
    error = desk.run(desk.file("parent.py", HEAD + call.format(path))).error
    assert error is not None and error.condition == "NOTEBOOK_NOT_FOUND"
    assert advice in str(error)


@pytest.mark.parametrize("line", ['y = f"{(}"', "y = (1", 'y = f"{1 +}"'])
def test_a_syntax_error_shows_the_line_of_the_notebook(desk: Desk, line: str) -> None:
    text = f"{HEAD}# MAGIC %md\n# MAGIC above\n\n# COMMAND ----------\n\nx = 1\n{line}\n"
    error = desk.run(desk.file("wrong.py", text)).error
    assert error is not None and error.condition == "SyntaxError"
    assert error.trace == (line,)


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'dlt'", name="dlt"),
        ImportError("cannot import name 'expect' from 'pyspark.pipelines'", name="pyspark.pipelines"),
        AttributeError("no attribute 'expect'", name="expect", obj=ModuleType("pyspark.pipelines")),
        PySparkRuntimeError(
            errorClass="GRAPH_ELEMENT_DEFINED_OUTSIDE_OF_DECLARATIVE_PIPELINE", messageParameters={}
        ),
    ],
)
@pytest.mark.parametrize("file", ["my tables.py", "my tables.ipynb", "my tables.ipynb#cell-4"])
def test_the_source_of_a_pipeline_names_the_command_that_runs_it(error: Exception, file: str) -> None:
    explained = explain_error(error, 1, file=f"/files/{file}", line=1, files=())
    assert explained.message.endswith(f"lakeward pipeline '/files/{file.partition('#')[0]}'")


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'dlt.x'", name="dlt.x"),
        ImportError("cannot import name 'a' from 'pyspark'", name="pyspark"),
        AttributeError("no attribute 'a'", name="a", obj=ModuleType("pyspark")),
        AttributeError("no attribute 'a'"),
    ],
)
def test_other_names_that_are_missing_do_not_suggest_a_pipeline(error: Exception) -> None:
    explained = explain_error(error, 1, file="/files/a.py", line=1, files=())
    assert "lakeward pipeline" not in explained.message


def test_shell_cells_run_once_they_are_allowed(desk: Desk) -> None:
    notebook = desk.file("shell.py", "# Databricks notebook source\n# MAGIC %sh\n# MAGIC echo here $PWD\n")
    assert f"here {desk.folder}" in text_of(desk.done(notebook, allow_shell=True), 1)


def test_the_lines_of_a_shell_command_are_assigned_once_they_are_allowed(desk: Desk) -> None:
    code = "words = !printf 'a\\nb'\nif words:\n    more = !echo c\nprint(words + more)\n"
    notebook = desk.file("shell.py", f"# Databricks notebook source\n{code}")
    error = desk.run(notebook).error
    assert error is not None and error.condition == "SHELL_NOT_ALLOWED"
    assert "['a', 'b', 'c']" in text_of(desk.done(notebook, allow_shell=True), 1)


WORKING = """\
# Databricks notebook source
# MAGIC %%writefile made.py
# MAGIC x = 1
# MAGIC
# MAGIC y = "%sql"

# COMMAND ----------

# MAGIC %%writefile -a made.py
# MAGIC z = 3

# COMMAND ----------

import made
%pwd

# COMMAND ----------

# MAGIC %pwd

# COMMAND ----------

folder = "inner"
dbutils.fs.mkdirs(f"file:{made.__file__}".replace("made.py", folder))
%cd inner

# COMMAND ----------

# MAGIC %%writefile "other file.txt"
# MAGIC text

# COMMAND ----------

# MAGIC %ls

# COMMAND ----------

# MAGIC %who
"""


def test_files_and_folders_of_a_notebook_are_those_of_ipython(desk: Desk) -> None:
    finished = desk.done(desk.file("working.py", WORKING))
    assert text_of(finished, 1) == "Writing made.py\n"
    assert text_of(finished, 2) == "Appending to made.py\n"
    assert (desk.folder / "made.py").read_text() == 'x = 1\n\ny = "%sql"\nz = 3\n'
    assert text_of(finished, 3) == text_of(finished, 4) == repr(str(desk.folder))
    assert text_of(finished, 5) == f"{desk.folder}/inner\n"
    assert text_of(finished, 7) == "other file.txt\n"
    assert text_of(finished, 8) == "folder  made\n"


@pytest.mark.parametrize("magic", ["%%file", "%file", "%%writefile", "%writefile"])
def test_a_file_is_written_by_each_name_of_the_magic(desk: Desk, magic: str) -> None:
    desk.done(
        desk.file(
            "made.py", f"# Databricks notebook source\n# MAGIC {magic} made.txt\n# MAGIC a\n# MAGIC b\n"
        )
    )
    assert (desk.folder / "made.txt").read_text() == "a\nb\n"


def test_a_file_to_write_needs_a_name(desk: Desk) -> None:
    error = desk.run(
        desk.file("unnamed.py", "# Databricks notebook source\n# MAGIC %%writefile\n# MAGIC x\n")
    )
    assert error.error is not None and error.error.condition == "MAGIC_INVALID"


def test_an_ipynb_runs_with_magics_between_its_lines(desk: Desk) -> None:
    cells = [
        "%pip install pandas\nimport pandas as pd\nframe = pd.DataFrame({'a': [1]})\nframe",
        "%sql\nSELECT 7 AS seven",
        "dbutils.notebook.exit(str(_sqldf.first()['seven']))",
    ]
    notebook = desk.folder / "nb.ipynb"
    notebook.write_text(
        json.dumps({"metadata": {}, "cells": [{"cell_type": "code", "source": cell} for cell in cells]})
    )
    finished = desk.done(notebook)
    assert finished.exit_value == "7"
    assert "<table" in finished.cells[0].outputs[0]["data"]["text/html"]


def test_functions_of_a_module_next_to_the_notebook_run_in_workers(desk: Desk) -> None:
    desk.file("sibling.py", "def twice(x):\n    return x * 2\n")
    notebook = desk.file(
        "workers.py",
        """\
        # Databricks notebook source
        from sibling import twice
        spark.udf.register("twice", twice, "long")

        # COMMAND ----------

        # MAGIC %sql SELECT sum(twice(id)) AS total FROM range(4)

        # COMMAND ----------

        dbutils.notebook.exit(_sqldf.first()["total"])
        """,
    )
    assert desk.done(notebook).exit_value == "12"


def test_the_builtins_of_a_notebook_are_a_module(desk: Desk) -> None:
    """`__builtins__.sum` is Python's after a star import, also in a notebook that %run includes."""
    desk.file(
        "helper.py",
        """\
        # Databricks notebook source
        from pyspark.sql.functions import *
        def total(values):
            return __builtins__.sum(values)
    """,
    )
    notebook = desk.file("main.py", """\
        # Databricks notebook source
        # MAGIC %run ./helper

        # COMMAND ----------

        dbutils.notebook.exit(str([total([1, 2]), __builtins__.max(1, 2)]))
    """)  # fmt: skip
    assert desk.done(notebook).exit_value == "[3, 2]"


CAPTURED = """\
# Databricks notebook source
# MAGIC %%capture
# MAGIC print("nowhere")
# MAGIC quiet = 1

# COMMAND ----------

# MAGIC %%capture kept --no-stderr
# MAGIC import sys
# MAGIC print("kept")
# MAGIC print("seen", file=sys.stderr)

# COMMAND ----------

print(quiet, repr(kept.stdout), repr(kept.stderr))
kept.show()
kept()
"""


def test_a_cell_whose_output_is_captured_prints_nothing(desk: Desk) -> None:
    """IPython's `%%capture [name] [--no-stdout] [--no-stderr]`."""
    finished = desk.done(desk.file("captured.py", CAPTURED))
    assert text_of(finished, 1) == ""
    assert "kept" not in text_of(finished, 2)
    assert text_of(finished, 3) == "1 'kept\\n' ''\nkept\nkept\n"


@pytest.mark.parametrize("named", [True, False])
def test_the_names_of_streams_are_given_to_who_waits_for_them(
    desk: Desk, spark: SparkSession, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lakeward.notebooks.notebook_streams._SILENT_SECONDS", 1)
    name = ".queryName('endless')" if named else ""
    file = desk.file(
        "n.py",
        "# Databricks notebook source\n"
        "query = spark.readStream.format('rate').load()"
        f".writeStream.format('noop'){name}.start()\nprint(query.id)",
    )
    given: list[list[str]] = []

    def stop(names: list[str]) -> None:
        given.append(names)
        for query in spark.streams.active:
            query.stop()

    finished = desk.done(file, on_wait=stop)
    assert given == [["endless" if named else text_of(finished, 1).strip()]]


@pytest.mark.parametrize(
    "cell", ["# MAGIC %sql\n{sql}", "spark.sql({python}).display()"], ids=["sql", "python"]
)
def test_handlers_of_scripts_in_cells_know_the_error(desk: Desk, cell: str) -> None:
    lines = [
        "BEGIN",
        "  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN",
        "    DECLARE c STRING;",
        "    GET DIAGNOSTICS CONDITION 1 c = CONDITION_IDENTIFIER;",
        "    SELECT c;",
        "  END;",
        "  SELECT 1 / 0;",
        "END",
    ]
    sql = "\n".join(f"# MAGIC {line}" for line in lines)
    text = cell.format(sql=sql, python=repr("\n".join(lines)))
    finished = desk.done(desk.file("n.py", f"# Databricks notebook source\n{text}\n"))
    assert "DIVIDE_BY_ZERO" in text_of(finished, 1)
