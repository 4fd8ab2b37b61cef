"""Docstrings: their examples are executed, and those of constants follow the constant."""

from __future__ import annotations

import ast
import doctest
import importlib
import itertools
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
MODULES = [
    ".".join(file.relative_to(SOURCES).with_suffix("").parts)
    for file in sorted(SOURCES.rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings_are_true(module: str) -> None:
    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted and not results.failed


def _misplaced_texts(body: list[ast.stmt]) -> list[int]:
    """Return the lines of texts that neither begin the body nor directly follow an assignment."""
    lines = []
    for before, text in itertools.pairwise(body):
        is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if is_text and text.value.value is not ...:  # type: ignore[attr-defined]  # a constant, as above
            follows = before.end_lineno == text.lineno - 1
            lines += [] if follows and isinstance(before, ast.Assign | ast.AnnAssign) else [text.lineno]
    return lines


def test_the_docstring_of_a_constant_follows_it() -> None:
    found = {
        f"{file.relative_to(SOURCES)}:{line}"
        for file in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Module | ast.ClassDef)
        for line in _misplaced_texts(node.body)
    }
    assert found == set()
