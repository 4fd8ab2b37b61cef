"""Uses of the pipeline API: functions, parameters, and the datasets that they declare and read."""

from __future__ import annotations

import ast

from lakeward.check.code.chains import Link, unroll
from lakeward.check.code.environment import Environment
from lakeward.check.code.views import Dataset, Functions, is_view, obstacles_of
from lakeward.check.collector import Sink
from lakeward.check.values import HOLE, text_of
from lakeward.check.view_obstacles import encoded
from lakeward.pipelines import MODULES, Function, function

__all__ = ["call", "decorated"]


def call(root: ast.expr, links: list[Link], environment: Environment, sink: Sink) -> None:
    """A function of the API, called, or bare above a dataset function."""
    found = _function(root, links, environment)
    if found is None:
        return
    name, link = found
    at = link if link is not None else Link("", None, root)
    row = function(name)
    if row is None and at.call is None:
        return  # only mentioned; a call of it is what fails
    sink.emit("pipeline", name, at.line, at.column)
    if row is None or link is None or link.call is None:
        return
    for parameter, value in link.keywords():
        given = value.value if isinstance(value, ast.Constant) else HOLE
        shown = None if given in (None, False) else str(given)
        sink.emit("parameter", f"{name}.{parameter}", value.lineno, value.col_offset + 1, shown)
    position = 1 if row.role == "query" else 0
    named = text_of(link.argument(position, "name"), environment.constants)
    if named is not None and row.role in ("query", "target"):
        sink.emit("creates", named.value, at.line, at.column, "dataset")
    elif named is not None and row.role == "read":
        sink.emit("reads", named.value, at.line, at.column, "dataset")


def decorated(node: Dataset, environment: Environment, sink: Sink, functions: Functions) -> None:
    """The dataset that a function declares, with its own name if the decorator names none."""
    for decorator in node.decorator_list:
        root, links, _ = unroll(decorator)
        found = _function(root, links, environment)
        if found is None:
            continue
        name, link = found
        row: Function | None = function(name)
        named = link.argument(1, "name") if link is not None else None
        if row is None or row.role != "query":
            continue
        place = node.lineno, node.col_offset + 1
        if named is None:
            sink.emit("creates", node.name, *place, "dataset")
        if is_view(node, name, _module(root, environment)):
            text = text_of(named, environment.constants) if named is not None else None
            shown = node.name if text is None else text.value
            sink.emit("view", shown, *place, encoded(obstacles_of(node, environment, functions)) or None)


def _module(root: ast.expr, environment: Environment) -> str:
    """The module of the API that a decorator's name comes from."""
    name = root.id if isinstance(root, ast.Name) else ""
    full = environment.origins.get(name, "")
    return next((each for each in MODULES if full in (each, f"{each}.{full.rpartition('.')[2]}")), full)


def _function(root: ast.expr, links: list[Link], environment: Environment) -> tuple[str, Link | None] | None:
    """The name of the API's function that a chain reaches, and the step that names or calls it."""
    if not isinstance(root, ast.Name):
        return None
    full = environment.origins.get(root.id)
    first = links[0] if links else None
    if full is None:
        starred = any(module in MODULES for module in environment.stars)
        if starred and root.id not in environment.kinds and function(root.id) is not None:
            return root.id, first if first is not None and not first.name else None
        return None
    if full.rpartition(".")[0] in MODULES:
        return full.rpartition(".")[2], first if first is not None and not first.name else None
    for link in links:
        if not link.name:
            return None
        if full in MODULES:
            return link.name, link
        if link.call is not None:
            return None
        full = f"{full}.{link.name}"
    return None
