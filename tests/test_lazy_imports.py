"""Packages whose public names are imported on first access."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path

import pytest

from tests.processes import outcome


@pytest.mark.parametrize("name", ["bundle", "environments", "jobs", "session", "sql", "workspace"])
def test_every_public_name_of_a_lazy_package_can_be_imported(name: str) -> None:
    package = importlib.import_module(f"lakeward.{name}")
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    blocks = [tree, *(each for each in tree.body if isinstance(each, ast.If))]
    imports = [each for block in blocks for each in block.body if isinstance(each, ast.ImportFrom)]
    names = [
        alias.asname or alias.name
        for each in imports
        if str(each.module).startswith(f"lakeward.{name}.")
        for alias in each.names
    ]
    assert names
    for each in names:
        assert getattr(package, each) is not None


def test_a_task_in_python_loads_no_sql_constructs() -> None:
    script = (
        "import sys, lakeward.jobs.task_worker\n"
        "print(*(name for name in sys.modules if name.startswith('lakeward.sql.constructs')))"
    )
    assert outcome([sys.executable, "-c", script]).stdout.strip() == ""


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        importlib.import_module("lakeward.bundle").nothing  # noqa: B018  # the access is the test
