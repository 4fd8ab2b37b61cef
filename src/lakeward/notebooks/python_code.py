"""Python cells as code objects that keep the user's file and lines, with line magics as calls."""

from __future__ import annotations
import __future__

import ast
import linecache
from dataclasses import dataclass
from types import CodeType

from lakeward.notebooks.cells import Cell, Notebook, line_magics

__all__ = ["MAGIC", "Compiled", "Compiler"]

MAGIC = "__lakeward_magic__"
"""The name that a cell calls for a magic on a line of its own, with the magic's name and text."""

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


@dataclass(frozen=True)
class Compiled:
    """A cell's code; `last` is its last expression by itself, whose value a notebook shows."""

    body: CodeType
    last: CodeType | None


class Compiler:
    """Compiles the cells of one namespace: `from __future__ import …` holds for the cells that follow."""

    def __init__(self) -> None:
        self._flags = 0

    def compile(self, notebook: Notebook, cell: Cell, file: str) -> Compiled:
        """The code of a Python cell. Raises SyntaxError with the user's file and line."""
        name = notebook.file_of(cell, file)
        source = _with_calls(cell.source)
        if cell.is_magic or source.startswith(" "):
            # What stands behind `%python` on its line.
            first, _, rest = source.partition("\n")
            source = f"{first.strip()}\n{rest}"
        source = "\n" * (cell.line - 1) + source
        if notebook.form == "ipynb":
            lines = [f"{line}\n" for line in source.split("\n")]
            linecache.cache[name] = (len(source), None, lines, name)
        tree = ast.parse(source, name)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
            expression = tree.body.pop()
            assert isinstance(expression, ast.Expr)
            last = self._code(ast.Expression(expression.value), name, "eval")
        return Compiled(self._code(tree, name, "exec"), last)

    def _code(self, tree: ast.Module | ast.Expression, name: str, mode: str) -> CodeType:
        code: CodeType = compile(tree, name, mode, self._flags, dont_inherit=True)
        self._flags |= code.co_flags & _FUTURE
        return code


def _with_calls(source: str) -> str:
    lines = source.split("\n")
    for magic in line_magics(source):
        if magic.name != "python":
            lines[magic.line - 1] = f"{magic.indent}{MAGIC}({magic.name!r}, {magic.text!r})"
        else:
            lines[magic.line - 1] = magic.indent + magic.text
    return "\n".join(lines)
