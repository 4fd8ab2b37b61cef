"""Every public name of a package with lazy imports is there, under the name that the package gives it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import lakeward

ROOT = Path(lakeward.__file__).parent
LAZY = [
    ".".join(("lakeward", *file.parent.relative_to(ROOT).parts))
    for file in sorted(ROOT.rglob("__init__.py"))
    if "lazy_exports(__name__" in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("package", LAZY)
def test_every_name_of_all_is_an_attribute(package: str) -> None:
    module = importlib.import_module(package)
    assert all(getattr(module, name) is not None for name in getattr(module, "__all__", ()))


def test_a_name_with_an_alias_is_the_attribute_of_its_module() -> None:
    from lakeward.bundle import summary_lines
    from lakeward.bundle.summary import as_lines

    assert LAZY
    assert summary_lines is as_lines
