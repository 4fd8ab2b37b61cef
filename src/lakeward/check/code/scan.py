"""Walks the syntax tree of a file once, from top to bottom, and hands what it meets to the detectors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress

from lakeward.check.code import detectors, pipelines
from lakeward.check.code.chains import unroll
from lakeward.check.code.environment import Environment
from lakeward.check.code.values import HOLE, Text, text_of
from lakeward.check.model import Kind, Place, Use
from lakeward.check.sql.scan import scan_sql

__all__ = ["Scanner"]

_HOLES = re.compile(f"{HOLE}+")
_LEAVE: ast.AST = ast.Pass()
_UNGUARD: ast.AST = ast.Pass()
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_GUARDS = frozenset(("ImportError", "ModuleNotFoundError", "Exception", "BaseException"))


class _Enter(ast.AST):
    """Stands in the stack for the beginning of a function's scope."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        super().__init__()
        self.function = function


class Scanner:
    """Collects the uses of one file; the cells of a notebook share what their names mean."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.cell = 0
        self.environment = Environment()
        self.uses: list[Use] = []
        self._guards = 0

    def emit(
        self, kind: Kind, name: str, line: int, column: int, detail: str | None = None, guarded: bool = False
    ) -> None:
        """Keep one use."""
        place = Place(self.file, self.cell, line, column)
        self.uses.append(Use(kind, _shown(name), place, detail, guarded))

    def sql(self, text: Text) -> None:
        """Look at SQL that stands in the code; what is no SQL is left to the run."""
        with suppress(ValueError):
            scan_sql(text, self)

    def scan(self, tree: ast.Module) -> None:
        """Read one module, or one cell, after those before it."""
        for each in tree.body:
            if isinstance(each, ast.Assign) and len(each.targets) == 1:
                # Functions above a constant use it, too.
                self.environment.assigned(each.targets[0], each.value)
        inside: set[int] = set()
        stack: list[ast.AST] = [tree]
        while stack:
            node = stack.pop()
            if node is _LEAVE:
                self.environment.leave()
            elif node is _UNGUARD:
                self._guards -= 1
            elif isinstance(node, _Enter):
                self.environment.enter(node.function)
            else:
                stack.extend(reversed(list(self._visit(node, inside))))

    def _visit(self, node: ast.AST, inside: set[int]) -> Iterator[ast.AST]:
        """Look at one node; gives those to look at next."""
        if isinstance(node, (ast.Call, ast.Attribute)):
            if id(node) not in inside:
                root, links, parts = unroll(node)
                inside.update(map(id, parts))
                detectors.chain(root, links, self.environment, self)
                pipelines.call(root, links, self.environment, self)
            yield from ast.iter_child_nodes(node)
        elif isinstance(node, (ast.Constant, ast.JoinedStr)):
            detectors.text(node, text_of(node, self.environment.constants), self)
            if isinstance(node, ast.JoinedStr):
                yield from (each.value for each in node.values if isinstance(each, ast.FormattedValue))
        elif isinstance(node, ast.Dict):
            detectors.options_in(node, self.environment, self)
            yield from ast.iter_child_nodes(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self.environment.imported(node)
            detectors.imported(node, self, guarded=self._guards > 0)
        elif isinstance(node, _FUNCTIONS):
            yield from self._defined(node)
        elif isinstance(node, (ast.Module, ast.ClassDef)):
            yield from getattr(node, "decorator_list", ())
            yield from _without_docstring(node.body)
        elif isinstance(node, ast.Try):
            yield from self._tried(node)
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from node.orelse
        else:
            self._assignment(node)
            yield from ast.iter_child_nodes(node)

    def _defined(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
        self.environment.defined(node)
        pipelines.decorated(node, self.environment, self)
        yield from node.decorator_list
        yield from (each for each in (*node.args.defaults, *node.args.kw_defaults) if each)
        # Comes before the scope is opened: what is yielded is looked at only afterwards.
        yield _Enter(node)
        yield from _without_docstring(node.body)
        yield _LEAVE

    def _tried(self, node: ast.Try) -> Iterator[ast.AST]:
        if any(_catches_imports(handler) for handler in node.handlers):
            self._guards += 1
            yield from node.body
            yield _UNGUARD
        else:
            yield from node.body
        yield from (*node.handlers, *node.orelse, *node.finalbody)

    def _assignment(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self.environment.assigned(target, node.value)
        elif isinstance(node, ast.AnnAssign):
            self.environment.assigned(node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            self.environment.assigned(node.target, node.value, more=True)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self.environment.assigned(node.optional_vars, node.context_expr)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self.environment.assigned(node.target, None)


def _shown(name: str) -> str:
    return _HOLES.sub("{…}", name) if HOLE in name else name


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:]
    return body


def _is_type_checking(test: ast.expr) -> bool:
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(each, ast.Name) and each.id in _GUARDS for each in caught)
