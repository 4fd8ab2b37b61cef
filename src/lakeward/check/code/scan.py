"""Walks the syntax tree of a file once, from top to bottom, and passes its nodes to the detectors."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from lakeward.check.code import detectors, pipelines
from lakeward.check.code.chains import unroll
from lakeward.check.code.environment import Environment
from lakeward.check.model import Kind, Place, Use
from lakeward.check.sql.scan import scan_sql
from lakeward.check.values import HOLE, Text, text_of

_HOLES = re.compile(f"{HOLE}+")
Step = Callable[[], None]
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


class Scanner:
    """Collects the uses of one file; the cells of a notebook share what their names mean."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.cell = 0
        self.environment = Environment()
        self.uses: list[Use] = []
        self.inclusions: list[tuple[str, int, int, int]] = []
        self._guards = 0
        self._inside: set[int] = set()
        self._functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}

    def emit(
        self, kind: Kind, name: str, line: int, column: int, detail: str | None = None, guarded: bool = False
    ) -> None:
        """Keep one use."""
        place = Place(self.file, self.cell, line, column)
        shown = _HOLES.sub("{…}", name) if HOLE in name else name
        self.uses.append(Use(kind, shown, place, detail, guarded))

    def sql(self, text: Text) -> None:
        """Look at SQL strings in the code; other strings are left to the run."""
        with suppress(ValueError):
            scan_sql(text, self)

    def scan(self, tree: ast.Module) -> None:
        """Read one module, or one cell, after those before it."""
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._functions[statement.name] = statement
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                # Functions above a constant use it, too.
                self.environment.note_assignment(statement.targets[0], statement.value)
        self._inside.clear()
        # A stack instead of recursion: chains of calls are as deep as they are long.
        stack: list[Any] = [tree]
        while stack:
            node = stack.pop()
            visit = _VISITS.get(node.__class__)
            if visit is not None:
                stack += reversed(visit(self, node))
            elif isinstance(node, ast.AST):
                stack += reversed(_children(node))
            else:
                node()

    def _operation(self, node: ast.BinOp) -> list[Any]:
        if isinstance(node.op, ast.Mod):
            self._template(node, node.left)
        return _children(node)

    def _template(self, node: ast.expr, template: ast.expr) -> None:
        """Read a string with its fields as holes: `"s3://%s/a" % name`, `"s3://{}/a".format(name)`."""
        if isinstance(template, ast.Constant) and isinstance(template.value, str):
            self._inside.add(id(template))
            detectors.report_paths(template, text_of(node, self.environment.constants), self)

    def _chain(self, node: ast.Call | ast.Attribute) -> list[Any]:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            self._template(node, node.func.value)
        if id(node) not in self._inside:
            root, links, parts = unroll(node)
            self._inside.update(map(id, parts))
            detectors.report_chain(root, links, self.environment, self)
            pipelines.report_call(root, links, self.environment, self)
        return _children(node)

    def _text(self, node: ast.Constant | ast.JoinedStr) -> list[Any]:
        if isinstance(node, ast.JoinedStr):
            detectors.report_paths(node, text_of(node, self.environment.constants), self)
            return [each.value for each in node.values if isinstance(each, ast.FormattedValue)]
        if node.value.__class__ is str and id(node) not in self._inside:
            detectors.report_paths(node, text_of(node, {}), self)
        return []

    def _dict(self, node: ast.Dict) -> list[Any]:
        detectors.report_options(node, self.environment, self)
        return _children(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> list[Any]:
        self.environment.note_import(node)
        detectors.report_import(node, self, guarded=self._guards > 0)
        return []

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[Any]:
        self.environment.note_function(node)
        pipelines.report_dataset(node, self.environment, self, self._functions)
        defaults = [each for each in (*node.args.defaults, *node.args.kw_defaults) if each]

        def enter() -> None:
            self.environment.enter(node)

        return [
            *node.decorator_list,
            *defaults,
            enter,
            *_without_docstring(node.body),
            self.environment.leave,
        ]

    def _body(self, node: ast.Module | ast.ClassDef) -> list[Any]:
        return [*getattr(node, "decorator_list", ()), *_without_docstring(node.body)]

    def _try(self, node: ast.Try) -> list[Any]:
        rest = [*node.handlers, *node.orelse, *node.finalbody]
        if not any(_catches_imports(handler) for handler in node.handlers):
            return [*node.body, *rest]
        return [self._guard(1), *node.body, self._guard(-1), *rest]

    def _guard(self, change: int) -> Step:
        def step() -> None:
            self._guards += change

        return step

    def _if(self, node: ast.If) -> list[Any]:
        return node.orelse if _is_type_checking(node.test) else _children(node)

    def _assign(self, node: ast.Assign) -> list[Any]:
        for target in node.targets:
            self.environment.note_assignment(target, node.value)
        return _children(node)

    def _typed(self, node: ast.AnnAssign) -> list[Any]:
        self.environment.note_assignment(node.target, node.value)
        return _children(node)

    def _more(self, node: ast.AugAssign) -> list[Any]:
        self.environment.note_assignment(node.target, node.value, more=True)
        return _children(node)

    def _with(self, node: ast.withitem) -> list[Any]:
        if node.optional_vars is not None:
            self.environment.note_assignment(node.optional_vars, node.context_expr)
        return _children(node)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.comprehension) -> list[Any]:
        self.environment.note_assignment(node.target, None)
        return _children(node)


_VISITS: Mapping[type, Callable[[Scanner, Any], list[Any]]] = {
    ast.AnnAssign: Scanner._typed,
    ast.Assign: Scanner._assign,
    ast.AsyncFor: Scanner._loop,
    ast.AsyncFunctionDef: Scanner._function,
    ast.Attribute: Scanner._chain,
    ast.AugAssign: Scanner._more,
    ast.BinOp: Scanner._operation,
    ast.Call: Scanner._chain,
    ast.ClassDef: Scanner._body,
    ast.comprehension: Scanner._loop,
    ast.Constant: Scanner._text,
    ast.Dict: Scanner._dict,
    ast.For: Scanner._loop,
    ast.FunctionDef: Scanner._function,
    ast.If: Scanner._if,
    ast.Import: Scanner._import,
    ast.ImportFrom: Scanner._import,
    ast.JoinedStr: Scanner._text,
    ast.Module: Scanner._body,
    ast.Try: Scanner._try,
    ast.withitem: Scanner._with,
}


def _children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below `node` that are worth a look, in the order of the source."""
    found: list[ast.AST] = []
    for field in node._fields:
        value: Any = getattr(node, field, None)
        if value.__class__ is list:
            found += [each for each in value if each.__class__ not in _LEAVES]
        elif value.__class__ not in _LEAVES:
            found.append(value)
    return found


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a body, less the text that only describes it."""
    first = body[0] if body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:]
    return body


def _is_type_checking(test: ast.expr) -> bool:
    """Return whether a condition is `TYPE_CHECKING`: what stands below it is never run."""
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler catches the failure of an import."""
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(each, ast.Name) and each.id in _GUARDS for each in caught)
