"""The libraries of a pipeline name its source files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.trees import write_files

from lakeward.errors import ConfigurationError
from lakeward.jobs.pipeline_sources import sources


@pytest.fixture
def root(tmp_path: Path) -> Path:
    names = ("src/p/a.py", "src/p/deep/b.py", "src/other.py", "src/q.sql")
    return write_files(tmp_path, dict.fromkeys(names, ""))


@pytest.mark.parametrize(
    ("library", "expected"),
    [
        ({"glob": {"include": "src/p/**"}}, ["src/p"]),
        ({"glob": {"include": "src/p/*.py"}}, ["src/p/a.py"]),
        ({"glob": {"include": "src/**/*.py"}}, ["src/other.py", "src/p/a.py", "src/p/deep/b.py"]),
        ({"file": {"path": "src/other.py"}}, ["src/other.py"]),
        ({"notebook": {"path": "src/other"}}, ["src/other.py"]),
        ({"notebook": {"path": "src/q"}}, ["src/q.sql"]),
    ],
)
def test_a_library_becomes_files_or_a_folder(root: Path, library: Any, expected: list[str]) -> None:
    found = sources(root, "p", {"libraries": [library, library]})
    assert [path.relative_to(root).as_posix() for path in found] == expected


@pytest.mark.parametrize(
    ("libraries", "condition"),
    [
        ([], "PIPELINE_EMPTY"),
        ([{"glob": {"include": "nowhere/**"}}], "SOURCE_NOT_FOUND"),
        ([{"file": {"path": "src/missing.py"}}], "SOURCE_NOT_FOUND"),
    ],
)
def test_a_library_that_names_nothing_is_refused(root: Path, libraries: Any, condition: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        sources(root, "p", {"libraries": libraries})
    assert caught.value.condition == condition


@pytest.mark.parametrize(
    "connector",
    [
        {"ingestion_definition": {"connection_name": "sales"}},
        {"gateway_definition": {"connection_name": "sales"}, "libraries": []},
    ],
)
def test_a_pipeline_of_lakeflow_connect_is_refused_by_its_kind(root: Path, connector: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="Lakeflow Connect") as caught:
        sources(root, "p", connector)
    assert caught.value.condition == "PIPELINE_NOT_SUPPORTED"
    assert "lakeward seed" in str(caught.value.next_step)
