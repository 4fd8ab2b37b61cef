"""Syntax of Python versions that are newer than the one that runs lakeward.

The f-strings of Python 3.12 (PEP 701) may contain their own quotes, backslashes, comments and line breaks in
expressions. Older versions report errors at places that depend on the text, so these f-strings are found by
reading them as Python 3.12 does.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

Version = tuple[int, int]

# Python's own: while code of users runs, `compile` reads f-strings of Python 3.12, too.
own_compile = compile

# What a version brought: its pattern in the line of the error, and the error of versions before it.
_SYNTAX: tuple[tuple[Version, str, str], ...] = (
    ((3, 11), r"^\s*except\s*\*", ""),
    ((3, 12), "", r"f-string: expressions nested too deeply"),
    ((3, 12), r"^\s*type\s+[A-Za-z_]\w*\s*(?:\[.*\])?\s*=", ""),
    ((3, 12), r"^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[", ""),
    ((3, 14), r"""\b(?:[tT][rR]?|[rR][tT])["']""", "invalid syntax"),
    ((3, 14), r"^\s*except\s+[\w.]+\s*,", "parenthesized"),
)

_STRING = re.compile(r"(?P<prefix>[rRbBuUfFtT]{0,2})(?P<quote>'''|\"\"\"|'|\")")
_CODE = re.compile(r"#[^\n]*|[rRbBuUfFtT]{0,2}(?:'''|\"\"\"|'|\")|\w+|[^\w]", re.DOTALL)
OPEN, CLOSED = "([{", ")]}"


class UnfinishedError(Exception):
    """A string or a replacement field has no end."""


@dataclass
class Field:
    """The text between the braces of a replacement field; `is_newer` if Python 3.11 cannot read it.

    `quote` and `is_raw` are those of its f-string.
    """

    begin: int
    end: int
    quote: str
    is_raw: bool
    is_newer: bool


def older_source(source: str, name: str = "_") -> str | None:
    """Return the source with f-strings that Python 3.11 can read; None without one of Python 3.12.

    Expressions that it cannot read are replaced by `name`. Lines stay, and outside of these f-strings the
    columns, in bytes. `line_filling` returns what is behind a field that had line breaks.

    >>> older_source('''x = f"{d["a"]} {y}"''')
    'x = f"{_     } {y}"'
    """
    try:
        newer = [each for each in top_fields(source) if each.is_newer]
    except UnfinishedError:
        return None
    if not newer:
        return None
    parts, at = [], 0
    for field in newer:
        text = source[field.begin : field.end]
        parts.append(source[at : field.begin])
        at = field.end
        if len(field.quote) == 3:
            blank = re.sub(r"[^\n]", lambda found: " " * len(found[0].encode()), text)
            parts.append(name + (blank if blank.startswith("\n") else blank[1:]))
        elif "\n" in text:
            parts.append(name + "}" + line_filling(source, field))
            at += 1
        else:
            parts.append(name + " " * (len(text.encode()) - 1))
    return "".join((*parts, source[at:]))


def line_filling(source: str, field: Field) -> str:
    """Return the text that keeps lines and columns behind a field with line breaks in a one-line string.

    The line breaks go behind the brace, where a backslash continues the string.
    """
    breaks = source.count("\n", field.begin, field.end)
    if len(field.quote) == 3 or not breaks:
        return ""
    return "\\\n" * breaks + " " * len(source[source.rfind("\n", 0, field.end) : field.end].encode())


def python_needed(source: str | bytes, error: SyntaxError) -> Version | None:
    """Return the Python version that reads what raised `error`; None if this one does, or none is known."""
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    older = older_source(text) if sys.version_info < (3, 12) else None
    if older is not None:
        try:
            parse_quietly(older)
            return (3, 12)
        except SyntaxError as other:
            return _of_line(older, other)
        except (ValueError, RecursionError, MemoryError):
            return None
    return _of_line(text, error)


def newer_python_hint(error: SyntaxError) -> str:
    """Return what to do about an error in a file that a newer Python reads; empty for another error."""
    text = "".join(linecache.getlines(error.filename or "")) or error.text or ""
    line = error.lineno or 0
    needed = _of_line(text, error)
    older = older_source(text) if sys.version_info < (3, 12) else None
    if older is not None:
        pairs = zip(text.split("\n"), older.split("\n"), strict=True)
        changed = [number for number, (before, after) in enumerate(pairs, start=1) if before != after]
        if any(line - 1 <= number <= line + 1 for number in changed):
            needed = (3, 12)
    if needed is None:
        return ""
    runtimes = " Databricks Runtime 16 and later have it." if needed == (3, 12) else ""
    newer, own = format_version(needed), format_version(sys.version_info[:2])
    return (
        f"This is syntax of Python {newer}, and lakeward runs on Python {own}.{runtimes} "
        f"Run lakeward with Python {newer} or later."
    )


def parse_quietly(source: str | bytes) -> ast.Module:
    """Parse Python without warnings about invalid escapes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = own_compile(source, "<unknown>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return tree


def format_version(version: Version) -> str:
    """Return `3.12` for `(3, 12)`."""
    return ".".join(map(str, version))


def _of_line(text: str, error: SyntaxError) -> Version | None:
    number = error.lineno or 0
    # In brackets, Python 3.11 may give the line after it.
    line = "\n".join(text.split("\n")[max(0, number - 2) : number]) or error.text or ""
    for version, pattern, message in _SYNTAX:
        if (
            version > sys.version_info[:2]
            and re.search(pattern, line, re.MULTILINE)
            and re.search(message, error.msg, re.IGNORECASE)
        ):
            return version
    return None


def top_fields(text: str) -> Iterator[Field]:
    """Yield the fields of all f-strings of a file that are not inside of another f-string."""
    at = 0
    while at < len(text):
        fields: list[Field] = []
        at = token_end(text, at, fields)
        yield from fields


def token_end(text: str, at: int, fields: list[Field]) -> int:
    """Return the end of the token at `at`; add the fields of an f-string to `fields`."""
    found = _CODE.match(text, at)
    assert found is not None
    string = _STRING.fullmatch(found[0])
    if string is None:
        return found.end()
    prefix, quote = string["prefix"].lower(), string["quote"]
    if "f" in prefix:
        return _fstring(text, found.end(), quote, "r" in prefix, fields)
    return _plain(text, found.end(), quote)


def _plain(text: str, at: int, quote: str) -> int:
    while not text.startswith(quote, at):
        if at >= len(text) or (text[at] == "\n" and len(quote) == 1):
            raise UnfinishedError
        at += 2 if text[at] == "\\" else 1
    return at + len(quote)


def _fstring(text: str, at: int, quote: str, is_raw: bool, fields: list[Field]) -> int:
    while not text.startswith(quote, at):
        if at >= len(text) or (text[at] == "\n" and len(quote) == 1):
            raise UnfinishedError
        if text.startswith("\\N{", at) and not is_raw:
            at = text.find("}", at) + 1 or len(text)
        elif text[at] == "\\":
            # Braces have a meaning behind a backslash, too.
            at += 1 if text[at + 1 : at + 2] in ("{", "}") else 2
        elif text[at : at + 2] in ("{{", "}}"):
            at += 2
        elif text[at] == "{":
            at = field_end(text, at + 1, quote, is_raw, fields)
        else:
            at += 1
    return at + len(quote)


def field_end(text: str, begin: int, quote: str, is_raw: bool, fields: list[Field]) -> int:
    """Read a field whose text starts at `begin`; return the place behind its brace."""
    at, depth, inner, has_comment = begin, 0, list[Field](), False
    while at < len(text):
        character = text[at]
        if depth == 0 and character in "}:":
            break
        if character in OPEN:
            depth += 1
        elif character in CLOSED:
            depth -= 1
        has_comment = has_comment or character == "#"
        at = token_end(text, at, inner)
    if text[at : at + 1] == ":":
        at = _specification(text, at + 1, quote, is_raw, inner)
    if at >= len(text) or depth < 0:
        raise UnfinishedError
    content = text[begin:at]
    is_newer = (
        has_comment
        or quote in content
        or "\\" in content
        or (len(quote) == 1 and "\n" in content)
        or any(each.is_newer for each in inner)
    )
    fields.append(Field(begin, at, quote, is_raw, is_newer))
    return at + 1


def _specification(text: str, at: int, quote: str, is_raw: bool, inner: list[Field]) -> int:
    """Return the place of the brace behind a format specification."""
    while at < len(text) and text[at] != "}":
        if text.startswith(quote, at) or (text[at] == "\n" and len(quote) == 1):
            raise UnfinishedError
        at = field_end(text, at + 1, quote, is_raw, inner) if text[at] == "{" else at + 1
    return at
