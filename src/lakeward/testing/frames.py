"""Assertions on DataFrames whose failure shows the differences side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from lakeward.testing.diff import Difference, Pair, Row, compare

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_FIRST = 10
_LONGEST = 40


def assert_frame_equal(
    actual: DataFrame,
    expected: DataFrame | Iterable[Mapping[str, Any] | Sequence[Any]],
    *,
    ordered: bool = False,
    check_types: bool = True,
    rtol: float | None = None,
) -> None:
    """Assert that two frames have the same columns and the same rows.

    `expected` may be rows (dicts, or tuples in the order of the columns) instead of a frame: it is then
    read with the schema of `actual`. The order of rows counts only when `ordered`; repeats always do.
    Column types count unless `check_types` is off, nullability never. `rtol` is the relative difference
    that two floats may have. The failure names differing cells by column, and missing and extra rows.
    """
    __tracebackhide__ = True
    wanted = expected if is_frame(expected) else rows_like(actual, expected)
    if check_types:
        assert_schema_equal(actual.schema, wanted.schema)
    elif problem := names_differ(actual.columns, wanted.columns):
        raise AssertionError(problem)
    got, want = [tuple(row) for row in actual.collect()], [tuple(row) for row in wanted.collect()]
    difference = compare(got, want, ordered=ordered, rtol=rtol)
    if difference:
        text = rows_report(actual.columns, difference, actual_count=len(got), expected_count=len(want))
        raise AssertionError(text)


def assert_schema_equal(
    actual: DataFrame | StructType, expected: DataFrame | StructType | str, *, check_nullable: bool = False
) -> None:
    """Assert that two schemas have the same columns with the same types in the same order.

    Either may be a frame; `expected` may be DDL (`"id bigint, name string"`). Nullability counts only
    when `check_nullable`.
    """
    __tracebackhide__ = True
    got, want = (
        column_types(schema_of(actual), check_nullable),
        column_types(schema_of(expected), check_nullable),
    )
    if got == want:
        return
    if dict(got) == dict(want) and len(got) == len(want):
        order = f"  actual    {', '.join(dict(got))}\n  expected  {', '.join(dict(want))}"
        raise AssertionError(f"Schemas are not equal: the columns are in another order.\n{order}")
    raise AssertionError(schema_report(align_columns(got, want)))


def is_frame(given: object) -> TypeGuard[DataFrame]:
    """Return whether it is a DataFrame, without importing pyspark."""
    return hasattr(given, "schema") and hasattr(given, "collect")


def rows_like(actual: DataFrame, rows: Any) -> DataFrame:
    return actual.sparkSession.createDataFrame(
        [
            tuple(row.get(name) for name in actual.columns) if isinstance(row, Mapping) else tuple(row)
            for row in rows
        ],
        actual.schema,
    )


def schema_of(given: Any) -> StructType:
    if isinstance(given, str):
        from pyspark.sql.types import StructType

        ddl = StructType.fromDDL(given)
        assert isinstance(ddl, StructType)
        return ddl
    return getattr(given, "schema", given)  # type: ignore[no-any-return]  # a frame's schema, or a schema


def column_types(schema: StructType, check_nullable: bool) -> list[tuple[str, str]]:
    """Return names and types; types inside a type count, too."""
    return [
        (
            field.name,
            field.dataType.simpleString() + (" not null" if check_nullable and not field.nullable else ""),
        )
        for field in schema.fields
    ]


def align_columns(
    actual: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> list[tuple[str, str | None, str | None]]:
    got, want = dict(actual), dict(expected)
    names = list(dict.fromkeys([*want, *got]))
    return [(name, got.get(name), want.get(name)) for name in names]


def names_differ(actual: list[str], expected: list[str]) -> str | None:
    if actual == expected:
        return None
    return f"Columns are not equal:\n  actual    {', '.join(actual)}\n  expected  {', '.join(expected)}"


def rows_report(
    columns: Sequence[str], difference: Difference, *, actual_count: int, expected_count: int
) -> str:
    """Return the differing cells with their column, then rows that are missing and rows that are too many."""
    return "\n".join(_rows_lines(columns, difference, actual_count, expected_count))


def _rows_lines(
    columns: Sequence[str], difference: Difference, actual_count: int, expected_count: int
) -> Iterator[str]:
    yield f"Frames are not equal: {actual_count:,} rows, expected {expected_count:,}."
    if difference.differing:
        yield f"\n{len(difference.differing):,} rows differ:"
        for pair in difference.differing[:_FIRST]:
            yield from _pair_lines(columns, pair)
        yield from _rest(difference.differing)
    for rows, what in ((difference.missing, "missing"), (difference.extra, "extra")):
        if rows:
            yield f"\n{len(rows):,} rows are {what}:"
            yield from _grid(columns, rows[:_FIRST], "-" if what == "missing" else "+")
            yield from _rest(rows)


def _rest(items: Sequence[object]) -> Iterator[str]:
    if len(items) > _FIRST:
        yield f"  … and {len(items) - _FIRST:,} more"


def _pair_lines(columns: Sequence[str], pair: Pair) -> Iterator[str]:
    """Yield the cells that agree in one line, then each that does not: column, actual, expected."""
    same = [
        f"{name}={_shown(value)}"
        for position, (name, value) in enumerate(zip(columns, pair.expected, strict=True))
        if position not in pair.columns
    ]
    yield f"  row with {', '.join(same)}" if same else "  row"
    header = ("column", "actual", "expected")
    cells = [
        (columns[at], _shown(pair.actual[at], longest=80), _shown(pair.expected[at], longest=80))
        for at in pair.columns
    ]
    for line in _align([header, *cells]):
        yield f"      {line}"


def _grid(columns: Sequence[str], rows: Sequence[Row], mark: str) -> Iterator[str]:
    lines = _align([tuple(columns), *(tuple(_shown(value) for value in row) for row in rows)])
    for number, line in enumerate(lines):
        yield f"  {mark if number else ' '} {line}"


def schema_report(rows: Sequence[tuple[str, str | None, str | None]]) -> str:
    """Return the columns with actual and expected types as a table; differences are marked."""
    lines = ["Schemas are not equal:"]
    cells = [("column", "actual", "expected"), *((n, a or "(none)", e or "(none)") for n, a, e in rows)]
    marks = [
        "",
        *(
            "" if a == e else "missing" if a is None else "extra" if e is None else "differs"
            for _, a, e in rows
        ),
    ]
    lines += [f"  {line}  {mark}".rstrip() for line, mark in zip(_align(cells), marks, strict=True)]
    return "\n".join(lines)


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[position]) for row in rows) for position in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _shown(value: object, *, longest: int = _LONGEST) -> str:
    """Return a value as short text: NULL for None, text in quotes."""
    text = "NULL" if value is None else repr(value) if isinstance(value, (str, bytes)) else str(value)
    text = text.replace("\n", "\\n")
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
