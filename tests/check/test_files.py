"""Repositories as they are found: notebooks, broken files, links in circles, nothing at all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lakeward.check import check, what_will_run
from lakeward.check.files import LARGEST
from tests.check.conftest import Look

NOTEBOOK = """\
# Databricks notebook source
# MAGIC %md
# MAGIC # Orders from /Volumes/x
# COMMAND ----------
# MAGIC %sql
# MAGIC SELECT *
# MAGIC   FROM main.raw.orders
# COMMAND ----------
# MAGIC %scala
# MAGIC val x = 1
# COMMAND ----------
df = spark.table("main.raw.items")
df.rdd
"""


def reasons(path: Path) -> dict[str, str]:
    return {str(each.place): each.reason for each in check(path, environ={}).unread}


def test_a_notebook_in_a_source_file_is_read_cell_by_cell(look: Look) -> None:
    found = look({"nb.py": NOTEBOOK})
    assert found.places("table main.raw.orders") == ["nb.py:7:16"]
    assert found.places("table main.raw.items") == ["nb.py:12:12"]
    assert found.places("DataFrame.rdd") == ["nb.py:13:4"]
    assert found.places("magic %scala") == ["nb.py:9:9"]


def test_a_notebook_of_cells_names_the_cell(look: Look) -> None:
    def code(*lines: str) -> dict[str, object]:
        return {"cell_type": "code", "source": [f"{line}\n" for line in lines]}

    cells = [
        code("%pip install x", "df = spark.table('a.b')"),
        {"cell_type": "markdown", "source": "dbutils.fs.ls"},
        code("%sql", "select * from c.d"),
        code("!ls", "df.rdd"),
        code("def broken(:"),
    ]
    found = look({"nb.ipynb": json.dumps({"cells": cells, "metadata": {}})})
    assert found.places("magic %pip") == ["nb.ipynb#1:1:1"]
    assert found.places("table a.b") == ["nb.ipynb#1:2:12"]
    assert found.places("table c.d") == ["nb.ipynb#3:2:15"]
    assert found.places("DataFrame.rdd") == ["nb.ipynb#4:2:4"]
    assert [str(each.place) for each in found.report.unread] == ["nb.ipynb#5:1:12"]


def test_sql_with_templates_is_read(look: Look) -> None:
    sql = "{% if x %} select * from {{ ref('m') }} join ${catalog}.raw.t {% endif %}; DENY SELECT ON t TO u"
    found = look({"q.sql": sql})
    assert found.of("needs_seed") == ["table {…}.raw.t"] and found.of("refused") == ["SQL DENY"]


@pytest.mark.parametrize(
    "template",
    [
        "{{ config(post_hook=\"optimize {{ this }} where a = 'x'\", tags=['t']) }}",
        "{{ config(post_hook='analyze table {{ this }}') }}",
        '{{ note("it\'s") }}',
        "{{ note('a \\' }} b') }}",
        "{% set hook = 'vacuum {% if x %} {{ this }}' %}",
        "{% raw %}{{ name({% endraw %}'{{ schema }}'{% raw %}) }}{% endraw %}",
        "{# it's a comment #}",
    ],
)
def test_quotes_in_templates_belong_to_the_template(look: Look, template: str) -> None:
    found = look({"q.sql": f"{template}\nselect * from a.b join {{{{ ref('m') }}}} where c = 'x'"})
    assert found.report.unread == () and found.places("table a.b") == ["q.sql:2:15"]


def test_what_cannot_be_read_is_reported_and_stops_nothing(look: Look, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "good.py": "import dlt\n",
        "syntax.py": "def f(:\n",
        "null.py": b"x = 1\0",
        "encoding.py": b"x = '\xff'\n",
        "encoding.sql": b"select '\xff'",
        "unclosed.sql": "select 'a",
        "nb.ipynb": "{}",
        "list.ipynb": "[]",
        "huge.sql": b"x" * (LARGEST + 1),
        "course.dbc": b"PK",
        "pyproject.toml": "[[[",
    }
    found = look(files)
    (tmp_path / "dead.py").symlink_to("/nowhere")
    os.mkfifo(tmp_path / "pipe.py")
    document = reasons(tmp_path)
    assert [finding.place.file for finding in found.report.findings] == ["good.py"]
    names = {place.partition(":")[0] for place in document}
    assert names == {*files, "dead.py", "pipe.py"} - {"good.py"}
    assert "data rather than source" in document["huge.sql"]
    assert "export them as source files" in document["course.dbc"]
    assert "syntax.py:1:7" in document and "invalid syntax" in document["syntax.py:1:7"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_without_permission_are_reported(look: Look, tmp_path: Path) -> None:
    look({"a.py": "import dlt\n"})
    (tmp_path / "a.py").chmod(0)
    assert "Permission denied" in reasons(tmp_path)["a.py"]


def test_links_that_lead_round_in_circles_are_followed_once(look: Look, tmp_path: Path) -> None:
    look({"src/a.py": "import dlt\n"})
    (tmp_path / "src" / "round").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "other").symlink_to(tmp_path / "src")
    report = check(tmp_path, environ={})
    assert report.files == {"python": 1} and len(report.findings) == 1


def test_what_tools_and_other_people_made_is_left_out(look: Look) -> None:
    folders = (".venv/lib", "node_modules/x", "src/__pycache__", "build/lib", ".git/x", "mine/lib")
    files: dict[str, str | bytes] = {f"{folder}/a.py": "import dlt\n" for folder in folders}
    assert look({**files, "mine/pyvenv.cfg": ""}).report.findings == ()


def test_an_empty_folder_has_nothing_to_run(tmp_path: Path) -> None:
    report = check(tmp_path, environ={})
    assert what_will_run(report) == "There is nothing here that lakeward could run."


def test_a_repository_without_anything_of_databricks_is_reported_as_such(look: Look) -> None:
    report = look({"a.py": "import os\nprint(os.getcwd())\n", "b.sql": "select 1"}).report
    assert what_will_run(report) == "Nothing of Databricks was found in 2 files: they run as they are."


def test_a_single_file_can_be_looked_at(look: Look, tmp_path: Path) -> None:
    look({"a.py": "import dlt\n", "b.py": "import dlt\n"})
    report = check(tmp_path / "a.py", environ={})
    assert [str(finding.place) for finding in report.findings] == ["a.py:1:1"]


def test_the_summary_counts_files_inputs_and_limits(look: Look) -> None:
    report = look(
        {
            "a.py": "import dlt\ndlt.no_such_flow('x')\n",
            "b.py": "spark.table('a.b').cache()\n",
            "c.py": "",
            "d.py": "(",
        }
    ).report
    assert what_will_run(report) == (
        "2 of 4 files will run; 1 uses something that is refused; 1 cannot be read; 1 input must be there "
        "first; 1 construct would fail on serverless compute."
    )


def test_the_environment_of_a_notebook_declares_packages(look: Look) -> None:
    script = '# /// script\n# [tool.databricks.environment]\n# dependencies = ["faker"]\n# ///\n'
    cell = '\n# COMMAND ----------\n# MAGIC %environment\n# MAGIC "dependencies": ["-r ./absent.txt"]\n'
    found = look({"nb.py": f"# Databricks notebook source\n{script}import faker\n{cell}"})
    (finding,) = found.report.findings
    assert finding.construct == "%pip" and "absent.txt" in finding.cure


@pytest.mark.parametrize(
    ("magic", "there"),
    [
        ("%pip install ./dist/shop-1.0-py3-none-any.whl", False),
        ("%pip install ./libs/shop-1.0-py3-none-any.whl", True),
        ("%pip install -r ../requirements.txt", False),
        ("%pip install -r /Workspace/Users/ann@b.c/shop/needs.txt", True),
        ('%pip install "/Workspace/Users/ann@b.c/shop"', False),
        ('%pip install -e "/Repos/ann@b.c/REPOSITORY"', True),
        ("%pip install /Workspace/Users/ann@b.c/shop/libs/*.whl", True),
        # What depends on the run or on the index is not judged.
        ("%pip install {path} $wheel requests /Volumes/main/default/v/x.whl", True),
    ],
)
def test_local_packages_of_pip_are_named_if_they_are_not_there(
    tmp_path: Path, magic: str, there: bool
) -> None:
    line = magic.replace("REPOSITORY", tmp_path.name)
    for name, text in {
        "libs/shop-1.0-py3-none-any.whl": "",
        "needs.txt": "requests\n",
        "pyproject.toml": "",
        "notes/load.py": f"# Databricks notebook source\n# MAGIC {line}\n",
        "notes/libs/shop-1.0-py3-none-any.whl": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = [each for each in check(tmp_path, environ={}).findings if each.construct == "%pip"]
    assert bool(found) is not there
    for each in found:
        assert "does not exist" in each.cure or "is not there" in each.cure
        assert each.place.file == "notes/load.py"


@pytest.mark.parametrize(
    "line", ["%sh pip install -r {}", "!pip3 install -r {}", "%sh\n# MAGIC python -m pip install -r {}"]
)
def test_a_shell_that_only_installs_packages_is_pip(look: Look, line: str) -> None:
    prefix = "" if line.startswith("!") else "# MAGIC "
    text = f"# Databricks notebook source\n{prefix}{line}\n"
    found = look({"a.py": text.format("./there.txt"), "there.txt": "", "b.py": text.format("./absent.txt")})
    assert [place.partition(":")[0] for place in found.places("magic %pip")] == ["a.py", "b.py"]
    assert not found.places("magic %sh")
    assert [each.place.file for each in found.report.findings if each.construct == "%pip"] == ["b.py"]
    assert look({"a.py": f"{text.format('./there.txt')}!ls\n"}).places("magic %sh")


@pytest.mark.parametrize("magic", ["%pip install numpy", "!ls", "%sql SELECT 1"])
@pytest.mark.parametrize("before", ["", "import os\n", "try:\n    import numpy\nexcept ImportError:\n    "])
def test_a_magic_in_a_file_that_is_no_notebook_is_named(tmp_path: Path, magic: str, before: str) -> None:
    (tmp_path / "plain.py").write_text(f"{before}{magic}\n")
    (tmp_path / "nb.py").write_text(f"# Databricks notebook source\n{before}{magic}\n")
    ((place, reason),) = reasons(tmp_path).items()
    assert place.startswith(f"plain.py:{before.count(chr(10)) + 1}:")
    name, *_ = magic.split()
    assert reason.startswith(f"{name} is a magic of notebooks") and "lakeward notebook" in reason


def test_other_broken_python_has_the_reason_of_python(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text("x = 5 %\n% 2\ny = (\n")
    assert set(reasons(tmp_path).values()) == {"Python cannot read it: invalid syntax"}
