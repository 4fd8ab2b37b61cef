"""Calls in Python code that read or write files by a path."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from lakeward.check.code.chains import Link
from lakeward.check.code.environment import Environment
from lakeward.check.collector import Sink
from lakeward.check.model import Kind
from lakeward.check.values import HOLE, text_of

_FORMATS = ("csv", "json", "parquet", "orc", "text", "xml")
# The position of the argument that is a path.
_READS = {
    **{(reader, name): 0 for reader in ("reader", "stream_reader") for name in ("load", *_FORMATS)},
    **{("context", name): 0 for name in ("textFile", "wholeTextFiles", "binaryFiles")},
    ("delta_class", "forPath"): 1,
}
_WRITES = {
    **{("writer", name): 0 for name in ("save", *_FORMATS)},
    ("stream_writer", "start"): 0,
    ("delta_builder", "location"): 0,
}
_PATH_OPTION: dict[str, Kind] = {
    "reader": "reads_files",
    "stream_reader": "reads_files",
    "writer": "writes_files",
    "stream_writer": "writes_files",
}
_DBUTILS: dict[str, tuple[Kind | None, ...]] = {
    "ls": ("reads_files",),
    "head": ("reads_files",),
    "cp": ("reads_files", "writes_files"),
    "mv": ("reads_files", "writes_files"),
    "put": ("writes_files",),
    "mkdirs": ("writes_files",),
}
_LIBRARIES: dict[str, tuple[Kind | None, ...]] = {
    **{
        f"shutil.{name}": ("reads_files", "writes_files")
        for name in ("copy", "copy2", "copyfile", "copytree")
    },
    "shutil.move": ("reads_files", "writes_files"),
    "os.makedirs": ("writes_files",),
    "os.mkdir": ("writes_files",),
    "os.listdir": ("reads_files",),
    "urllib.request.urlretrieve": (None, "writes_files"),
}
_FRAME_LIBRARIES = ("pandas", "polars", "pyspark.pandas")


def files_of(
    root: ast.expr, links: list[Link], kinds: list[str | None], environment: Environment, sink: Sink
) -> None:
    """Report the files that a chain of calls reads and writes; `kinds` are those along the chain."""
    for kind, argument, link in _accesses(root, links, kinds, environment):
        for each in argument.elts if isinstance(argument, (ast.List, ast.Tuple)) else (argument,):
            found = text_of(each, environment.constants)
            sink.emit(kind, found.value if found is not None else HOLE, link.line, link.column)


def _accesses(
    root: ast.expr, links: list[Link], kinds: list[str | None], environment: Environment
) -> Iterator[tuple[Kind, ast.expr, Link]]:
    for owner, link in zip(kinds, links, strict=False):
        if link.call is None or owner is None:
            continue
        step = (owner, link.name)
        if step in _READS:
            yield from _argument_access("reads_files", link, _READS[step])
        elif step in _WRITES:
            yield from _argument_access("writes_files", link, _WRITES[step])
        if link.name == "option" and owner in _PATH_OPTION:
            key = text_of(link.argument(0, "key"), environment.constants)
            if key is not None and key.value.lower() == "path":
                yield from _argument_access(_PATH_OPTION[owner], link, 1)
    if "dbutils" in kinds:
        for before, link in pairwise(links):
            if before.name == "fs" and link.call is not None:
                yield from _positional_accesses(link, _DBUTILS.get(link.name, ()))
    yield from _library_accesses(root, links, environment)


def _library_accesses(
    root: ast.expr, links: list[Link], environment: Environment
) -> Iterator[tuple[Kind, ast.expr, Link]]:
    """Yield what `open`, the standard library, and DataFrames of pandas and Polars read and write."""
    if not isinstance(root, ast.Name) or not links:
        return
    called = next((link for link in links if link.call is not None), None)
    if called is None:
        return
    if root.id == "open" and called is links[0] and not called.name:
        mode = text_of(called.argument(1, "mode"), environment.constants)
        writes = mode is not None and any(letter in mode.value for letter in "wax")
        yield from _argument_access("writes_files" if writes else "reads_files", called, 0)
    names = [environment.origins.get(root.id, root.id)]
    names += [link.name for link in links[: links.index(called) + 1] if link.name]
    full = ".".join(names)
    if full in _LIBRARIES:
        yield from _positional_accesses(called, _LIBRARIES[full])
    elif full.startswith(_FRAME_LIBRARIES) and called.name.startswith("read_"):
        yield from _argument_access("reads_files", called, 0)
    for link in links:
        if link.call is not None and link.name.startswith(("to_", "write_")):
            position = link.argument(0)
            found = text_of(position, environment.constants)
            if found is not None and "/" in found.value and position is not None:
                yield "writes_files", position, link


def _positional_accesses(link: Link, kinds: tuple[Kind | None, ...]) -> Iterator[tuple[Kind, ast.expr, Link]]:
    for position, kind in enumerate(kinds):
        if kind is not None:
            yield from _argument_access(kind, link, position)


def _argument_access(kind: Kind, link: Link, position: int) -> Iterator[tuple[Kind, ast.expr, Link]]:
    argument = link.argument(position, "path")
    if argument is not None:
        yield kind, argument, link
