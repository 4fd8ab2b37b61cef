"""Vectorized CSV: Arrow's parser for large regular files.

A file is regular if Spark's parser and Arrow's agree on it: quotes around whole values only, no escapes, all
rows as wide as the first. Other files are left to `csv_dialect`.
"""

from __future__ import annotations

import codecs

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from lakeward.autoloader.readers.csv_dialect import CsvDialect

# Arrow does not pay off for shorter texts; many of them share one record batch.
MIN_BYTES = 64 << 10
# Arrow rejects lines longer than its block size.
_BLOCK = 8 << 20


def is_regular_dialect(dialect: CsvDialect) -> bool:
    """Return whether files of this dialect can be regular."""
    return dialect == CsvDialect(sep=dialect.sep, escape=dialect.escape, encoding=dialect.encoding) and (
        dialect.escape in ('"', "\\")
        and len(dialect.sep) == 1
        and dialect.sep.isascii()
        # Spark skips blank lines; Arrow reports them as too short unless the separator is blank.
        and dialect.sep not in '"\\ \t\n\r'
        and dialect.encoding == "utf-8"
    )


def parse_text_columns(data: bytes, dialect: CsvDialect) -> tuple[str, pa.Table] | None:
    """Return the first line and the string columns of the other lines, null for empty values.

    None if the text is not regular or too short. `dialect` must be regular.
    """
    if len(data) < MIN_BYTES or (dialect.escape == "\\" and b"\\" in data):
        return None
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.lstrip(b"\n")
    head = data[: data.find(b"\n") + 1]
    body = memoryview(data)[len(head) - 1 :]
    if not head or not _has_whole_quotes(body, dialect.sep):
        return None
    try:
        first = head[:-1].decode()
        names = [str(index) for index in range(len(dialect.row(first)))]
        table = pc.read_csv(
            pa.BufferReader(body),
            pc.ReadOptions(use_threads=False, block_size=_BLOCK, column_names=names),
            pc.ParseOptions(delimiter=dialect.sep, double_quote=False),
            pc.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
            ),
        )
        is_table = 1 < len(names) <= dialect.max_columns and table.num_rows
        return (first, table) if is_table else None
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None


def _has_whole_quotes(body: memoryview, sep: str) -> bool:
    """Return whether quotes enclose whole values only. The text starts with a line break."""
    text = np.frombuffer(body, np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    first, last = quotes[::2], quotes[1::2]
    before, after = text[first - 1], text[last[last + 1 < len(text)] + 1]
    if any(np.any((edge != ord("\n")) & (edge != ord(sep))) for edge in (before, after)):
        return False
    ends = np.flatnonzero(text == ord("\n")) if len(quotes) else quotes
    # Both quotes of a pair are on the same line.
    return np.array_equal(np.searchsorted(ends, first), np.searchsorted(ends, last))
