"""The rows of a statement as a table, as JSON or as CSV.

Values are written by Spark itself (its CAST to string, its `to_json`), so that they read as they do in
Spark and on Databricks, in the session's time zone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from lakeward.cli import table_format
from lakeward.cli.formatting import format_count, format_duration
from lakeward.dbutils import redact, redactor

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST_ROWS = 1000
NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
GEOSPATIAL = ("geometry", "geography")


def as_table(
    frame: DataFrame, out: TextIO, *, width: int | None, clock: Callable[[], float], began: float
) -> None:
    """Print a table of at most 1,000 rows, then their number and the seconds; `OK` without columns."""
    if not frame.columns:
        out.write(f"OK ({format_duration(clock() - began)})\n")
        return
    rows = [redact_rows(row) for row in as_text(frame).limit(MOST_ROWS + 1).collect()]
    more = len(rows) > MOST_ROWS
    columns = [
        table_format.Column(redact(field.name), number=field.dataType.simpleString().startswith(NUMBERS))
        for field in frame.schema.fields
    ]
    out.writelines(
        f"{line}\n"
        for line in table_format.render(columns, rows[:MOST_ROWS], width=width, colour=width is not None)
    )
    seen = f"first {MOST_ROWS:,} rows" if more else format_count(len(rows), "row")
    out.write(f"({seen}, {format_duration(clock() - began)})\n")
    if more:
        out.write("There are more: add a LIMIT, or take them all with --format csv.\n")


def as_text(frame: DataFrame) -> DataFrame:
    """Return every column as string."""
    # Positions instead of names: two columns may have the same name, and a name may hold a dot.
    positions = [f"c{number}" for number in range(len(frame.columns))]
    kinds = [field.dataType.typeName() for field in frame.schema.fields]
    renamed = frame.toDF(*positions)
    return renamed.select(
        *(text_of(renamed[name], kind) for name, kind in zip(positions, kinds, strict=True))
    )


def text_of(column: Column, kind: str) -> Column:
    from pyspark.sql import functions as F

    if kind == "binary":
        return F.concat(F.lit("0x"), F.hex(column))
    return F.call_function("st_asewkt", column) if kind in GEOSPATIAL else column.cast("string")


def as_json(frame: DataFrame, out: TextIO) -> None:
    """Print one array of objects, a row a line; NULL is written as null."""
    from pyspark.sql import functions as F

    row = F.to_json(F.struct(F.col("*")), {"ignoreNullFields": "false"})
    separator = "["
    for (text,) in _with_texts_of_geometries(frame).select(row).toLocalIterator():
        # A row may be the first to evaluate secret().
        out.write(f"{separator}{redactor().json(text)}")
        separator = ",\n "
    out.write("]\n" if separator != "[" else "[]\n")


def _with_texts_of_geometries(frame: DataFrame) -> DataFrame:
    """Return the frame with EWKT in place of geometries, which JSON does not have."""
    fields = frame.schema.fields
    kinds = [field.dataType.typeName() for field in fields]
    if not set(kinds) & set(GEOSPATIAL):
        return frame
    renamed = frame.toDF(*(f"c{number}" for number in range(len(fields))))
    columns = [renamed[f"c{number}"] for number in range(len(fields))]
    texts = [text_of(c, kind) if kind in GEOSPATIAL else c for c, kind in zip(columns, kinds, strict=True)]
    return renamed.select(*(text.alias(field.name) for text, field in zip(texts, fields, strict=True)))


def as_csv(frame: DataFrame, out: TextIO) -> None:
    """Print a header and the rows, quoted as in RFC 4180; NULL is empty, an empty string is `""`."""
    out.write(csv_line(map(redact, frame.columns)))
    rows: Iterator[Iterable[str | None]] = as_text(frame).toLocalIterator()
    out.writelines(csv_line(redact_rows(row)) for row in rows)


def redact_rows(row: Iterable[str | None]) -> tuple[str | None, ...]:
    """Return the values without secrets, before a format escapes or cuts them."""
    redact = redactor()
    return tuple(None if value is None else redact(value) for value in row)


def csv_line(values: Iterable[str | None]) -> str:
    """Return one record as a line; `say "x"` is written `"say ""x""\"`."""
    return ",".join(map(csv_field, values)) + "\n"


def csv_field(value: str | None) -> str:
    if value is None:
        return ""
    if value == "" or any(char in value for char in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return value
