"""A failed test, and a file that cannot be imported, say what explains the error, as commands do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.processes import environ_without, outcome
from tests.trees import write_files

pytestmark = pytest.mark.process

_ERRORS = {
    "a missing package": ("import no_such_package", "`--with PACKAGE`"),
    "a usual name": ('F.col("id")', "Import it: `from pyspark.sql import functions as F`."),
    "a missing catalog": (
        "raise ValueError(\"[NO_SUCH_CATALOG_EXCEPTION] Catalog 'shop' was not found.\")",
        "`lakeward test --catalog shop`",
    ),
}


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options]
    return outcome(command, cwd=folder, env=environ_without("LAKEWARD_", "PYTEST", "DATABRICKS_"))


@pytest.mark.parametrize("place", ["file", "test", "unittest", "fixture", "conftest.py of a folder"])
@pytest.mark.parametrize("error", _ERRORS)
def test_an_error_has_its_hint(tmp_path: Path, error: str, place: str) -> None:
    line, hint = _ERRORS[error]
    files = {
        "file": {"test_a.py": f"{line}\ndef test(): ...\n"},
        "test": {"test_a.py": f"def test():\n    {line}\n"},
        "unittest": {
            "test_a.py": f"from unittest import TestCase\nclass T(TestCase):\n    def test(self): {line}\n"
        },
        "fixture": {"test_a.py": f"import pytest\n@pytest.fixture\ndef f():\n    {line}\ndef test(f): ...\n"},
        "conftest.py of a folder": {"inner/conftest.py": f"{line}\n", "inner/test_a.py": "def test(): ...\n"},
    }[place]
    write_files(tmp_path, files)
    ran = run(tmp_path)
    assert ran.returncode in (1, 2)
    assert "INTERNALERROR" not in ran.stdout
    assert " lakeward -" in ran.stdout and hint in ran.stdout, ran.stdout


def test_an_error_that_nothing_explains_has_no_section_and_imports_no_spark(tmp_path: Path) -> None:
    code = "import sys\ndef test_a(): assert 1 == 2\ndef test_b(): assert 'pyspark' not in sys.modules\n"
    write_files(tmp_path, {"test_a.py": code})
    ran = run(tmp_path)
    assert "1 failed, 1 passed" in ran.stdout
    assert " lakeward -" not in ran.stdout


@pytest.mark.parametrize("module", ["pieces/__init__.py", "pieces/rules.py", "pieces.py"])
def test_a_module_of_a_project_in_the_repository_names_its_folder(tmp_path: Path, module: str) -> None:
    name = "pieces.rules" if "rules" in module else "pieces"
    files = {f"labs/one/{module}": "", "labs/one/tests/test_a.py": f"import {name}\ndef test(): ...\n"}
    write_files(tmp_path, {**files, "pyproject.toml": ""})
    ran = run(tmp_path, "--rootdir", str(tmp_path))
    assert (
        "`pieces` is in the folder labs/one: run its tests there, `cd labs/one && lakeward test`."
        in ran.stdout
    )
    assert run(tmp_path / "labs/one").returncode == 0
