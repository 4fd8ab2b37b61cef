"""Python cells as code objects that keep the user's file and lines, with line magics as calls."""

from __future__ import annotations
import __future__

import ast
import linecache
from dataclasses import dataclass
from types import CodeType

from lakeward.notebooks.ipython_syntax import LineMagic, python_text
from lakeward.notebooks.model import Cell, Notebook

MAGIC = "__lakeward_magic__"
"""The name that a cell calls for a magic on a line of its own, with the magic's name and text."""

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


@dataclass(frozen=True)
class Compiled:
    """The code of a cell; `last` is its last expression, whose value is displayed."""

    body: CodeType
    last: CodeType | None


class Compiler:
    """Compiles the cells of one namespace: `from __future__ import …` holds for the cells that follow."""

    def __init__(self) -> None:
        self._flags = 0

    def compile(self, notebook: Notebook, cell: Cell, file: str) -> Compiled:
        """Return the code of a Python cell. Raises SyntaxError with the user's file and line."""
        name = notebook.file_of(cell, file)
        source = python_text(cell.source, _call)
        if notebook.form == "ipynb":
            lines = [f"{line}\n" for line in source.split("\n")]
            linecache.cache[name] = (len(source), None, lines, name)
        tree = _parse(source, name, cell.line - 1)
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


def _parse(source: str, name: str, lines: int) -> ast.Module:
    """Parse a cell that has `lines` lines of its file before it."""
    try:
        tree = ast.parse(source, name)
    except SyntaxError as error:
        error.lineno = (error.lineno or 1) + lines
        if error.end_lineno is not None:
            error.end_lineno += lines
        raise
    return ast.increment_lineno(tree, lines) if lines else tree


def _call(magic: LineMagic) -> str:
    call = f"{MAGIC}({magic.name!r}, {magic.text!r})"
    if magic.code:
        return f"({magic.code}) if {magic.name!r} in globals() else {call}"
    return call
