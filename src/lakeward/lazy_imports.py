"""Lazy attributes for packages: a public name is imported from its module on first access."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any


def lazy_exports(package: str, file: str) -> Callable[[str], Any]:
    """Return a module `__getattr__` for `package` that imports the names of its `if TYPE_CHECKING:` block.

    The block is the only list of the public names: type checkers read it as imports, and this function reads
    it from `file`, the package's source, on first access. Raises AttributeError for any other name.
    """

    @cache
    def exports() -> Mapping[str, tuple[str, str]]:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        blocks = [node for node in tree.body if isinstance(node, ast.If)]
        imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
        return {
            alias.asname or alias.name: (str(node.module), alias.name)
            for node in imports
            if str(node.module).startswith(f"{package}.")
            for alias in node.names
        }

    def import_attribute(name: str) -> Any:
        if name.startswith("__") or name not in exports():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = exports()[name]
        return getattr(importlib.import_module(module), attribute)

    return import_attribute
