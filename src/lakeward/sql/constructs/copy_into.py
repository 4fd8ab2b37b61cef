"""COPY INTO: the grammar. Another package runs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lakeward.sql.construct import Command, Construct, RewriteResult, in_area, syntax_error
from lakeward.sql.constructs.copy_credentials import InvalidClause, read_credentials
from lakeward.sql.constructs.property_list import read_properties
from lakeward.sql.token_cursor import TokenCursor, Unmatched

FORMATS = ("CSV", "JSON", "AVRO", "ORC", "PARQUET", "TEXT", "BINARYFILE", "XML", "EXCEL")
MAX_FILES = 1000


@dataclass(frozen=True)
class CopyInto(Command):
    """Loads the files of a folder into a table, each file once.

    Attributes:
        target: The table's name, or a format and a path.
        by_position: Whether columns match by position.
        columns: The column list, None without one.
        source: The folder or file pattern.
        select: For a query the text before and after the path.
        file_format: One of `FORMATS`.
        validate: The number of rows to validate or "all"; None to load.
        files: The names of FILES.
        pattern: The glob of PATTERN.
        format_options: FORMAT_OPTIONS.
        copy_options: COPY_OPTIONS.
    """

    target: list[str]
    by_position: bool
    columns: list[str] | None
    source: str
    select: list[str] | None
    file_format: str
    validate: int | str | None = None
    files: list[str] | None = None
    pattern: str | None = None
    format_options: dict[str, str] = field(default_factory=dict)
    copy_options: dict[str, str] = field(default_factory=dict)


def _copy_into(cursor: TokenCursor) -> RewriteResult:
    cursor.need("COPY", "INTO")
    try:
        return _statement(cursor)
    except InvalidClause as error:
        return error.refusal
    except Unmatched:
        return syntax_error(cursor, "COPY INTO")


def _statement(cursor: TokenCursor) -> CopyInto:
    target = cursor.name(4)
    by_position = cursor.words("BY", "POSITION")
    columns = cursor.part_list() if not by_position and cursor.words("(") else None
    cursor.need("FROM")
    source, select = _source(cursor)
    cursor.need("FILEFORMAT")
    cursor.words("=")
    file_format = _file_format(cursor)
    clauses: dict[str, Any] = {}
    while cursor.next is not None:
        clauses |= _clause(cursor)
    if "files" in clauses and "pattern" in clauses:
        raise InvalidClause("COPY_INTO_SYNTAX_ERROR", "COPY INTO takes FILES or PATTERN, not both.")
    return CopyInto(
        target=target,
        by_position=by_position,
        columns=columns,
        source=source,
        select=select,
        file_format=file_format,
        **clauses,
    )


def _file_format(cursor: TokenCursor) -> str:
    if cursor.word in FORMATS:
        return cursor.one_of(*FORMATS)
    name = cursor.part()
    message = f"The format of the source files must be one of {', '.join(FORMATS)}, not {name}."
    raise InvalidClause("COPY_INTO_SOURCE_FILE_FORMAT_NOT_SUPPORTED", message, "0A000")


def _source(cursor: TokenCursor) -> tuple[str, list[str] | None]:
    """Read the path; for a query also return the text before and after it."""
    if not cursor.words("("):
        return _path(cursor), None
    begin = cursor.at
    _skip_to_path(cursor)
    before = cursor.text(begin)
    path = _path(cursor)
    rest = cursor.at
    if not cursor.words(")"):  # only an alias can follow
        cursor.words("AS")
        cursor.part()
        cursor.need(")")
    return path, [before, cursor.text(rest, cursor.at - 1)]


def _path(cursor: TokenCursor) -> str:
    path = cursor.string()
    if not path:
        # The folder of no name is the one that the process was started in.
        message = "The location name cannot be empty string, but `` was given."
        raise InvalidClause("INVALID_EMPTY_LOCATION", message, "42K05")
    read_credentials(cursor, path)
    return path


def _skip_to_path(cursor: TokenCursor) -> None:
    """Read SELECT … FROM up to the path."""
    cursor.need("SELECT")
    while cursor.skip_to("FROM"):
        cursor.skip()
        if cursor.is_string:
            return
    raise Unmatched


def _clause(cursor: TokenCursor) -> dict[str, Any]:
    if cursor.words("VALIDATE"):
        return {"validate": _validate(cursor)}
    if cursor.words("FILES"):
        cursor.need("=")
        return {"files": _files(cursor)}
    if cursor.words("PATTERN"):
        cursor.need("=")
        return {"pattern": cursor.string()}
    if cursor.words("FORMAT_OPTIONS"):
        return {"format_options": read_properties(cursor)}
    if cursor.words("COPY_OPTIONS"):
        return {"copy_options": read_properties(cursor)}
    raise Unmatched


def _validate(cursor: TokenCursor) -> int | str:
    if cursor.words("ALL"):
        return "all"
    sign = -1 if cursor.words("-") else 1
    try:
        rows = sign * cursor.integer()
    except Unmatched:
        return "all"
    cursor.need("ROWS")
    if rows <= 0:
        raise InvalidClause(
            "COPY_INTO_SYNTAX_ERROR.VALIDATE_INVALID_ROWS",
            f"VALIDATE requires a positive number of rows, not {rows}.",
        )
    return rows


def _files(cursor: TokenCursor) -> list[str]:
    cursor.need("(")
    files = cursor.separated(cursor.string)
    cursor.need(")")
    if len(files) > MAX_FILES:
        raise InvalidClause(
            "COPY_INTO_SYNTAX_ERROR", f"FILES takes at most {MAX_FILES} names, not {len(files)}."
        )
    return files


CONSTRUCTS = in_area(
    "Loading files",
    Construct(
        name="COPY INTO",
        example="COPY INTO t FROM '/Volumes/main/default/landing' FILEFORMAT = JSON",
        note="loads each file once per table; the load history is in the table's log folder",
        statement=_copy_into,
        test="tests/copy_into/test_copy_into.py",
    ),
    Construct(
        name="read_files",
        example="SELECT * FROM read_files('/Volumes/main/default/landing', format => 'csv', header => true)",
        note="Auto Loader's readers on the current files; with `_metadata`, also in views",
        test="tests/autoloader/test_table_functions.py",
    ),
    Construct(
        name="STREAM read_files, cloud_files",
        example="SELECT * FROM STREAM read_files('/Volumes/main/default/landing', format => 'json')",
        note="an Auto Loader stream; cloud_files('path', 'format', map(…)) is the older form",
        test="tests/autoloader/test_table_functions.py",
    ),
)
