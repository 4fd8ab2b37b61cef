"""Cells of Excel files: the sheet and the range that the options name, its header and its types.

Source: https://docs.databricks.com/aws/en/query/formats/excel. Whole numbers are BIGINT, dates without a
time DATE, and columns of different types STRING (assumed).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lakeward.autoloader.readers.file_contents import ColumnarFile, FileOpener
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from lakeward.autoloader.options.option_values import Options

Cell = str | float | bool | date | datetime | None
"""The value of a cell, of a formula its result; None for an empty one."""

_CELL = r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})"
_RANGE = re.compile(rf"{_CELL}(?::{_CELL})?")
_QUOTED = re.compile(r"'((?:[^']|'')+)'(?:!(.*))?", re.DOTALL)
_NAMED = re.compile(r"([^!']+)(?:!(.*))?", re.DOTALL)
# Larger numbers of a cell, a double, are not exact.
_EXACT = 1 << 53


@dataclass(frozen=True)
class DataAddress:
    """A sheet, None for the first, and its first and last row and column, from 0, None for all cells.

    >>> DataAddress.parse("'My Sheet!'!D5:G10")
    DataAddress(sheet='My Sheet!', cells=((4, 3), (9, 6)))
    """

    sheet: str | None = None
    cells: tuple[tuple[int, int], tuple[int, int]] | None = None

    @classmethod
    def parse(cls, text: str) -> DataAddress:
        """Parse `dataAddress`; raise CloudFilesError(EXCEL_INVALID_READ_OPTION_VALUE)."""
        text = text.strip()
        if not text:
            return cls()
        if ":" in text and (whole := _RANGE.fullmatch(text)):
            return cls(None, _range(text, whole))
        match = _QUOTED.fullmatch(text) or _NAMED.fullmatch(text)
        if match is None:
            raise CloudFilesError(
                "EXCEL_INVALID_READ_OPTION_VALUE.EXCEL_DATA_ADDRESS_UNPARSEABLE_ADDRESS",
                f"The data address {text!r} is neither the name of a sheet nor a range of cells.",
                next_step="Write it as 'Sheet1', 'A1:C10' or 'Sheet1!A1:C10'; quote other names.",
            )
        sheet = match[1].replace("''", "'")
        return cls(sheet, None if match[2] is None else _range(match[2], _RANGE.fullmatch(match[2])))


def _range(text: str, match: re.Match[str] | None) -> tuple[tuple[int, int], tuple[int, int]]:
    if match is not None:
        first = _position(match[1], match[2])
        last = first if match[3] is None else _position(match[3], match[4])
        if first[0] >= 0 and first[0] <= last[0] and first[1] <= last[1]:
            return first, last
    raise CloudFilesError(
        "EXCEL_INVALID_READ_OPTION_VALUE.EXCEL_DATA_ADDRESS_INVALID_RANGE",
        f"The range of cells {text!r} is not valid.",
        next_step="Write the first and the last cell: 'A1:C10'.",
    )


def _position(letters: str, digits: str) -> tuple[int, int]:
    column = 0
    for letter in letters.upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(digits) - 1, column - 1


@dataclass(frozen=True)
class Sheet:
    """The names of the columns, and rows of as many cells."""

    names: list[str]
    rows: list[list[Cell]]

    def column(self, number: int) -> list[Cell]:
        """Return the cells of one column."""
        return [row[number] for row in self.rows]


def open_sheet(data: bytes, options: Options) -> Sheet:
    """Read the cells that the options name, or the list of sheets.

    Raises ValueError for data that is no Excel file, CloudFilesError for a sheet that it does not have.
    """
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        workbook: Any = CalamineWorkbook.from_filelike(BytesIO(data))
        if lists_sheets(options):
            sheets: list[list[Cell]] = [[number, name] for number, name in enumerate(workbook.sheet_names)]
            return Sheet(["sheetIndex", "sheetName"], sheets)
        address = DataAddress.parse(str(options.text("dataAddress")))
        name = _sheet_name(workbook.sheet_names, address.sheet)
        cells = workbook.get_sheet_by_name(name).to_python(skip_empty_area=False)
    except CalamineError as error:
        raise ValueError(str(error) or type(error).__name__) from None
    return _with_header(_cut(cells, address), header=options.value("headerRows") == "1")


def lists_sheets(options: Options) -> bool:
    """Return whether a row is a sheet instead of a row of one."""
    return bool(options.value("operation") == "listSheets")


def _sheet_name(names: Sequence[str], named: str | None) -> str:
    if named is None and names:
        return names[0]
    # Excel's names of sheets do not depend on case.
    found = [name for name in names if name.lower() == str(named).lower()]
    if not found:
        raise CloudFilesError(
            "EXCEL_INVALID_READ_OPTION_VALUE.EXCEL_DATA_ADDRESS_SHEET_NOT_FOUND",
            f"The workbook has no sheet {named!r}.",
            next_step=f"It has {', '.join(map(repr, names)) or 'none'}.",
        )
    return found[0]


def _cut(cells: list[list[Any]], address: DataAddress) -> list[list[Cell]]:
    if address.cells is None:
        return [[_value(cell) for cell in row] for row in cells]
    (top, left), (bottom, right) = address.cells
    width = right - left + 1
    rows = [[_value(cell) for cell in row[left : right + 1]] for row in cells[top : bottom + 1]]
    padded = [row + [None] * (width - len(row)) for row in rows]
    return padded + [[None] * width for _ in range(bottom - top + 1 - len(padded))]


def _value(cell: Any) -> Cell:
    """Return a cell as one of the types of `Cell`: times and durations are texts."""
    if isinstance(cell, str):
        return cell or None
    if isinstance(cell, time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        minutes, seconds = divmod(int(cell.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    value: Cell = cell
    return value


def _with_header(cells: list[list[Cell]], *, header: bool) -> Sheet:
    width = len(cells[0]) if cells else 0
    names = [f"_c{number + 1}" for number in range(width)]
    if header and cells:
        given = [cell_text(cell) for cell in cells[0]]
        names = [text or name for text, name in zip(given, names, strict=True)]
        lower = [name.lower() for name in names]
        # As for CSV files, a name that several columns have is followed by the column's number.
        names = [
            f"{name}{number}" if lower.count(lower[number]) > 1 else name for number, name in enumerate(names)
        ]
    return Sheet(names, cells[1:] if header else cells)


def cell_text(cell: Cell) -> str | None:
    """Return a cell as text, None for an empty one.

    >>> [cell_text(cell) for cell in (2.0, 2.5, True, datetime(2024, 1, 2, 3))]
    ['2', '2.5', 'true', '2024-01-02 03:00:00']
    """
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, date):
        return cell.isoformat()
    return str(int(cell)) if _is_whole(cell) else repr(cell)


def _is_whole(cell: float) -> bool:
    return abs(cell) < _EXACT and cell == int(cell)


def typed_opener(options: Options) -> FileOpener:
    """Return a function that opens a file as the names and types of its columns, without rows."""

    def open_types(data: bytes) -> ColumnarFile:
        sheet = open_sheet(data, options)
        typed = options.infer_types or lists_sheets(options)
        types = [
            _type_of(sheet.column(number)) if typed else pa.string() for number in range(len(sheet.names))
        ]
        return ColumnarFile(pa.schema(list(zip(sheet.names, types, strict=True))), iter(()))

    return open_types


def _type_of(cells: Sequence[Cell]) -> pa.DataType:
    found = {type(cell) for cell in cells if cell is not None}
    if not found:
        return pa.null()
    if found == {bool}:
        return pa.bool_()
    if found <= {int, float}:
        whole = all(_is_whole(cell) for cell in cells if isinstance(cell, (int, float)))
        return pa.int64() if whole else pa.float64()
    if found == {date}:
        return pa.date32()
    return pa.timestamp("us") if found <= {date, datetime} else pa.string()
