"""Packages whose public names are imported on first access."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["bundle", "environments", "jobs", "session", "workspace"])
def test_every_public_name_of_a_lazy_package_can_be_imported(name: str) -> None:
    package = importlib.import_module(f"lakeward.{name}")
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.ImportFrom)]
    names = [
        alias.asname or alias.name
        for each in imports
        if str(each.module).startswith(f"lakeward.{name}.")
        for alias in each.names
    ]
    assert names
    for each in names:
        assert getattr(package, each) is not None


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        importlib.import_module("lakeward.bundle").nothing  # noqa: B018  # the access is the test
