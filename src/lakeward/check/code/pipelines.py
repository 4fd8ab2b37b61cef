"""Uses of the pipeline API: functions, parameters, declared and read datasets, incremental views."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from lakeward.check.code.chains import Link, unroll
from lakeward.check.code.environment import Environment
from lakeward.check.collector import Sink
from lakeward.check.sql.tokens import statements, words
from lakeward.check.sql.views import obstacles_in
from lakeward.check.values import HOLE, text_of
from lakeward.check.view_obstacles import TIME_FUNCTIONS, UNSTABLE_FUNCTIONS, encode_obstacles
from lakeward.pipelines import MODULES, Function, function

_METHODS = {
    **dict.fromkeys(("limit", "offset", "tail", "head"), "limit"),
    **dict.fromkeys(("subtract", "exceptAll", "intersect", "intersectAll"), "set operator"),
    **dict.fromkeys(("sample", "sampleBy", "randomSplit"), "sample"),
    "pivot": "pivot",
    "asNondeterministic": "function",
}
_FILTERS = frozenset(("where", "filter"))
_STREAMS = frozenset(("readStream", "read_stream"))
_READS = frozenset(("read", "table", "sql"))
_FILES = frozenset(("csv", "json", "parquet", "text", "xml", "orc", "avro", "excel", "jdbc", "binaryFile"))
_FUNCTIONS = "pyspark.sql.functions"
# Functions of the package `dlt` on PyPI, which loads data in jobs: no module of pipelines has these names.
_OF_PACKAGE = frozenset(
    ("attach", "dataset", "defer", "destination", "pipeline", "resource", "run", "source", "transformer")
)
_Functions = Mapping[str, "ast.FunctionDef | ast.AsyncFunctionDef"]
_Dataset = ast.FunctionDef | ast.AsyncFunctionDef


def report_call(root: ast.expr, links: list[Link], environment: Environment, sink: Sink) -> None:
    """Report a function of the API, called, or bare above a dataset function."""
    found = _function(root, links, environment)
    if found is None:
        return
    name, link = found
    at = link if link is not None else Link("", None, root)
    row = function(name)
    if row is None and at.call is None:
        return  # only mentioned; a call of it is what fails
    if row is None and name in _OF_PACKAGE and _origin(root, environment) == "dlt":
        return
    sink.emit("pipeline", name, at.line, at.column)
    if row is None or link is None or link.call is None:
        return
    for parameter, value in link.keywords():
        given = value.value if isinstance(value, ast.Constant) else HOLE
        shown = None if given in (None, False) else str(given)
        sink.emit("parameter", f"{name}.{parameter}", value.lineno, value.col_offset + 1, shown)
    position = 1 if row.role == "query" else 0
    argument = link.argument(position, "name")
    named = text_of(argument, environment.constants)
    if row.role in ("query", "target"):
        for dataset in _names_in(argument) if named is None else (named.value,):
            sink.emit("creates", dataset, at.line, at.column, "dataset")
    elif named is not None and row.role == "read":
        sink.emit("reads", named.value, at.line, at.column, "dataset")


def _names_in(argument: ast.expr | None) -> Iterator[str]:
    """Yield the texts given to a function that returns the name: `name=full("orders", "s")`."""
    if isinstance(argument, ast.Call):
        for given in (*argument.args, *(keyword.value for keyword in argument.keywords)):
            if isinstance(given, ast.Constant) and isinstance(given.value, str):
                yield given.value


def report_dataset(node: _Dataset, environment: Environment, sink: Sink, functions: _Functions) -> None:
    """Report the dataset that a function declares, with its own name if the decorator names none."""
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
        if _is_view(node, name, _module(root, environment)):
            text = text_of(named, environment.constants) if named is not None else None
            shown = node.name if text is None else text.value
            sink.emit(
                "view", shown, *place, encode_obstacles(_obstacles_of(node, environment, functions)) or None
            )


def _origin(root: ast.expr, environment: Environment) -> str:
    """Return the top-level module that a name comes from; empty for others."""
    return environment.origins.get(root.id, "").partition(".")[0] if isinstance(root, ast.Name) else ""


def _module(root: ast.expr, environment: Environment) -> str:
    """Return the module of the API that a decorator's name comes from."""
    name = root.id if isinstance(root, ast.Name) else ""
    full = environment.origins.get(name, "")
    return next((each for each in MODULES if full in (each, f"{each}.{full.rpartition('.')[2]}")), full)


def _function(root: ast.expr, links: list[Link], environment: Environment) -> tuple[str, Link | None] | None:
    """Return the name of the API's function that a chain reaches, and the step that names or calls it."""
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


def _is_view(node: _Dataset, decorator: str, module: str) -> bool:
    """Return whether a decorated function declares a materialized view: by name, or by its query."""
    if decorator == "materialized_view":
        return True
    if decorator != "table" or module != "dlt":
        return False
    names = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    return not names & _STREAMS and bool(names & _READS)


def _obstacles_of(node: _Dataset, environment: Environment, functions: _Functions) -> list[tuple[str, str]]:
    """Return the obstacles in a function and in those of the same file that it calls."""
    seen: set[str] = {node.name}
    found: list[tuple[str, str]] = []
    open_nodes: list[ast.stmt] = list(node.body)
    while open_nodes:
        statement = open_nodes.pop(0)
        found += _below(statement, environment, in_filter=False)
        for each in ast.walk(statement):
            if isinstance(each, ast.Name) and each.id in functions and each.id not in seen:
                seen.add(each.id)
                open_nodes += functions[each.id].body
    return found


def _below(node: ast.AST, environment: Environment, *, in_filter: bool) -> Iterator[tuple[str, str]]:
    stack: list[tuple[ast.AST, bool]] = [(node, in_filter)]
    inside: set[int] = set()
    while stack:
        current, filtered = stack.pop()
        if isinstance(current, ast.Call) and id(current) not in inside:
            root, links, parts = unroll(current)
            inside.update(map(id, parts))
            yield from _chain(root, links, environment, filtered)
            stack.append((root, filtered))
            for link in links:
                given = link.call
                values = (*given.args, *(each.value for each in given.keywords)) if given else ()
                stack += [(value, filtered or link.name in _FILTERS) for value in values]
        elif id(current) not in inside:
            stack += [(child, filtered) for child in ast.iter_child_nodes(current)]


def _chain(
    root: ast.expr, links: list[Link], environment: Environment, filtered: bool
) -> Iterator[tuple[str, str]]:
    name = root.id if isinstance(root, ast.Name) else ""
    origin = environment.origins.get(name, name)
    names = [link.name for link in links]
    if links and _FUNCTIONS in (origin, origin.rpartition(".")[0]):
        called = names[0] or origin.rpartition(".")[2]
        if called in UNSTABLE_FUNCTIONS:
            yield "unstable", called
        elif called in TIME_FUNCTIONS and not filtered:
            yield "time", called
        return
    if origin.rpartition(".")[2] == "Window":
        if "partitionBy" not in names:
            yield "window", ""
        return
    for link in links:
        if link.call is not None and link.name in _METHODS:
            yield _METHODS[link.name], f".{link.name}()"
    if name == "spark" and names[:1] == ["read"]:
        yield from _read(links, environment)
    elif name == "spark" and names[:1] == ["createDataFrame"]:
        yield "source", "createDataFrame()"
    elif name == "spark" and names[:1] == ["sql"]:
        text = text_of(links[0].argument(0, "sqlQuery"), environment.constants)
        for each in _statements(text.value) if text is not None else ():
            yield from obstacles_in(each)


def _statements(text: str) -> list[list[str]]:
    try:
        return [words(each.tokens) for each in statements(text)]
    except ValueError:
        return []


def _read(links: list[Link], environment: Environment) -> Iterator[tuple[str, str]]:
    for link in links:
        if link.call is None:
            continue
        if link.name in _FILES:
            yield "source", f"spark.read.{link.name}"
        elif link.name == "format":
            given = text_of(link.argument(0, "source"), environment.constants)
            if given is not None and given.value.lower() not in ("delta", "unity_catalog"):
                yield "source", f"format {given.value}"
