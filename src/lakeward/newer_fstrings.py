"""Compiles the f-strings of Python 3.12 (PEP 701) on Python 3.10 and 3.11.

The older Python reads a source in which a name takes the place of each expression that it cannot read. The
expressions are parsed by themselves and put into the tree. Lines and columns are those of the file.
"""

from __future__ import annotations
import __future__

import ast
import functools
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from lakeward.patching import PatchSpec, install, uninstall
from lakeward.python_grammar import (
    CLOSED,
    OPEN,
    Field,
    field_end,
    line_filling,
    older_source,
    own_compile,
    parse_quietly,
    token_end,
    top_fields,
)

_DEBUGGING = re.compile(r"=\s*(?=[!:}])")
_CONVERSION = re.compile(r"!\s*([rsa])\s*")
_NAMES = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag


def parse_newer(
    source: str, filename: str = "<unknown>", mode: str = "exec", flags: int = 0
) -> ast.AST | None:
    """Return the tree of a source with f-strings of Python 3.12; None without one.

    `mode` and `flags` are those of `compile`. Raises SyntaxError for other errors of the source.

    >>> tree = parse_newer('''x = f"{d["a"]} {y}"''')
    >>> [ast.unparse(each.value) for each in ast.walk(tree) if isinstance(each, ast.FormattedValue)]
    ["d['a']", 'y']
    """
    name = next((each for each in _NAMES if not re.search(rf"\b{each}\b", source)), None)
    older = older_source(source, name) if name is not None else None
    if older is None or name is None:
        return None
    tree: ast.AST = own_compile(older, filename, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    fields = [each for each in top_fields(source) if each.is_newer]
    places = list(_places(tree, name))
    if len(places) != len(fields):
        return None
    # From the end: what is put in moves the values behind it.
    for (string, index), field in reversed(list(zip(places, fields, strict=True))):
        after, added = string.values[index + 1 : index + 2], line_filling(source, field)
        if added:
            text = after[0]
            assert isinstance(text, ast.Constant)
            assert isinstance(text.value, str)
            text.value = text.value.removeprefix(added if field.is_raw else added.replace("\\\n", ""))
        string.values[index : index + 1] = _values(source, field, string)
    return tree


def _places(tree: ast.AST, name: str) -> Iterator[tuple[ast.JoinedStr, int]]:
    """Yield the f-string and the index of each field that is `name`, in the order of the source."""
    strings = [each for each in ast.walk(tree) if isinstance(each, ast.JoinedStr)]
    for string in sorted(strings, key=lambda each: (each.lineno, each.col_offset)):
        for index, value in enumerate(string.values):
            if isinstance(value, ast.FormattedValue) and ast.dump(value.value) == ast.dump(_name(name)):
                yield string, index


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _values(source: str, field: Field, string: ast.expr) -> list[ast.expr]:
    """Return the values of an f-string that stand for a field: its text too if it has `=`."""
    end, shown = _expression_end(source, field)
    expression = source[field.begin : end]
    conversion, at = -1, end if shown is None else shown
    found = _CONVERSION.match(source, at)
    if found is not None:
        conversion, at = ord(found[1]), found.end()
    specification = None
    if source[at] == ":":
        specification = _specification(source, at + 1, field, string)
        at = field.end
    if at != field.end or not expression.strip():
        line, start = source.count("\n", 0, at) + 1, source.rfind("\n", 0, at)
        place = ("<f-string>", line, at - start, source[start + 1 :].partition("\n")[0])
        raise SyntaxError("f-string: invalid syntax", place)
    if shown is not None and conversion == -1 and specification is None:
        conversion = ord("r")
    value = ast.FormattedValue(_parse(source, field.begin, expression), conversion, specification)
    values: list[ast.expr] = [ast.copy_location(value, string)]
    if shown is not None:
        values.insert(0, ast.copy_location(ast.Constant(source[field.begin : shown]), string))
    return values


def _expression_end(source: str, field: Field) -> tuple[int, int | None]:
    """Return the place behind the expression of a field, and that behind its `=`, if it has one."""
    at, depth = field.begin, 0
    while at < field.end:
        character = source[at]
        depth += (character in OPEN) - (character in CLOSED)
        if depth == 0:
            debugging = _DEBUGGING.match(source, at)
            if character == ":" or (character == "!" and source[at + 1] != "="):
                return at, None
            if debugging is not None and source[at - 1] not in "=!<>":
                return at, debugging.end()
        at = token_end(source, at, [])
    return at, None


def _parse(source: str, begin: int, expression: str) -> ast.expr:
    """Parse an expression that starts at `begin` of its file."""
    start = source.rfind("\n", 0, begin) + 1
    # In brackets, with the columns of the file: they count bytes.
    text = "(" + " " * (len(source[start:begin].encode()) - 1) + expression + ")"
    lines = source.count("\n", 0, begin)
    try:
        tree = parse_newer(text) or parse_quietly(text)
    except SyntaxError as error:
        error.lineno = (error.lineno or 1) + lines
        raise
    assert isinstance(tree, ast.Module)
    statement = ast.increment_lineno(tree, lines).body[0]
    assert isinstance(statement, ast.Expr)
    return statement.value


def _specification(source: str, begin: int, field: Field, string: ast.expr) -> ast.JoinedStr:
    """Return the format specification that starts at `begin`."""
    values: list[ast.expr] = []
    at = begin
    while at < field.end:
        brace = source.find("{", at, field.end)
        text = source[at : brace if brace >= 0 else field.end]
        if text:
            prefix = "r" if field.is_raw else ""
            literal = ast.literal_eval(f"{prefix}{field.quote}{text}{field.quote}")
            values.append(ast.copy_location(ast.Constant(literal), string))
        if brace < 0:
            break
        inner: list[Field] = []
        at = field_end(source, brace + 1, field.quote, field.is_raw, inner)
        values += _values(source, inner[0], string)
    return ast.copy_location(ast.JoinedStr(values), string)


def _compile_newer(compile_: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(compile_)
    def compile(  # noqa: A001
        source: Any,
        filename: Any,
        mode: str,
        flags: int = 0,
        dont_inherit: bool = False,
        optimize: int = -1,
        **options: Any,
    ) -> Any:
        if not dont_inherit:
            flags |= sys._getframe(1).f_code.co_flags & _FUTURE
        try:
            return compile_(source, filename, mode, flags, True, optimize, **options)
        except SyntaxError:
            text = _text(source)
            try:
                tree = parse_newer(text, filename, mode, flags) if text is not None else None
            except SyntaxError as error:
                raise _located(error, str(text), filename) from None
            if tree is None:
                raise
        return tree if flags & ast.PyCF_ONLY_AST else compile_(tree, filename, mode, flags, True, optimize)

    return compile


def _located(error: SyntaxError, source: str, filename: Any) -> SyntaxError:
    """Return the error with the file's name and line: what was parsed is a part, or has other names."""
    lines = source.split("\n")
    error.filename, error.text = filename, lines[min(error.lineno or 1, len(lines)) - 1]
    return error


def _text(source: Any) -> str | None:
    """Return the text of what `compile` takes."""
    if isinstance(source, str):
        return source
    if not isinstance(source, (bytes, bytearray)):
        return None
    try:
        return importlib.util.decode_source(bytes(source))
    except (SyntaxError, UnicodeDecodeError):
        return None


PATCHES = (
    PatchSpec(
        "builtins",
        "compile",
        "newer f-strings",
        "f-strings of Python 3.12 run on an older Python",
        _compile_newer,
    ),
)


def read_newer() -> None:
    """Let this process compile f-strings of Python 3.12, if its own Python cannot; idempotent."""
    if sys.version_info < (3, 12):
        install(PATCHES)


def stop_reading_newer() -> None:
    """Restore Python's own `compile`."""
    uninstall(PATCHES)
