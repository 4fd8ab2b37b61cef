"""Strings that the source spells out: literals, f-strings, sums and names of constants, with holes.

A hole represents a value that only a run would know. It is one character from Unicode's private area, which
Python, SQL and people leave alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

HOLE = "\ue000"

_FIELD = re.compile(r"\{[^{}]*\}")
_PERCENT = re.compile(r"%(?:\([^)]*\))?[-#0 +]*[\d.*]*[sdrfiu]")


@dataclass(frozen=True)
class Text:
    """A string, and where its first character stands; `lines` when its line breaks are those of the file.

    `indent` is what stands before it on every further line (`# MAGIC `).
    """

    value: str
    line: int = 1
    column: int = 1
    lines: bool = False
    indent: int = 0

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of the character at `offset`, as good as the source allows."""
        if not self.lines:
            return self.line, self.column
        before = self.value[:offset]
        breaks = before.count("\n")
        if not breaks:
            return self.line, self.column + offset
        return self.line + breaks, offset - before.rfind("\n") + self.indent


def text_of(node: ast.expr | None, constants: Mapping[str, Text | None]) -> Text | None:
    """Return the string that `node` is, None if it is not a string or has no constant part."""
    found = _text(node, constants)
    return found if found is not None and found.value.strip(HOLE) else None


def _text(node: ast.expr | None, constants: Mapping[str, Text | None]) -> Text | None:
    if isinstance(node, ast.Constant):
        return _literal(node, node.value) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return _literal(node, "".join(_piece(each, constants) for each in node.values))
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    if isinstance(node, ast.Attribute):
        # Constants of a class or a module: `Tables.ORDERS`, `config.ORDERS`.
        return constants.get(node.attr) if node.attr.isupper() else None
    if isinstance(node, ast.BinOp):
        return _operation(node, constants)
    if isinstance(node, ast.Call):
        return _call(node, constants)
    return None


def _literal(node: ast.Constant | ast.JoinedStr, value: str) -> Text:
    breaks = (node.end_lineno or node.lineno) - node.lineno
    same = breaks == value.count("\n")
    # Past the quotes: three of them where the string goes over lines, and the f before them.
    quotes = (3 if breaks else 1) + isinstance(node, ast.JoinedStr)
    return Text(value, node.lineno, node.col_offset + 1 + quotes, same)


def _piece(node: ast.expr, constants: Mapping[str, Text | None]) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.FormattedValue):
        found = _text(node.value, constants)
        return found.value if found is not None else HOLE
    return HOLE


def _operation(node: ast.BinOp, constants: Mapping[str, Text | None]) -> Text | None:
    left = _text(node.left, constants)
    if isinstance(node.op, ast.Mod) and left is not None:
        return Text(_PERCENT.sub(HOLE, left.value), left.line, left.column, left.lines)
    if not isinstance(node.op, ast.Add):
        return None
    right = _text(node.right, constants)
    if left is None and right is None:
        return None
    value = (left.value if left else HOLE) + (right.value if right else HOLE)
    return Text(value, node.lineno, node.col_offset + 1)


def _call(node: ast.Call, constants: Mapping[str, Text | None]) -> Text | None:
    if isinstance(node.func, ast.Attribute):
        if node.func.attr == "format":
            of = _text(node.func.value, constants)
            return of and Text(_FIELD.sub(HOLE, of.value), of.line, of.column, of.lines)
        if node.func.attr in ("strip", "lstrip", "rstrip"):
            return _text(node.func.value, constants)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in ("dedent", "cleandoc", "str") and node.args:
        return _text(node.args[0], constants)
    return None
