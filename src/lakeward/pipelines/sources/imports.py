"""The modules that source files reach by import statements, their own and those of what they import."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

# With one of these, a file may import what no statement names.
_DYNAMIC = {"importlib", "import_module", "__import__", "pkgutil", "runpy", "modules"}


def reached_modules(sources: Iterable[Path], candidates: dict[str, Path]) -> set[str]:
    """Return those of `candidates`, loaded modules and their files, that `sources` reach.

    Every candidate is reached if one of the files imports dynamically or is not plain Python.
    """
    waiting: list[tuple[Path, str]] = [(source, "") for source in sources if source.suffix != ".sql"]
    reached: set[str] = set()
    while waiting:
        file, package = waiting.pop()
        names = _imported_names(file, package)
        if names is None:
            return set(candidates)
        for name in names & candidates.keys() - reached:
            reached.add(name)
            waiting.append((candidates[name], _package_of(name)))
    return reached


def _package_of(name: str) -> str:
    return str(getattr(sys.modules.get(name), "__package__", None) or "")


def _imported_names(file: Path, package: str) -> set[str] | None:
    """Return the names of modules that `file` may import, with their parents; None if they are unknown."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return None
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_name(node, package)
            found.update({base, *(f"{base}.{alias.name}" for alias in node.names)})
        elif (isinstance(node, ast.Name) and node.id in _DYNAMIC) or (
            isinstance(node, ast.Attribute) and node.attr in _DYNAMIC
        ):
            return None
    names = {parent for name in found for parent in _with_parents(name)}
    return None if names & _DYNAMIC else names


def _absolute_name(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - node.level + 1])
    return f"{base}.{node.module}" if node.module else base


def _with_parents(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]
