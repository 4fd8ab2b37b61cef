"""SQL cells: widgets' values put in, statements with their places, and statements about widgets. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.sql import Cursor, Unmatched, filled, spans, tokenize

__all__ = ["Removal", "Widget", "statements_of", "widget_statement"]

_BRACED = re.compile(r"\$\{([^}$\s]+)\}")
_BARE = re.compile(r"\$([A-Za-z_]\w*)")
_ARGUMENT = re.compile(r"""getArgument\(\s*(['"])(\w+)\1\s*\)""", re.IGNORECASE)
_KINDS = ("TEXT", "DROPDOWN", "COMBOBOX", "MULTISELECT")


@dataclass(frozen=True)
class Widget:
    """CREATE WIDGET: `choices` is a query where the choices come from one."""

    kind: str
    name: str
    default: str
    choices: str | None = None


@dataclass(frozen=True)
class Removal:
    """REMOVE WIDGET."""

    name: str


def statements_of(source: str, line: int, widgets: Mapping[str, str]) -> list[str]:
    """The statements of a cell that begins at `line`, each behind as many lines as the file has before it.

    `${w}`, `$w`, `:w` and getArgument('w') are replaced by a widget's value. What is no widget stays as it
    is: `${key}` may be a setting of Spark's.

    >>> [s.strip() for s in statements_of("select '$a', ${b}, :a; select $$x$$", 1, {"a": "1"})]
    ["select '1', ${b}, '1'", 'select $$x$$']
    """
    text = _BRACED.sub(lambda m: widgets.get(m[1], m[0]), source)
    text = _BARE.sub(lambda m: widgets.get(m[1], m[0]), text)
    text = _ARGUMENT.sub(lambda m: _literal(widgets[m[2]]) if m[2] in widgets else m[0], text)
    text = filled(text, {name: _literal(value) for name, value in widgets.items()})
    found = []
    for begin, end in spans(text):
        before = text[:begin]
        column = begin - before.rfind("\n") - 1
        found.append("\n" * (line - 1 + before.count("\n")) + " " * column + text[begin:end])
    return found


def widget_statement(text: str) -> Widget | Removal | None:
    """CREATE WIDGET and REMOVE WIDGET; None for every other statement.

    >>> widget_statement("CREATE WIDGET DROPDOWN d DEFAULT 'x' CHOICES SELECT * FROM VALUES ('x')")
    Widget(kind='dropdown', name='d', default='x', choices="SELECT * FROM VALUES ('x')")
    """
    tokens = tokenize(text) or ()
    cursor = Cursor(tokens, text)
    try:
        if cursor.words("REMOVE", "WIDGET"):
            return Removal(cursor.part())
        cursor.need("CREATE", "WIDGET")
        kind = cursor.one_of(*_KINDS).lower()
        name = cursor.part()
        cursor.need("DEFAULT")
        default = cursor.string()
        choices = None
        if cursor.words("CHOICES"):
            begin = cursor.at
            cursor.finish()
            choices = cursor.text(begin)
    except Unmatched:
        return None
    return Widget(kind, name, default, choices)


def _literal(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
