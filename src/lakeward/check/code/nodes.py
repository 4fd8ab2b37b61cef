"""Small questions to nodes of Python's syntax tree."""

from __future__ import annotations

import ast
from typing import Any

__all__ = ["catches_imports", "children", "is_type_checking", "without_docstring"]

_GUARDS = frozenset(("ImportError", "ModuleNotFoundError", "Exception", "BaseException"))
# What has nothing below it that a detector asks about; names count as the roots of chains alone.
_LEAVES = frozenset(
    (
        *(type(None), str, int, float, complex, bool, bytes, type(...)),
        *(ast.Name, ast.alias, ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal),
        *ast.expr_context.__subclasses__(),
        *ast.boolop.__subclasses__(),
        *ast.operator.__subclasses__(),
        *ast.unaryop.__subclasses__(),
        *ast.cmpop.__subclasses__(),
    )
)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below `node` that are worth a look, in the order of the source."""
    found: list[ast.AST] = []
    for field in node._fields:
        value: Any = getattr(node, field, None)
        if value.__class__ is list:
            found += [each for each in value if each.__class__ not in _LEAVES]
        elif value.__class__ not in _LEAVES:
            found.append(value)
    return found


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a body, less the text that only describes it."""
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:]
    return body


def is_type_checking(test: ast.expr) -> bool:
    """Whether a condition is `TYPE_CHECKING`: what stands below it is never run."""
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"


def catches_imports(handler: ast.ExceptHandler) -> bool:
    """Whether a handler catches the failure of an import."""
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(each, ast.Name) and each.id in _GUARDS for each in caught)
