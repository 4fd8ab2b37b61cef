"""Chains of attributes and calls, from their root outwards: `spark.read.format("json").load(path)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lakeward.check.values import Text, text_of


@dataclass(frozen=True)
class Link:
    """One step: `.name`, called when there is a `call`; an empty name calls what stands before it."""

    name: str
    call: ast.Call | None
    node: ast.expr

    @property
    def line(self) -> int:
        """Return the line of the name itself: chains go over many lines."""
        return (self.node.end_lineno or self.node.lineno) if self.name else self.node.lineno

    @property
    def column(self) -> int:
        """Return the column of the name itself."""
        if not self.name:
            return self.node.col_offset + 1
        return (self.node.end_col_offset or len(self.name)) - len(self.name) + 1

    def argument(self, position: int, name: str = "") -> ast.expr | None:
        """Return the argument at `position`, or called `name`."""
        if self.call is None:
            return None
        if position < len(self.call.args):
            found = self.call.args[position]
            return None if isinstance(found, ast.Starred) else found
        return next((keyword.value for keyword in self.call.keywords if keyword.arg == name), None)

    def keywords(self) -> Iterator[tuple[str, ast.expr]]:
        """Yield the named arguments, those of a `**{…}` written out included."""
        for keyword in self.call.keywords if self.call else ():
            if keyword.arg is not None:
                yield keyword.arg, keyword.value
            elif isinstance(keyword.value, ast.Dict):
                yield from entries(keyword.value, {})


def entries(node: ast.Dict, constants: Mapping[str, Text | None]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the entries of a written-out dict whose keys are strings."""
    for key, value in zip(node.keys, node.values, strict=True):
        text = text_of(key, constants)
        if text is not None:
            yield text.value, value


def unroll(node: ast.expr) -> tuple[ast.expr, list[Link], list[ast.expr]]:
    """Return the root of a chain, its steps from there on, and the nodes that are part of it."""
    links: list[Link] = []
    inside: list[ast.expr] = []
    call: ast.Call | None = None
    while True:
        if isinstance(node, ast.Call):
            if call is not None:
                links.append(Link("", call, node))
            call = node
            inside.append(node)
            node = node.func
        elif isinstance(node, ast.Attribute):
            links.append(Link(node.attr, call, node))
            call = None
            inside.append(node)
            node = node.value
        else:
            if call is not None:
                links.append(Link("", call, node))
            links.reverse()
            return node, links, inside
