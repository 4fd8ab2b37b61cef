"""The reader of Excel files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import pyarrow as pa

from lakeward.autoloader.conversion.arrow_cast import ColumnCast
from lakeward.autoloader.conversion.text_columns import parse_column
from lakeward.autoloader.conversion.text_formats import TextFormats
from lakeward.autoloader.readers.batch_builder import BatchBuilder
from lakeward.autoloader.readers.excel_sheet import Cell, Sheet, cell_text, open_sheet
from lakeward.autoloader.readers.file_contents import FileContents

if TYPE_CHECKING:
    from lakeward.autoloader.discovery.file_listing import FileStatus

_DATES = ("date", "timestamp", "timestamp_ntz")


class ExcelReader:
    """Reads one sheet of each file: columns by the names of the header, without a header by position.

    A cell that does not have its column's type is NULL (assumed).
    """

    def __init__(self, builder: BatchBuilder, contents: FileContents) -> None:
        self._builder = builder
        self._contents = contents
        self._cast = ColumnCast(builder.plan.case_sensitive)
        self._formats = TextFormats.of(builder.options, builder.plan.time_zone)
        # Excel's own dates have no format.
        self._iso = replace(self._formats, timestamp=None, timestamp_ntz=None, date=None)

    def read(self, files: list[FileStatus]) -> Iterator[pa.RecordBatch]:
        """Yield one record batch per file."""
        for status, data in self._contents.read_all(files):
            try:
                sheet = open_sheet(data, self._builder.options)
            except ValueError as error:
                self._contents.skip_corrupt(status, error)
                continue
            places = self._places(sheet)
            arrays = {
                name: self._array(
                    name, sheet.column(places[name]) if name in places else [None] * len(sheet.rows)
                )
                for name in self._builder.data
            }
            yield self._builder.build(arrays, [(status, len(sheet.rows))])

    def _places(self, sheet: Sheet) -> dict[str, int]:
        """Return the numbers of the sheet's columns by the names of the source's."""
        names = list(self._builder.data)
        if self._builder.plan.has_user_schema and self._builder.options.value("headerRows") == "0":
            return {name: number for number, name in enumerate(names) if number < len(sheet.names)}
        found = {self._cast.match_name(name, names): number for number, name in enumerate(sheet.names)}
        return {name: number for name, number in found.items() if name is not None}

    def _array(self, name: str, cells: list[Cell]) -> pa.Array:
        import pyarrow.compute as pc

        dtype, arrow = self._builder.data[name], self._builder.arrow.field(name).type
        if dtype.typeName() in _DATES:
            # The texts of a date and of a time begin with the date.
            size = len("2024-01-31") if dtype.typeName() == "date" else None
            own = [str(cell)[:size] if isinstance(cell, date) else None for cell in cells]
            texts = [cell if isinstance(cell, str) else None for cell in cells]
            parsed = [
                parse_column(each, dtype, arrow, formats)[0]
                for each, formats in ((own, self._iso), (texts, self._formats))
            ]
            return pc.coalesce(*parsed)
        return parse_column([cell_text(cell) for cell in cells], dtype, arrow, self._formats)[0]
