"""From a file to the uses in it; a file that cannot be read is told with its reason, never an error."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable

from lakeward.check import notebooks
from lakeward.check.code.scan import Scanner
from lakeward.check.code.values import Text
from lakeward.check.files import LARGEST, SourceFile
from lakeward.check.model import Place, Unread, Use
from lakeward.check.sql.scan import scan_sql

__all__ = ["Unreadable", "uses_in"]


class Unreadable(Exception):
    """A file that cannot be read, at a line if one is known."""

    def __init__(self, reason: str, line: int = 0, column: int = 0) -> None:
        super().__init__(reason)
        self.line, self.column = line, column


def content_of(file: SourceFile) -> bytes:
    """The bytes of a file. Raises Unreadable."""
    try:
        size = file.path.stat().st_size
        if size > LARGEST:
            raise Unreadable(f"it has {size // 1_000_000} MB, which is data rather than source")
        if not file.path.is_file():
            raise Unreadable("it is no regular file")
        return file.path.read_bytes()
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None


def uses_in(file: SourceFile) -> tuple[list[Use], Unread | None]:
    """The uses in a Python, notebook or SQL file."""
    scanner = Scanner(file.name)
    unread = None
    try:
        content = content_of(file)
        _READERS[file.kind](content, scanner)
    except Unreadable as error:
        unread = Unread(Place(file.name, scanner.cell, error.line, error.column), str(error))
    return scanner.uses, unread


def _python(content: bytes, scanner: Scanner) -> None:
    is_notebook = content.startswith(notebooks.PYTHON_MARK)
    if is_notebook:
        for cell in notebooks.magics_of(content.decode("utf-8", "replace")):
            _cell(cell, scanner)
    scanner.scan(_parsed(content))


def _notebook(content: bytes, scanner: Scanner) -> None:
    try:
        cells = list(notebooks.cells_of(content))
    except ValueError as error:
        raise Unreadable(str(error)) from None
    broken: Unreadable | None = None
    for cell in cells:
        scanner.cell = cell.number
        try:
            _cell(cell, scanner)
        except Unreadable as error:
            broken = broken or error
    if broken is not None:
        raise broken


def _sql(content: bytes, scanner: Scanner) -> None:
    try:
        source = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8: byte {error.start + 1} cannot be read") from None
    if content.startswith(notebooks.SQL_MARK):
        for cell in notebooks.magics_of(source):
            _cell(cell, scanner)
    _cell(notebooks.Cell("sql", Text(source, 1, 1, True)), scanner)


def _cell(cell: notebooks.Cell, scanner: Scanner) -> None:
    if cell.language == "sql":
        try:
            scan_sql(cell.text, scanner)
        except ValueError as error:
            raise Unreadable(f"it is no SQL: {error}", cell.text.line, cell.text.column) from None
    elif cell.language == "python":
        scanner.scan(_parsed(cell.text.value))
    else:
        scanner.emit("magic", cell.language, cell.text.line, cell.text.column)


def _parsed(source: str | bytes) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # An escape that Python would rather not see is no business of ours.
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except SyntaxError as error:
        raise Unreadable(
            f"Python cannot read it: {error.msg}", error.lineno or 0, error.offset or 0
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"Python cannot read it: {error}") from None


_READERS: dict[str, Callable[[bytes, Scanner], None]] = {
    "python": _python,
    "notebook": _notebook,
    "sql": _sql,
}
