"""CSV text without any oddity → columns of texts, by Arrow's parser: many times faster than line by line.

Plain is what Spark's parser and Arrow's read alike: quotes around whole values only, no escapes, every row
as wide as the first. Everything else is left to `csv_lines`.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from lakeward.autoloader.readers.csv_lines import Dialect

__all__ = ["is_plain", "plain_columns"]

# A shorter text is not worth the way over Arrow, and many of them share one record batch.
SMALLEST = 64 << 10
# Arrow takes no longer line than a block.
_BLOCK = 8 << 20


def is_plain(dialect: Dialect) -> bool:
    """Whether files so written may have plain text at all."""
    return dialect == Dialect(sep=dialect.sep, escape=dialect.escape, encoding=dialect.encoding) and (
        dialect.escape in ('"', "\\")
        and len(dialect.sep) == 1
        and dialect.sep.isascii()
        # A line of blanks is no row: with another separator it is too short, which Arrow tells.
        and dialect.sep not in '"\\ \t\n\r'
        and dialect.encoding.upper().replace("-", "") == "UTF8"
    )


def plain_columns(data: bytes, dialect: Dialect) -> tuple[str, pa.Table] | None:
    """The first line, and the columns of the lines behind it, all texts, null where nothing stands.

    None where the text is not plain, or is too short to tell; `dialect` is a plain one.
    """
    if len(data) < SMALLEST or (dialect.escape == "\\" and b"\\" in data):
        return None
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    data = data.lstrip(b"\n")
    head = data[: data.find(b"\n") + 1]
    body = memoryview(data)[len(head) - 1 :]
    if not head or not _whole_quotes(body, dialect.sep):
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
        return (first, table) if len(names) > 1 and table.num_rows else None
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None


def _whole_quotes(body: memoryview, sep: str) -> bool:
    """Whether quotes stand around whole values alone, in a text that begins with the end of a line."""
    text = np.frombuffer(body, np.uint8)
    quotes = np.flatnonzero(text == ord('"'))
    first, last = quotes[::2], quotes[1::2]
    before, after = text[first - 1], text[last[last + 1 < len(text)] + 1]
    if any(np.any((edge != ord("\n")) & (edge != ord(sep))) for edge in (before, after)):
        return False
    ends = np.flatnonzero(text == ord("\n")) if len(quotes) else quotes
    # In pairs, each within a line.
    return np.array_equal(np.searchsorted(ends, first), np.searchsorted(ends, last))
