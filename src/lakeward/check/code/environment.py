"""What the names of a file mean at the place that is being looked at: imports, constants, kinds."""

from __future__ import annotations

import ast
from collections import ChainMap
from dataclasses import dataclass, field

from lakeward.check.code.chains import Link, unroll
from lakeward.check.code.type_inference import CLASSES, annotated, named, step
from lakeward.check.values import Text, text_of

__all__ = ["Environment"]


@dataclass
class Environment:
    """Grows while the file is read from top to bottom; functions open and leave a scope of their own.

    `origins` says what a name was imported from, in full (`dp` → `pyspark.pipelines`).
    """

    origins: dict[str, str] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    constants: ChainMap[str, Text | None] = field(default_factory=ChainMap)
    kinds: ChainMap[str, str | None] = field(default_factory=ChainMap)

    def enter(self, function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        """Open the scope of a function; its parameters hide what had their names."""
        self.constants, self.kinds = self.constants.new_child(), self.kinds.new_child()
        arguments = function.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            self.constants[each.arg] = None
            self.kinds[each.arg] = (
                annotated(_dotted(each.annotation)) if each.annotation else None
            ) or named(each.arg)

    def leave(self) -> None:
        """Close the innermost scope."""
        self.constants, self.kinds = self.constants.parents, self.kinds.parents

    def imported(self, node: ast.Import | ast.ImportFrom) -> None:
        """Remember what an import binds."""
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                self.origins[bound] = alias.name if alias.asname else bound
            return
        for alias in node.names:
            if node.level or node.module is None:
                continue
            if alias.name == "*":
                self.stars.append(node.module)
            else:
                self.origins[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def assigned(self, target: ast.expr, value: ast.expr | None, *, more: bool = False) -> None:
        """Remember what a name holds from here on; `more` appends (`+=`)."""
        if isinstance(target, ast.Attribute):
            name = target.attr
        elif isinstance(target, ast.Name):
            name = target.id
        else:
            return
        text = text_of(value, self.constants)
        known = self.constants.get(name)
        if more and known is not None and text is not None:
            text = Text(known.value + text.value, known.line, known.column, known.lines)
        if text is not None:
            self.constants[name] = text
        elif name in self.constants:
            self.constants[name] = None
        if isinstance(target, ast.Name) and not more:
            self.kinds[name] = (self.kind(value) if value is not None else None) or named(name)

    def defined(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Remember what a function of the file returns."""
        kind = annotated(_dotted(function.returns)) if function.returns else None
        self.kinds[function.name] = kind

    def kind(self, node: ast.expr) -> str | None:
        """Return the kind of an expression, None if unknown."""
        root, links, _ = unroll(node)
        return self.kinds_along(root, links)[-1]

    def kinds_along(self, root: ast.expr, links: list[Link]) -> list[str | None]:
        """The kind of the root of a chain, then the kind after each of its steps."""
        kind = self.name_kind(root.id) if isinstance(root, ast.Name) else None
        full = self.origins.get(root.id, "") if isinstance(root, ast.Name) else ""
        found = [kind]
        for link in links:
            full = f"{full}.{link.name}" if full and link.name else ""
            kind = CLASSES.get(full) or step(kind, link.name, called=link.call is not None)
            if full in CLASSES and link.call is not None:
                kind = step(kind, "", called=True)
            found.append(kind)
        return found

    def name_kind(self, name: str) -> str | None:
        """The kind of a plain name; imported ones are what they were imported as."""
        if name in self.kinds:
            return self.kinds[name]
        origin = self.origins.get(name)
        if origin is not None:
            return CLASSES.get(origin) or named(origin.rpartition(".")[2])
        return named(name)


def _dotted(node: ast.expr | None) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.BinOp):  # SparkSession | None
        return _dotted(node.left)
    if isinstance(node, ast.Subscript):  # Optional[SparkSession]
        return _dotted(node.slice)
    return ""
