"""Excel files through every reader, compared with openpyxl, which has written them."""

from __future__ import annotations

import io
import string
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.readers.excel_sheet import Cell, DataAddress, Sheet, open_sheet
from lakeward.autoloader.schema.schema_inference import infer_schema
from lakeward.errors import CloudFilesError
from tests.autoloader.reader_harness import rows_of, schema_of

moment = datetime.fromisoformat
ROWS: list[list[Any]] = [
    ["id", "name", "day", "at", "flag", "mixed", "share"],
    [1, "a", date(2024, 1, 2), moment("2024-01-02T03:04:05"), True, 1, 0.5],
    [2, None, date(2024, 1, 3), moment("2024-01-02T00:00:00"), False, "x", 2],
]
TYPES = {
    "id": "bigint",
    "name": "string",
    "day": "date",
    "at": "timestamp_ntz",
    "flag": "boolean",
    "mixed": "string",
    "share": "double",
}
VALUES = [
    (1, "a", date(2024, 1, 2), moment("2024-01-02T03:04:05"), True, "1", 0.5),
    (2, None, date(2024, 1, 3), moment("2024-01-02T00:00:00"), False, "x", 2.0),
]


def workbook(*sheets: tuple[str, list[list[Any]]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def sheet_of(data: bytes, **options: str) -> Sheet:
    return open_sheet(data, Options.of({"cloudFiles.format": "excel", **options}))


@pytest.mark.parametrize(
    ("text", "sheet", "cells"),
    [
        ("", None, None),
        ("C5:H10", None, ((4, 2), (9, 7))),
        ("$C$5:$H$10", None, ((4, 2), (9, 7))),
        ("Sheet1", "Sheet1", None),
        ("A1", "A1", None),
        ("Sheet1!A1:A1", "Sheet1", ((0, 0), (0, 0))),
        ("Sheet1!AA7", "Sheet1", ((6, 26), (6, 26))),
        ("'My Sheet!?>'!D5:G10", "My Sheet!?>", ((4, 3), (9, 6))),
        ("'it''s'", "it's", None),
    ],
)
def test_addresses(text: str, sheet: str | None, cells: object) -> None:
    assert DataAddress.parse(text) == DataAddress(sheet, cells)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Data!C3:A1", "INVALID_RANGE"),
        ("C3:A1", "INVALID_RANGE"),
        ("A0:B1", "INVALID_RANGE"),
        ("Data!", "INVALID_RANGE"),
        ("Data!A1:B", "INVALID_RANGE"),
        ("!A1:B2", "UNPARSEABLE_ADDRESS"),
        ("'Data", "UNPARSEABLE_ADDRESS"),
        ("Other", "SHEET_NOT_FOUND"),
        ("Other!A1:B2", "SHEET_NOT_FOUND"),
    ],
)
def test_addresses_that_are_not_there(text: str, part: str) -> None:
    with pytest.raises(CloudFilesError) as raised:
        sheet_of(workbook(("Data", ROWS)), dataAddress=text)
    assert raised.value.condition == f"EXCEL_INVALID_READ_OPTION_VALUE.EXCEL_DATA_ADDRESS_{part}"


def test_columns_without_a_header_with_one_and_with_names_that_repeat_or_lack() -> None:
    data = workbook(("Data", [["A", "a", None, "b", 2024], [1, 2, 3, 4, 5]]))
    assert sheet_of(data).names == [f"_c{number}" for number in range(1, 6)]
    assert sheet_of(data, headerRows="1") == Sheet(["A0", "a1", "_c3", "b", "2024"], [[1, 2, 3, 4, 5]])
    assert sheet_of(workbook(("Data", [])), headerRows="1") == Sheet([], [])


def test_a_range_has_its_size_whatever_the_sheet_has() -> None:
    data = workbook(("One", [[1, 2], [3, 4]]), ("Two", [[5]]))
    assert sheet_of(data, dataAddress="A2:C3").rows == [[3, 4, None], [None, None, None]]
    assert sheet_of(data, dataAddress="two!A1:A1").rows == [[5]]
    assert sheet_of(data, dataAddress="Two!B3:C3").rows == [[None, None]]
    assert sheet_of(data, operation="listSheets") == Sheet(
        ["sheetIndex", "sheetName"], [[0, "One"], [1, "Two"]]
    )


def test_of_merged_cells_the_first_has_the_value_and_rows_between_are_kept() -> None:
    book = openpyxl.Workbook()
    book.active["B2"] = "x"
    book.active.merge_cells("B2:C3")
    book.active["A5"] = time(1, 2)
    book.active["B5"] = timedelta(hours=30, seconds=5)
    data = io.BytesIO()
    book.save(data)
    assert sheet_of(data.getvalue()).rows == [
        [None, None],
        [None, "x"],
        [None, None],
        [None, None],
        ["01:02:00", "30:00:05"],
    ]


_CELLS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**15), 10**15),
    # openpyxl writes 16 digits.
    st.integers(-(10**9), 10**9).map(lambda number: number / 100),
    st.text(string.ascii_letters + "é 1,\"'", min_size=1).filter(lambda text: text == text.strip()),
    st.dates(date(1950, 1, 1), date(2090, 1, 1)),
)


@given(st.lists(st.lists(_CELLS, min_size=3, max_size=3), min_size=1, max_size=6))
def test_cells_are_those_that_were_written(rows: list[list[Cell]]) -> None:
    found = sheet_of(workbook(("Data", rows)), dataAddress=f"A1:C{len(rows)}").rows
    # Excel has doubles alone.
    assert found == rows


@pytest.mark.parametrize("typed", ["true", "false"])
def test_types_are_those_of_all_cells_of_all_files(tmp_path: Path, typed: str) -> None:
    (tmp_path / "a.xlsx").write_bytes(workbook(("Data", ROWS)))
    (tmp_path / "b.xlsx").write_bytes(workbook(("Data", [ROWS[0], [1.5, *ROWS[1][1:]], [None] * 7])))
    from lakeward.autoloader.discovery.file_listing import FileStatus

    files = [FileStatus(str(file), str(file), file.stat().st_size, 0) for file in sorted(tmp_path.iterdir())]
    options = {"cloudFiles.format": "excel", "headerRows": "1", "cloudFiles.inferColumnTypes": typed}
    found = infer_schema(files, Options.of(options))
    expected = TYPES | {"id": "double"} if typed == "true" else dict.fromkeys(TYPES, "string")
    assert {field.name: field.dataType.simpleString() for field in found} == expected


def test_cells_become_the_columns_types_and_null_where_they_cannot(tmp_path: Path) -> None:
    file = tmp_path / "a.xlsx"
    rows = [
        ["n", "d", "t"],
        [7.0, date(2024, 1, 2), "12"],
        [7.5, moment("2024-01-02T03:00:00"), "31/12/2024"],
    ]
    file.write_bytes(workbook(("Data", rows)))
    read = {"cf_format": "excel", "headerRows": "1"}
    found = rows_of([file], schema_of(n="integer", d="timestamp_ntz", t="long"), **read)
    assert [tuple(row.values()) for row in found] == [
        (7, moment("2024-01-02T00:00:00"), 12),
        (None, moment("2024-01-02T03:00:00"), None),
    ]
    found = rows_of([file], schema_of(n="string", d="date", t="date"), dateFormat="dd/MM/yyyy", **read)
    assert [tuple(row.values()) for row in found] == [
        ("7", date(2024, 1, 2), None),
        ("7.5", date(2024, 1, 2), date(2024, 12, 31)),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "files" / "below").mkdir(parents=True)
    (tmp_path / "files" / "a.xlsx").write_bytes(workbook(("Data", ROWS), ("Other", [["x"]])))
    return tmp_path / "files"


READERS: dict[str, Callable[[SparkSession, str], DataFrame]] = {
    "excel": lambda spark, path: spark.read.excel(path, headerRows=1),  # type: ignore[attr-defined]
    "option": lambda spark, path: spark.read.option("headerRows", 1).excel(path),  # type: ignore[operator]
    "format": lambda spark, path: spark.read.format("excel").options(headerRows="1").load(path),
    "load": lambda spark, path: spark.read.load(path, format="EXCEL", headerRows=1),
    "list": lambda spark, path: spark.read.format("excel").option("headerRows", "1").load([path]),
    "address": lambda spark, path: spark.read.excel(path, "data!A1:G3", 1),  # type: ignore[attr-defined]
    "read_files": lambda spark, path: spark.sql(f"SELECT * FROM read_files('{path}', headerRows => 1)"),
    "read_files with a format": lambda spark, path: spark.sql(
        f"SELECT * FROM read_files('{path}', format => 'excel', headerRows => 1, "
        "schemaEvolutionMode => 'none')"
    ),
}


@pytest.mark.spark
def test_every_reader_gives_the_rows(spark: SparkSession, folder: Path) -> None:
    for name, read in READERS.items():
        for path in (str(folder), f"file:{folder}/a.xlsx", f"{folder}/*.xlsx"):
            frame = read(spark, path)
            assert dict(frame.dtypes) == TYPES, (name, path)
            assert [tuple(row) for row in frame.collect()] == VALUES, (name, path)


@pytest.mark.spark
def test_a_stream_needs_the_mode_that_the_format_supports(landing: Any, folder: Path) -> None:
    options = {"format": "excel", "headerRows": "1", "cf_inferColumnTypes": "true"}
    with pytest.raises(Exception, match="CF_UNSUPPORTED_SCHEMA_EVOLUTION_MODE"):
        landing.stream(None, folder, **options)
    landing.ingest(landing.stream(None, folder, cf_schemaEvolutionMode="none", **options))
    assert landing.rows() == VALUES


@pytest.mark.spark
def test_folders_partitions_and_what_is_refused(spark: SparkSession, folder: Path) -> None:
    broken = folder / "below" / "b.xlsx"
    broken.write_text("no Excel file")
    reader: Any = spark.read.option("headerRows", 1)
    # Spark's batch readers leave subfolders out that are no partitions.
    assert reader.excel(str(folder)).count() == 2
    for part in (3, 4):
        (folder / f"p={part}").mkdir()
        (folder / "a.xlsx").rename(folder / f"p={part}" / "c.xlsx")
        (folder / "a.xlsx").write_bytes(workbook(("Data", ROWS)))
    (folder / "a.xlsx").unlink()
    assert sorted(map(tuple, reader.excel(str(folder)).select("id", "p").collect())) == [
        *((1, 3), (1, 4), (2, 3), (2, 4)),
    ]
    for path, condition in ((folder / "absent", "PATH_NOT_FOUND"), (broken, "FAILED_READ_FILE")):
        with pytest.raises(Exception, match=condition):
            reader.schema("id int").excel(str(path)).collect()
    with pytest.raises(Exception, match="UNSUPPORTED_SQL"):
        spark.sql(f"SELECT * FROM excel.`{folder}`")
