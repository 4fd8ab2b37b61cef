"""COPY INTO (auto-loader.md §8): the grammar alone; another room carries it out."""

from __future__ import annotations

from typing import Any

from lakeward.sql.construct import Construct
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Command, Outcome, Refusal

__all__ = ["CONSTRUCTS"]

FORMATS = ("CSV", "JSON", "AVRO", "ORC", "PARQUET", "TEXT", "BINARYFILE")
MOST_FILES = 1000


class _Wrong(Exception):
    """A mistake that has a condition of its own."""

    def __init__(self, condition: str, message: str) -> None:
        super().__init__(message)
        self.refusal = Refusal(condition, message, "42601")


def _copy(cursor: Cursor) -> Outcome:
    cursor.need("COPY", "INTO")
    try:
        return Command("copy_into", _statement(cursor))
    except _Wrong as wrong:
        return wrong.refusal
    except Unmatched:
        at = cursor.next
        near = "end of input" if at is None else f"'{at.text}'"
        return Refusal("PARSE_SYNTAX_ERROR", f"{near} in COPY INTO", "42601", {"error": near, "hint": ""})


def _statement(cursor: Cursor) -> dict[str, Any]:
    target = cursor.name(4)
    by_position = cursor.words("BY", "POSITION")
    columns = None if by_position else _columns(cursor)
    cursor.need("FROM")
    source, select = _source(cursor)
    cursor.need("FILEFORMAT")
    cursor.words("=")
    file_format = cursor.one_of(*FORMATS)
    found: dict[str, Any] = {"validate": None, "files": None, "pattern": None}
    found |= {"format_options": {}, "copy_options": {}}
    while cursor.next is not None:
        _clause(cursor, found)
    if found["files"] is not None and found["pattern"] is not None:
        raise _Wrong("COPY_INTO_SYNTAX_ERROR", "FILES and PATTERN cannot stand in one COPY INTO.")
    return {
        "target": target,
        "by_position": by_position,
        "columns": columns,
        "source": source,
        "select": select,
        "file_format": file_format,
        **found,
    }


def _columns(cursor: Cursor) -> list[str] | None:
    if not cursor.words("("):
        return None
    found = [cursor.part()]
    while cursor.words(","):
        found.append(cursor.part())
    cursor.need(")")
    return found


def _source(cursor: Cursor) -> tuple[str, list[str] | None]:
    """The path, and for a query what stands before and behind it."""
    if not cursor.words("("):
        path = cursor.string()
        _access(cursor)
        return path, None
    begin = cursor.at
    _skip_to_path(cursor)
    before = cursor.text(begin)
    path = cursor.string()
    _access(cursor)
    rest = cursor.at
    if not cursor.words(")"):  # an alias is all that may follow
        cursor.words("AS")
        cursor.part()
        cursor.need(")")
    return path, [before, cursor.text(rest, cursor.at - 1)]


def _skip_to_path(cursor: Cursor) -> None:
    """Read SELECT … FROM up to the path behind it."""
    cursor.need("SELECT")
    depth = 0
    while (token := cursor.next) is not None:
        ahead = cursor.ahead(2)
        cursor.at += 1
        if depth == 0 and token.word == "FROM" and len(ahead) == 2 and ahead[1].is_string:
            return
        depth += (token.text == "(") - (token.text == ")")
        if depth < 0:
            break
    raise Unmatched


def _access(cursor: Cursor) -> None:
    """WITH (CREDENTIAL … ENCRYPTION …): read and left out, files are reached with this machine's rights."""
    if not cursor.words("WITH"):
        return
    cursor.need("(")
    depth = 1
    while depth:
        if cursor.next is None:
            raise Unmatched
        depth += (cursor.next.text == "(") - (cursor.next.text == ")")
        cursor.at += 1


def _clause(cursor: Cursor, found: dict[str, Any]) -> None:
    if cursor.words("VALIDATE"):
        found["validate"] = _validated(cursor)
    elif cursor.words("FILES"):
        cursor.need("=")
        found["files"] = _files(cursor)
    elif cursor.words("PATTERN"):
        cursor.need("=")
        found["pattern"] = cursor.string()
    elif cursor.words("FORMAT_OPTIONS"):
        found["format_options"] = _options(cursor)
    elif cursor.words("COPY_OPTIONS"):
        found["copy_options"] = _options(cursor)
    else:
        raise Unmatched


def _validated(cursor: Cursor) -> int | str:
    if cursor.words("ALL"):
        return "all"
    sign = -1 if cursor.words("-") else 1
    try:
        rows = sign * cursor.integer()
    except Unmatched:
        return "all"
    cursor.need("ROWS")
    if rows <= 0:
        raise _Wrong(
            "COPY_INTO_SYNTAX_ERROR.VALIDATE_INVALID_ROWS",
            f"VALIDATE takes a positive number of rows; {rows} was asked for.",
        )
    return rows


def _files(cursor: Cursor) -> list[str]:
    cursor.need("(")
    found = [cursor.string()]
    while cursor.words(","):
        found.append(cursor.string())
    cursor.need(")")
    if len(found) > MOST_FILES:
        raise _Wrong("COPY_INTO_SYNTAX_ERROR", f"FILES takes at most {MOST_FILES} names, not {len(found)}.")
    return found


def _options(cursor: Cursor) -> dict[str, str]:
    cursor.need("(")
    found: dict[str, str] = {}
    while not cursor.words(")"):
        token = cursor.next
        key = cursor.string() if token is not None and token.is_string else ".".join(cursor.name(4))
        cursor.need("=")
        found[key] = _value(cursor)
        if not cursor.words(","):
            cursor.need(")")
            break
    return found


def _value(cursor: Cursor) -> str:
    token = cursor.next
    if token is None or token.text in ",()":
        raise Unmatched
    if token.is_string:
        return cursor.string()
    cursor.at += 1
    return token.text


CONSTRUCTS = (
    Construct(
        "COPY INTO",
        "Loading files",
        "added",
        "COPY INTO t FROM '/Volumes/main/default/landing' FILEFORMAT = JSON",
        "each file once a table; the load history lies in the table's log folder, committed with the data",
        ("COPY",),
        _copy,
        test="tests/copy_into/test_copy_into.py",
    ),
    Construct(
        "read_files",
        "Loading files",
        "added",
        "SELECT * FROM read_files('/Volumes/main/default/landing', format => 'csv', header => true)",
        "Auto Loader's readers on the files as they are; with `_metadata`, in views too",
        test="tests/autoloader/test_table_functions.py",
    ),
    Construct(
        "STREAM read_files, cloud_files",
        "Loading files",
        "added",
        "SELECT * FROM STREAM read_files('/Volumes/main/default/landing', format => 'json')",
        "an Auto Loader stream; cloud_files('path', 'format', map(…)) is the older form of it",
        test="tests/autoloader/test_table_functions.py",
    ),
)
