"""Extract the uses in a file; an unreadable file is reported with its reason, never raised."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from lakeward.check.code.scan import Scanner
from lakeward.check.files import LARGEST, SourceFile
from lakeward.check.model import Place, Unread, Use
from lakeward.check.sql.scan import scan_sql
from lakeward.check.values import Text
from lakeward.newer_fstrings import parse_newer
from lakeward.notebooks import (
    ABOUT_ARCHIVES,
    LineMagic,
    Notebook,
    exported_language,
    install_commands,
    parse,
    pip_commands,
    python_text,
)
from lakeward.python_grammar import Version, parse_quietly, python_needed
from lakeward.quoting import use_statement


@dataclass(frozen=True)
class Cell:
    """One piece: Python source, SQL, or a magic by name with the text behind it."""

    language: str
    text: Text
    number: int = 0


def cells_of(notebook: Notebook) -> Iterator[Cell]:
    """Yield the pieces of every cell but text: the magics on lines of Python first, then the code."""
    for cell in notebook.cells:
        if cell.language in ("md", "md-sandbox"):
            continue
        if cell.language != "python":
            place = Text(cell.source, cell.line, cell.indent + 1, True, cell.indent)
            yield Cell(cell.language, place, cell.number)
            continue
        magics: list[LineMagic] = []
        source = python_text(cell.source, partial(_kept, magics))
        for magic in magics:
            yield Cell(magic.name, Text(magic.text, cell.line + magic.line - 1, 1), cell.number)
        yield Cell("python", Text(source, cell.line, 1, True), cell.number)


def _kept(found: list[LineMagic], magic: LineMagic) -> str:
    found.append(magic)
    return "None"


class Unreadable(Exception):
    """A file that cannot be read, at a line if one is known.

    `python` is the version that may read it; `is_scanned` if the code was read without that syntax.
    """

    def __init__(
        self,
        reason: str,
        line: int = 0,
        column: int = 0,
        python: Version | None = None,
        is_scanned: bool = False,
    ) -> None:
        super().__init__(reason)
        self.line, self.column, self.python, self.is_scanned = line, column, python, is_scanned


def content_of(file: SourceFile) -> bytes:
    """Return the bytes of a file. Raises Unreadable."""
    try:
        size = file.path.stat().st_size
        if size > LARGEST:
            raise Unreadable(f"it has {size // 1_000_000} MB, which is data rather than source")
        if not file.path.is_file():
            raise Unreadable("it is not a regular file")
        return file.path.read_bytes()
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None


def is_notebook(file: SourceFile, content: bytes) -> bool:
    """Return whether a file is a notebook."""
    return file.kind == "notebook" or exported_language(content, file.path.suffix.lower()) is not None


def uses_in(file: SourceFile) -> tuple[list[Use], Unread | None]:
    """Return the uses in a Python, notebook or SQL file."""
    scanner = Scanner(file.name)
    unread = None
    try:
        content = content_of(file)
        try:
            _READERS[file.kind](content, scanner)
        finally:
            cell = scanner.cell
            _emit_missing_notebooks(file, scanner)
            _emit_missing_packages(file, scanner)
            scanner.cell = cell
    except Unreadable as error:
        place = Place(file.name, scanner.cell, error.line, error.column)
        unread = Unread(place, str(error), error.python, error.is_scanned)
    return scanner.uses, unread


def _emit_missing_notebooks(file: SourceFile, scanner: Scanner) -> None:
    """Emit each `%run` whose notebook is neither in the repository nor mapped."""
    from lakeward.errors import LakewardError
    from lakeward.notebooks import SUFFIXES, parse_run_line
    from lakeward.session import MOUNT_ADVICE, find_platform_file, is_platform_path

    for text, line, column, cell in scanner.inclusions:
        path = parse_run_line(text.strip().removeprefix("%run")).path
        if not is_platform_path(path):
            if path and not any((file.path.parent / f"{path}{end}").is_file() for end in ("", *SUFFIXES)):
                scanner.cell = cell
                scanner.emit("task", "%run", line, column, f"There is no notebook {path} next to this one.")
            continue
        try:
            found = find_platform_file(path, file.path.parent, extensions=SUFFIXES)
            reason = f"No file of the repository and no mount matches {path}. {MOUNT_ADVICE}"
        except LakewardError as error:
            if error.condition != "PATH_AMBIGUOUS":
                return
            found, reason = None, str(error)
        if found is None:
            scanner.cell = cell
            scanner.emit("task", "%run", line, column, reason)


def _emit_missing_packages(file: SourceFile, scanner: Scanner) -> None:
    """Emit each local package of `%pip` that is not there."""
    from lakeward.notebooks import missing_package_files

    for use in [each for each in scanner.uses if each.kind == "install"]:
        scanner.cell = use.place.cell
        for reason in missing_package_files(use.name, file.path.parent):
            scanner.emit("task", "%pip", use.place.line, use.place.column, reason)


def _python(content: bytes, scanner: Scanner) -> None:
    notebook = _parsed_notebook(content, ".py")
    if notebook is not None:
        _source_notebook(notebook, scanner)
        return
    try:
        _scan_python(content, 1, scanner)
    except Unreadable as error:
        raise _explain_magic(error, content) from None


def _explain_magic(error: Unreadable, content: bytes) -> Unreadable:
    """Return the error of a file that is not a notebook, with the remedy if the line has a magic."""
    lines = content.splitlines()
    words = lines[error.line - 1].split() if 0 < error.line <= len(lines) else []
    if not words or words[0][:1] not in (b"%", b"!"):
        return error
    magic = words[0].decode(errors="replace")
    reason = (
        f"{magic} is a magic of notebooks, and this file is not a notebook. Begin it with the line "
        "`# Databricks notebook source`, or run it with `lakeward notebook`"
    )
    return Unreadable(reason, error.line, error.column)


def _sql(content: bytes, scanner: Scanner) -> None:
    notebook = _parsed_notebook(content, ".sql")
    if notebook is not None:
        _source_notebook(notebook, scanner)
        return
    try:
        source = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8: byte {error.start + 1} cannot be read") from None
    _cell(Cell("sql", Text(source, 1, 1, True)), scanner)


def _parsed_notebook(content: bytes, suffix: str) -> Notebook | None:
    try:
        return parse(content, suffix)
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8: byte {error.start + 1} cannot be read") from None
    except ValueError as error:
        raise Unreadable(str(error)) from None


def _source_notebook(notebook: Notebook, scanner: Scanner) -> None:
    """Read all cells; raise for the first that cannot be read, by its number."""
    broken: Unreadable | None = None
    _environment(notebook, scanner)
    for cell in cells_of(notebook):
        try:
            _cell(cell, scanner)
        except Unreadable as error:
            broken = broken or Unreadable(
                f"cell {cell.number}: {error}", error.line, error.column, error.python, error.is_scanned
            )
    if broken is not None:
        raise broken


def _notebook(content: bytes, scanner: Scanner) -> None:
    notebook = _parsed_notebook(content, ".ipynb")
    broken: tuple[int, Unreadable] | None = None
    if notebook is not None:
        _environment(notebook, scanner)
        if notebook.default_schema:
            scan_sql(Text(use_statement(notebook.default_schema), 1, 1), scanner)
    for cell in cells_of(notebook) if notebook is not None else ():
        scanner.cell = cell.number
        try:
            _cell(cell, scanner)
        except Unreadable as error:
            broken = broken or (cell.number, error)
    if broken is not None:
        scanner.cell = broken[0]
        raise broken[1]


def _environment(notebook: Notebook, scanner: Scanner) -> None:
    """Emit the packages that the notebook's environment declares."""
    if notebook.dependencies:
        scanner.emit("install", install_commands(notebook.dependencies), 1, 1)


def _cell(cell: Cell, scanner: Scanner) -> None:
    if cell.language == "sql":
        try:
            scan_sql(cell.text, scanner)
        except ValueError as error:
            raise Unreadable(f"it is not SQL: {error}", cell.text.line, cell.text.column) from None
    elif cell.language == "python":
        _scan_python(cell.text.value, cell.text.line, scanner)
    else:
        language, text = cell.language, cell.text.value
        packages = pip_commands(text) if language == "sh" else None
        if packages is not None:
            language, text = "pip", packages
        if language == "run":
            scanner.inclusions.append((text, cell.text.line, cell.text.column, scanner.cell))
        elif language == "pip":
            scanner.emit("install", text, cell.text.line, cell.text.column)
        scanner.emit("magic", language, cell.text.line, cell.text.column)


def _scan_python(source: str | bytes, line: int, scanner: Scanner) -> None:
    """Scan Python that starts at `line` of its file; raise Unreadable, after the scan where possible."""
    unreadable = None
    try:
        tree = parse_quietly(source)
    except SyntaxError as error:
        number = error.lineno or 0
        needed = python_needed(source, error)
        newer = _newer_tree(source) if needed is not None else None
        unreadable = Unreadable(
            f"Python cannot read it: {error.msg}",
            number and number + line - 1,
            error.offset or 0,
            needed,
            newer is not None,
        )
        if newer is None:
            raise unreadable from None
        tree = newer
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"Python cannot read it: {error}") from None
    scanner.scan(ast.increment_lineno(tree, line - 1) if line > 1 else tree)
    if unreadable is not None:
        raise unreadable


def _newer_tree(source: str | bytes) -> ast.Module | None:
    """Parse a source with f-strings of Python 3.12; None if this Python still cannot read it."""
    try:
        tree = parse_newer(source.decode("utf-8", "replace") if isinstance(source, bytes) else source)
    except SyntaxError:
        return None
    return tree if isinstance(tree, ast.Module) else None


def _archive(content: bytes, scanner: Scanner) -> None:  # noqa: ARG001  # the signature of all readers
    raise Unreadable(ABOUT_ARCHIVES)


_READERS: dict[str, Callable[[bytes, Scanner], None]] = {
    "python": _python,
    "notebook": _notebook,
    "archive": _archive,
    "sql": _sql,
}
