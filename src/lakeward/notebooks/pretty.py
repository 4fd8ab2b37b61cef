"""The text of a value as IPython prints it: containers that are longer than a line have one item per line.

Databricks runs notebooks on IPython. Source: https://ipython.readthedocs.io/en/stable/api/generated/IPython.lib.pretty.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

WIDTH = 79
LONGEST = 1000
"""Items of a container that are printed; `...` replaces the others."""


@dataclass
class _Group:
    """Text, line breaks and inner groups. All breaks of a group are spaces, or all are new lines."""

    indent: int
    parts: list[str | _Group | None] = field(default_factory=list)

    @property
    def has_lines(self) -> bool:
        """Return whether a text in it has several lines, which break the group."""
        return any(
            part.has_lines if isinstance(part, _Group) else part is not None and "\n" in part
            for part in self.parts
        )


_BRACKETS: dict[Any, tuple[str, str]] = {
    list.__repr__: ("[", "]"),
    tuple.__repr__: ("(", ")"),
    dict.__repr__: ("{", "}"),
    set.__repr__: ("{", "}"),
    frozenset.__repr__: ("frozenset({", "})"),
}


def pretty(value: object) -> str:
    """Return `repr(value)`, with the layout of IPython for lists, tuples, dictionaries and sets.

    >>> print(pretty({"a": "x" * 60, "b": "y" * 20}))
    {'a': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
     'b': 'yyyyyyyyyyyyyyyyyyyy'}
    """
    if _brackets(value) is None:
        return repr(value)
    try:
        return "".join(_layout(_document(value, ())))
    except RecursionError:
        return repr(value)


def _brackets(value: Any) -> tuple[str, str] | None:
    found = _BRACKETS.get(type(value).__repr__)
    return found if found is not None and len(value) else None


def _document(value: object, above: tuple[int, ...]) -> _Group:
    brackets = _brackets(value)
    if brackets is None:
        return _Group(0, [repr(value)])
    begin, end = brackets
    if id(value) in above:
        return _Group(0, [f"{begin}...{end}"])
    above = (*above, id(value))
    inner = _Group(len(begin))
    for number, item in enumerate(_items(value)):
        if number:
            inner.parts += [",", None]
        if number == LONGEST:
            inner.parts.append("...")
            break
        inner.parts.append(_document(item, above))
        if isinstance(value, dict):
            inner.parts += [": ", _document(value[item], above)]
    if isinstance(value, tuple) and len(value) == 1:
        inner.parts.append(",")
    return _Group(0, [begin, inner, end])


def _items(value: Any) -> Iterable[Any]:
    if not isinstance(value, set | frozenset):
        return value  # type: ignore[no-any-return]
    try:
        return sorted(value)
    except Exception:  # noqa: BLE001  # items without an order, or a comparison of the user's class
        return value


def _layout(document: _Group) -> Iterator[str]:
    """Yield the text. A group is broken if it is too long, with the text up to the next break."""
    column = 0
    rest: list[tuple[int, bool, str | _Group | None]] = [(0, False, document)]
    while rest:
        indent, broken, part = rest.pop()
        if part is None:
            text = "\n" + " " * indent if broken else " "
        elif isinstance(part, str):
            text = part.replace("\n", "\n" + " " * indent)
        else:
            inner = indent + part.indent
            breaks = part.has_lines or not _fits(part, rest, WIDTH - column)
            rest += [(inner, breaks, each) for each in reversed(part.parts)]
            continue
        yield text
        _, newline, last = text.rpartition("\n")
        column = len(last) if newline else column + len(text)


def _fits(group: _Group, rest: list[tuple[int, bool, str | _Group | None]], room: int) -> bool:
    pending = list(reversed(group.parts))
    following = iter(reversed(rest))
    is_inside = True
    while room >= 0:
        if not pending:
            found = next(following, None)
            if found is None:
                return True
            is_inside = False
            pending.append(found[2])
        part = pending.pop()
        if part is None and not is_inside:
            # Later groups are broken before this one.
            return True
        if isinstance(part, _Group):
            pending += reversed(part.parts)
        else:
            room -= 1 if part is None else len(part)
    return False
