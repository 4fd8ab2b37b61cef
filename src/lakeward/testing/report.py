"""Differences as text, side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lakeward.testing.diff import Difference, Pair, Row

__all__ = ["rows_report", "schema_report"]

FIRST = 10
LONGEST = 40


def rows_report(
    columns: Sequence[str], difference: Difference, *, actual_count: int, expected_count: int
) -> str:
    """The differing cells with their column, then rows that are missing and rows that are too many."""
    return "\n".join(rows_lines(columns, difference, actual_count, expected_count))


def rows_lines(
    columns: Sequence[str], difference: Difference, actual_count: int, expected_count: int
) -> Iterator[str]:
    yield f"Frames are not equal: {actual_count:,} rows, expected {expected_count:,}."
    if difference.differing:
        yield f"\n{len(difference.differing):,} rows differ:"
        for pair in difference.differing[:FIRST]:
            yield from pair_lines(columns, pair)
        yield from rest(difference.differing)
    for rows, what in ((difference.missing, "missing"), (difference.extra, "extra")):
        if rows:
            yield f"\n{len(rows):,} rows are {what}:"
            yield from grid(columns, rows[:FIRST], "-" if what == "missing" else "+")
            yield from rest(rows)


def rest(items: Sequence[object]) -> Iterator[str]:
    if len(items) > FIRST:
        yield f"  … and {len(items) - FIRST:,} more"


def pair_lines(columns: Sequence[str], pair: Pair) -> Iterator[str]:
    """The cells that agree in one line, then each that does not: column, actual, expected."""
    same = [
        f"{name}={shown(value)}"
        for position, (name, value) in enumerate(zip(columns, pair.expected, strict=True))
        if position not in pair.columns
    ]
    yield f"  row with {', '.join(same)}" if same else "  row"
    header = ("column", "actual", "expected")
    cells = [
        (columns[at], shown(pair.actual[at], longest=80), shown(pair.expected[at], longest=80))
        for at in pair.columns
    ]
    for line in aligned([header, *cells]):
        yield f"      {line}"


def grid(columns: Sequence[str], rows: Sequence[Row], mark: str) -> Iterator[str]:
    lines = aligned([tuple(columns), *(tuple(shown(value) for value in row) for row in rows)])
    for number, line in enumerate(lines):
        yield f"  {mark if number else ' '} {line}"


def schema_report(rows: Sequence[tuple[str, str | None, str | None]]) -> str:
    """Columns side by side: name, actual type, expected type; what differs is marked."""
    lines = ["Schemas are not equal:"]
    cells = [("column", "actual", "expected"), *((n, a or "(none)", e or "(none)") for n, a, e in rows)]
    marks = [
        "",
        *(
            "" if a == e else "missing" if a is None else "extra" if e is None else "differs"
            for _, a, e in rows
        ),
    ]
    lines += [f"  {line}  {mark}".rstrip() for line, mark in zip(aligned(cells), marks, strict=True)]
    return "\n".join(lines)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[position]) for row in rows) for position in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def shown(value: Any, *, longest: int = LONGEST) -> str:
    """A value as short text: NULL for None, text in quotes."""
    text = "NULL" if value is None else repr(value) if isinstance(value, (str, bytes)) else str(value)
    text = text.replace("\n", "\\n")
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
