"""`%pip install` and `dbutils.library.restartPython`: packages for one run, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.environments.index import use_folder_index
from tests.notebooks.conftest import Desk

HEAD = "# Databricks notebook source\n"
CELL = "\n\n# COMMAND ----------\n\n"


@pytest.fixture(scope="module", autouse=True)
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    patch = pytest.MonkeyPatch()
    folder = tmp_path_factory.mktemp("machine")
    use_folder_index(patch, folder, {("tiny", "1.0"): (), ("tiny", "1.1"): (), ("other", "1.0"): ()})
    yield folder
    patch.undo()


def notebook(desk: Desk, *cells: str) -> Path:
    return desk.file("n.py", HEAD + CELL.join(cells))


def test_packages_are_there_for_the_run_and_in_udfs_and_gone_afterwards(desk: Desk) -> None:
    udf = """\
from pyspark.sql.functions import udf
@udf("string")
def version(_):
    import tiny
    return tiny.__version__
assert spark.range(1).select(version("id")).first()[0] == "1.0"
"""
    text = notebook(
        desk,
        "# MAGIC %pip install tiny==1.0",
        "import tiny\nassert tiny.__version__ == '1.0'",
        "# MAGIC %pip install -q other",
        "import other, tiny\nassert tiny.__version__ == '1.0'",
        udf,
        "dbutils.notebook.exit('done')",
    )
    assert desk.done(text).exit_value == "done"
    assert find_spec("tiny") is None


def test_a_later_line_replaces_the_version_and_a_restart_shows_it(desk: Desk) -> None:
    text = notebook(
        desk,
        "# MAGIC %pip install tiny==1.0",
        "import tiny\nkept = 1",
        "version = '1.1'",
        "# MAGIC %pip install tiny==$version",
        "dbutils.library.restartPython()",
        "assert 'kept' not in globals()\nimport tiny\nassert tiny.__version__ == '1.1'\nspark, dbutils",
    )
    desk.done(text)


def test_files_and_included_notebooks_install_from_their_own_folder(desk: Desk) -> None:
    desk.file("lib/needs.txt", "tiny==1.1\n")
    desk.file("lib/setup.py", HEAD + "# MAGIC %pip install -r ./needs.txt\n")
    text = notebook(desk, "# MAGIC %run ./lib/setup", "import tiny\nassert tiny.__version__ == '1.1'")
    desk.done(text)


def test_a_package_that_no_index_has_is_named_with_the_cell(desk: Desk) -> None:
    text = notebook(desk, "x = 1", "# MAGIC %pip install absent==9")
    error = desk.run(text).error
    assert error is not None
    assert (error.condition, error.cell) == ("DEPENDENCY_NOT_FOUND", 2)
    assert "%pip install requests absent==9" in error.message
