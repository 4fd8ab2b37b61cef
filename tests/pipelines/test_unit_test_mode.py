"""Dataset functions in plain unit tests: `import dlt` works, decorated functions return DataFrames."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import environ_without, outcome

pytestmark = pytest.mark.process

MODULE = """\
import dlt
from pyspark import pipelines as dp

dlt.enable_local_execution()
dlt.create_streaming_table("orders", comment="a table", path="/ignored")
dlt.apply_changes(target="orders", source="raw", keys=["id"], sequence_by="ts")

@dlt.table(name="silver", comment="clean", table_properties={"quality": "silver"})
@dlt.expect_or_drop("positive", "id > 0")
@dlt.expect_all({"a": "b"})
def silver():
    return "the frame"

@dp.materialized_view
@dp.expect("x", "y")
def gold():
    return silver() + " of gold"

@dlt.append_flow(target="orders")
def more():
    return dlt.read("raw")

@dlt.on_event_hook
def hook(event):
    return event
"""
TESTS = """\
from unittest.mock import patch

from datasets import gold, hook, more, silver


def test_functions_stay_functions():
    assert silver() == "the frame"
    assert gold() == "the frame of gold"
    assert hook(1) == 1
    assert silver.__name__ == "silver"


def test_reads_can_be_replaced():
    with patch("datasets.dlt.read", return_value="rows") as read:
        assert more() == "rows"
    read.assert_called_once_with("raw")


def test_no_jvm_was_needed():
    from pyspark import SparkContext
    assert SparkContext._gateway is None
"""
MOCKED = """\
import sys
from unittest.mock import MagicMock

sys.modules["dlt"] = MagicMock()
"""
USES_MOCK = """\
import dlt

def test_it_is_theirs():
    assert type(dlt).__name__ == "MagicMock"
"""
OTHER = """\
import dlt

def test_it_is_the_installed_one():
    assert dlt.pipeline("p") == "p"
    assert not hasattr(dlt, "table")
"""


def run_tests(folder: Path, **files: str) -> subprocess.CompletedProcess[str]:
    for name, text in {**files, "pytest.ini": "[pytest]\n"}.items():
        (folder / name.replace("__", ".")).write_text(text)
    environ = environ_without("PYTEST")
    environ["PYTHONPATH"] = os.pathsep.join([environ.get("PYTHONPATH", ""), str(folder / "installed")])
    return outcome(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], cwd=folder, env=environ, timeout=120
    )


def test_decorated_functions_of_a_module_are_tested_as_they_are(tmp_path: Path) -> None:
    ran = run_tests(tmp_path, datasets__py=MODULE, test_datasets__py=TESTS)
    assert "3 passed" in ran.stdout, ran.stdout + ran.stderr


def test_a_mock_that_a_conftest_puts_in_place_stays(tmp_path: Path) -> None:
    ran = run_tests(tmp_path, conftest__py=MOCKED, test_mock__py=USES_MOCK)
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


def test_another_installed_dlt_comes_first(tmp_path: Path) -> None:
    (tmp_path / "installed" / "dlt").mkdir(parents=True)
    (tmp_path / "installed" / "dlt" / "__init__.py").write_text("def pipeline(name):\n    return name\n")
    ran = run_tests(tmp_path, test_other__py=OTHER)
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


def test_a_folder_of_sources_named_dlt_does_not_hide_it(tmp_path: Path) -> None:
    (tmp_path / "dlt").mkdir()
    (tmp_path / "dlt" / "rules.py").write_text("LIMIT = 3\n")
    test = "import dlt\nfrom dlt.rules import LIMIT\n\ndef test_it():\n    assert dlt.table and LIMIT == 3\n"
    ran = run_tests(tmp_path, test_folder__py=test)
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


def test_outside_of_tests_a_declaration_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lakeward.errors import PipelineError
    from lakeward.pipelines.api import signatures
    from lakeward.pipelines.api.modules import API

    monkeypatch.setattr(signatures, "_unit_tests_enabled", False)
    with pytest.raises(PipelineError, match="GRAPH_ELEMENT_DEFINED_OUTSIDE_OF_DECLARATIVE_PIPELINE"):
        API["table"](lambda: None)
