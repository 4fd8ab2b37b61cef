"""Rows of text in columns: numbers to the right, NULL dimmed, long text cut; vertical where it is narrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from lakeward.cli.formatting import plain

LONGEST = 60
SHORTEST = 8
GAP = "  "
DIM, BOLD, OFF = "\x1b[2m", "\x1b[1m", "\x1b[0m"
NULL = "NULL"


@dataclass(frozen=True)
class Column:
    """A column's name, and whether it holds numbers."""

    name: str
    number: bool = False


def render(
    columns: Sequence[Column], rows: Sequence[Sequence[str | None]], *, width: int | None, colour: bool
) -> Iterator[str]:
    """Yield the lines of a table `width` cells wide; without a width it is as wide as it needs to be.

    Where the columns do not fit even when cut to eight cells, each row is shown as a block of `name value`.
    """
    colour = colour and "NO_COLOR" not in os.environ
    names = [plain(column.name, keep="") for column in columns]
    cells = [[format_cell(value) for value in row] for row in rows]
    full = [
        max([cell_len(name), *(cell_len(row[position]) for row in cells)])
        for position, name in enumerate(names)
    ]
    widths = fit_widths(full, width)
    if widths is None:
        yield from render_vertical(names, rows, cells, width or 0, colour)
        return
    paint = painter(colour)
    yield GAP.join(
        paint(BOLD, pad(n, w, c.number)) for n, w, c in zip(names, widths, columns, strict=True)
    ).rstrip()
    yield GAP.join(paint(DIM, "─" * each) for each in widths)
    for row, texts in zip(rows, cells, strict=True):
        line = (
            paint(DIM if value is None else "", pad(text, w, column.number))
            for value, text, w, column in zip(row, texts, widths, columns, strict=True)
        )
        yield GAP.join(line).rstrip()


def fit_widths(full: list[int], width: int | None) -> list[int] | None:
    """Return widths that fit, the widest columns narrowed first, none below eight; None if they cannot."""
    if width is None:
        return full
    widths = [min(each, max(LONGEST, width // 2)) for each in full]
    room = width - len(GAP) * (len(widths) - 1)
    if sum(min(each, SHORTEST) for each in widths) > room:
        return None
    while (over := sum(widths) - room) > 0:
        widest = max(widths)
        next_widest = max((each for each in widths if each < widest), default=SHORTEST)
        many = widths.count(widest)
        step = max(1, min(widest - max(next_widest, SHORTEST), -(-over // many)))
        widths = [each - step if each == widest else each for each in widths]
    return widths


def render_vertical(
    names: list[str], rows: Sequence[Sequence[str | None]], cells: list[list[str]], width: int, colour: bool
) -> Iterator[str]:
    """Yield each row as a block with a line a column."""
    paint = painter(colour)
    label = min(max(map(cell_len, names)), max(SHORTEST, width // 3))
    for number, (row, texts) in enumerate(zip(rows, cells, strict=True), start=1):
        yield paint(DIM, f"── row {number} ".ljust(min(width, 40), "─"))
        for name, value, text in zip(names, row, texts, strict=True):
            room = max(SHORTEST, width - label - len(GAP))
            style = DIM if value is None else ""
            yield f"{paint(BOLD, pad(name, label, False))}{GAP}{paint(style, truncate(text, room))}"


def painter(colour: bool) -> Callable[[str, str], str]:
    return lambda style, text: f"{style}{text}{OFF}" if colour and style else text


def format_cell(value: str | None) -> str:
    return NULL if value is None else plain(value, keep="")


def pad(text: str, width: int, right: bool) -> str:
    text = truncate(text, width)
    blank = " " * (width - cell_len(text))
    return blank + text if right else text + blank


def truncate(text: str, width: int) -> str:
    """Return the text in at most `width` cells, the last of them `…` when something was cut away."""
    if cell_len(text) <= width:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, width - 1).rstrip() + "…"


def cell_len(text: str) -> int:
    """Return the number of cells that a text takes on a terminal; wide characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len as cells

    return cells(text)
