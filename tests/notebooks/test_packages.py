"""`%pip install` and `dbutils.library.restartPython`: packages for one run, without a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest

from lakeward.errors import NotebookError
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


PIPS = (
    "pip",
    "pip3",
    "python -m pip",
    "python3 -m pip",
    "/databricks/python/bin/pip",
    "{{sys.executable}} -m pip",
)
SHELLS = {
    "!": "!{pip} install -q tiny==1.0",
    "! ": "! {pip} install 'tiny>=1.0,<1.1' --quiet  # with its version",
    "%sh line": "# MAGIC %sh {pip} install tiny==1.0",
    "%sh cell": "# MAGIC %sh -e\n# MAGIC # packages\n# MAGIC {pip} install other\n"
    '# MAGIC {pip} install "tiny==1.0"',
}


@pytest.mark.parametrize(("shell", "pip"), list(product(SHELLS, PIPS)))
def test_a_shell_that_only_installs_packages_needs_no_permission(desk: Desk, shell: str, pip: str) -> None:
    cell = SHELLS[shell].format(pip=pip.format())
    desk.done(notebook(desk, "import sys", cell, "import tiny\nassert tiny.__version__ == '1.0'"))
    assert find_spec("tiny") is None


PROGRAMS = {
    "pip": '"pip"',
    "pip3": '"pip3"',
    "python": '"python3", "-m", "pip"',
    "executable": 'sys.executable, "-m", "pip"',
    "platform": '"/databricks/python/bin/pip"',
}
PROCESSES = {
    "check_call": "subprocess.check_call([{program}, 'install', '-q', 'tiny==1.0'])",
    "run": "subprocess.run([{program}, 'install', 'tiny==1.0'], check=True, capture_output=True, text=True)",
    "popen": "subprocess.Popen([{program}, 'install', 'tiny==1.0'], stdout=subprocess.PIPE).communicate()",
    "shell": "subprocess.check_output(' '.join([{program}, 'install', 'tiny==1.0']), shell=True)",
    "system": "assert os.system(' '.join([{program}, 'install', 'tiny==1.0'])) == 0",
}


@pytest.mark.parametrize(("process", "program"), list(product(PROCESSES, PROGRAMS)))
def test_pip_in_a_process_installs_packages_of_the_run(desk: Desk, process: str, program: str) -> None:
    """lakeward's own environment, and those of the machine's other Pythons, stay as they are."""
    cell = PROCESSES[process].format(program=PROGRAMS[program])
    text = notebook(desk, "import os, subprocess, sys", cell, "import tiny\nassert tiny.__version__ == '1.0'")
    desk.done(text)
    assert find_spec("tiny") is None


FAILING = {
    "check_call": "try:\n    subprocess.check_call(['pip', 'install', 'absent==9'])\n"
    "except subprocess.CalledProcessError as error:\n    found = error.returncode\nassert found == 1",
    "run": "done = subprocess.run(['pip', 'install', 'absent==9'], capture_output=True, text=True)\n"
    "assert done.returncode == 1 and 'absent==9' in done.stderr",
    "system": "assert os.waitstatus_to_exitcode(os.system('pip install absent==9')) == 1",
}


@pytest.mark.parametrize("process", FAILING)
def test_pip_in_a_process_fails_as_a_process_does(desk: Desk, process: str) -> None:
    desk.done(notebook(desk, "import os, subprocess, sys", FAILING[process]))


def test_other_processes_run_as_they_are(desk: Desk) -> None:
    """Another environment's pip, other commands of pip, and processes whose text mentions pip."""
    cell = """\
for program in (["/nowhere/bin/pip"], ["/nowhere/bin/python", "-m", "pip"]):
    command = [*program, "install", "tiny"]
    try:
        subprocess.run(command)
    except FileNotFoundError:
        continue
    raise AssertionError(command)
assert subprocess.check_output(["echo", "pip install tiny"], text=True) == "pip install tiny\\n"
assert subprocess.check_output("echo pip install tiny", shell=True, text=True) == "pip install tiny\\n"
assert os.system("true && echo pip install tiny") == 0
import importlib.util
assert importlib.util.find_spec("tiny") is None
"""
    desk.done(notebook(desk, "import os, subprocess, sys", cell))


OTHERS = (
    *("pip install tiny; ls", "pip install tiny && ls", "pip install $(ls)", "pip install tiny > x"),
    *("pip install tiny | tee x", "pip list", "ls", "echo 'pip install tiny"),
)


@pytest.mark.parametrize("line", OTHERS)
@pytest.mark.parametrize(
    "shell", ["!{}", "# MAGIC %sh {}", "# MAGIC %sh\n# MAGIC pip install tiny\n# MAGIC {}"]
)
def test_other_commands_of_the_shell_need_it(desk: Desk, shell: str, line: str) -> None:
    error = desk.run(notebook(desk, shell.format(line))).error
    assert error is not None
    assert error.condition == "SHELL_NOT_ALLOWED"


def environment(form: str, *dependencies: str) -> str:
    """A notebook of one cell that declares `dependencies`, as exports of different age and form do."""
    listed = json.dumps(dependencies)
    code = "import tiny\ndbutils.notebook.exit(tiny.__version__)"
    if form == "ipynb":
        about = {"environmentMetadata": {"base_environment": "", "dependencies": list(dependencies)}}
        cells = [{"cell_type": "code", "source": code, "metadata": {}}]
        return json.dumps({"cells": cells, "metadata": {"application/vnd.databricks.v1+notebook": about}})
    if form == "script":
        table = f'# [tool.databricks.environment]\n# environment_version = "5"\n# dependencies = {listed}'
        return f"{HEAD}# /// script\n{table}\n# ///\n{code}\n"
    cell = '# MAGIC %environment\n# MAGIC "client": "1"\n# MAGIC "base_environment": ""'
    if form == "flow cell":
        return f'{HEAD}{code}{CELL}{cell}\n# MAGIC "dependencies": {listed}\n'
    lines = "".join(f"\n# MAGIC - {json.dumps(each)}" for each in dependencies)
    return f'{HEAD}{code}{CELL}{cell}\n# MAGIC "dependencies":{lines}\n'


FORMS = {"ipynb": ".ipynb", "script": ".py", "flow cell": ".py", "block cell": ".py"}


@pytest.mark.parametrize("form", FORMS)
def test_the_packages_of_the_notebooks_environment_are_installed_before_its_first_cell(
    desk: Desk, form: str
) -> None:
    desk.file("needs.txt", "other\n")
    text = environment(form, "tiny==1.0; python_version > '3'", "-r ./needs.txt")
    desk.file(f"n{FORMS[form]}", text)
    assert desk.done(desk.folder / f"n{FORMS[form]}").exit_value == "1.0"
    assert find_spec("tiny") is None


@pytest.mark.parametrize("line", ["--editable ..", "-e ..", "..", "-e=../../NAME"])
@pytest.mark.parametrize("layout", ["src", "."])
def test_the_project_of_the_notebook_is_imported_from_its_sources(desk: Desk, line: str, layout: str) -> None:
    desk.file("pyproject.toml", "[project]\nname = 'tiny'\nversion = '2.0'\n")
    desk.file(f"{layout}/tiny/__init__.py", "__version__ = '2.0'\n")
    desk.file("notes/n.py", environment("script", line.replace("NAME", desk.folder.name)))
    assert desk.done(desk.folder / "notes/n.py").exit_value == "2.0"


def test_an_environment_that_cannot_be_installed_fails_the_notebook(desk: Desk) -> None:
    desk.file("n.py", environment("script", "absent==9"))
    with pytest.raises(NotebookError, match="absent==9") as caught:
        desk.run(desk.folder / "n.py")
    assert caught.value.condition == "DEPENDENCY_NOT_FOUND"
