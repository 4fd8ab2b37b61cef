"""Every public name of a package with lazy imports is there, under the name that the package gives it."""

from __future__ import annotations

import ast
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


def public_names(package: str) -> list[str]:
    file = Path(importlib.import_module(package).__file__ or "")
    blocks = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    own = [node for node in imports if str(node.module).startswith(package)]
    return [alias.asname or alias.name for node in own for alias in node.names]


@pytest.mark.parametrize("package", LAZY)
def test_every_public_name_is_an_attribute(package: str) -> None:
    module = importlib.import_module(package)
    names = public_names(package)
    assert names
    assert [name for name in names if getattr(module, name, None) is None] == []


def test_a_name_with_an_alias_is_the_attribute_of_its_module() -> None:
    from lakeward.bundle import summary_lines
    from lakeward.bundle.summary import as_lines

    assert LAZY
    assert summary_lines is as_lines
