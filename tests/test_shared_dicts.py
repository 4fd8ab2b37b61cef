"""Dictionaries that other threads change are copied with `copy()`: `list(d.items())` can fail."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src" / "lakeward"
SHARED = ("sys.modules", "vars(", "__dict__")


def listed_items(text: str) -> Iterator[str]:
    """Yield each `list(d.items())` of a shared dictionary, and each loop over its items without a copy."""
    for node in ast.walk(ast.parse(text)):
        iterated: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("list", "sorted", "tuple"):
            iterated = node.args[:1]
        elif isinstance(node, ast.For | ast.comprehension):
            iterated = [node.iter]
        for each in map(ast.unparse, iterated):
            owner, _, method = each.rpartition(".")
            if method == "items()" and owner.startswith(SHARED) and not owner.endswith(".copy()"):
                yield each


def test_the_rule_finds_both_forms() -> None:
    text = "list(sys.modules.items())\nfor a, b in vars(c).items(): pass\nlist(sys.modules.copy().items())"
    assert sorted(listed_items(text)) == ["sys.modules.items()", "vars(c).items()"]


def test_shared_dictionaries_are_copied() -> None:
    """Allocating the pairs can collect garbage, and finalizers, as those of Py4J, let other threads run."""
    found = {
        path.relative_to(SOURCES).as_posix(): listed
        for path in sorted(SOURCES.rglob("*.py"))
        if (listed := list(listed_items(path.read_text(encoding="utf-8"))))
    }
    assert found == {}
