"""CSV: columns by name, quoting as in Spark's parser, no value is lost (AL-1.5, AL-4.5)."""

from __future__ import annotations

import csv
import io
import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward.autoloader.readers.csv_dialect import CsvDialect, split_lines
from lakeward.errors import CloudFilesError
from tests.autoloader.reader_harness import rows_of, schema_of

CELLS = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\x85"), max_size=6
)


def written(folder: Path, text: str) -> Path:
    path = folder / "f.csv"
    path.write_text(text, encoding="utf-8", newline="")
    return path


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5), st.permutations(["a", "b", "x"]))
def test_any_cells_written_by_another_program_come_back(
    tmp_path: Path, rows: list[tuple[str, ...]], order: list[str]
) -> None:
    rows = [row for row in rows if "".join(row).strip()]
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(order)
    writer.writerows(rows)
    path = written(tmp_path, out.getvalue())
    read = rows_of(
        [path], schema_of(a="string", b="string"), rescued="_r", cf_format="csv", header=True, escape='"'
    )
    assert len(read) == len(rows)
    for cells, row in zip(rows, read, strict=True):
        record = dict(zip(order, cells, strict=True))
        rescued = json.loads(row["_r"]) if row["_r"] else {}
        assert (row["a"] or "", row["b"] or "", rescued.get("x", "")) == (
            record["a"],
            record["b"],
            record["x"],
        )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('"a ""b"" c",x', ['"a ""b"" c"', "x"]),
        ('"a \\"b\\" c",x', ['a "b" c', "x"]),
        ('"a"b,c', ['"a"b', "c"]),
        ('"a,b",c', ["a,b", "c"]),
        ('"a""",b', ['a""', "b"]),
        ('"",x', [None, "x"]),
        (",x", [None, "x"]),
        ('"open,b', ["open,b", None]),
        ('a,"', ["a", '"']),
    ],
)
def test_quotes_are_read_as_spark_reads_them(tmp_path: Path, line: str, expected: list[str | None]) -> None:
    row = rows_of([written(tmp_path, line + "\n")], schema_of(a="string", b="string"), cf_format="csv")[0]
    assert [row["a"], row["b"]] == expected


@pytest.mark.rule("4.5.2", "4.5.3")
def test_rows_of_another_width(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b\n1,2\n3\n4,5,6\n")
    options = {"cf_format": "csv", "header": True}
    rescued = rows_of([path], schema_of(a="integer", b="integer"), rescued="_r", **options)
    assert [(row["a"], row["b"]) for row in rescued] == [(1, 2), (3, None), (4, 5)]
    assert json.loads(rescued[2]["_r"]) == {"_c2": "6", "_file_path": f"file:{path}"}
    corrupt = rows_of([path], schema_of(a="integer", b="integer", _corrupt_record="string"), **options)
    assert [row["_corrupt_record"] for row in corrupt] == [None, "3", "4,5,6"]
    assert len(rows_of([path], schema_of(a="integer", b="integer"), mode="DROPMALFORMED", **options)) == 1
    with pytest.raises(CloudFilesError, match="MALFORMED_RECORD_IN_PARSING"):
        rows_of([path], schema_of(a="integer", b="integer"), mode="FAILFAST", **options)


@pytest.mark.rule("4.5.2")
@pytest.mark.parametrize("lines", [2, 60_000], ids=["few lines", "a regular file"])
@pytest.mark.parametrize("header", ["a,b,more", "more,a,b", "b,a,x"])
def test_columns_that_a_users_schema_lacks_make_lines_corrupt(
    tmp_path: Path, header: str, lines: int
) -> None:
    """As notebooks of Databricks show: read_files with a schema and without a rescued column."""
    order = header.split(",")
    values = {"a": "1", "b": "2", "more": "z", "x": "z"}
    line = ",".join(values[name] for name in order)
    path = written(tmp_path, f"{header}\n" + f"{line}\n" * lines)
    other = tmp_path / "other.csv"
    other.write_text("a,b\n3,4\n" + "3,4\n" * (lines - 1))
    options = {"cf_format": "csv", "header": True}
    schema = schema_of(a="integer", b="integer", _corrupt_record="string")
    rows = rows_of([path], schema, **options)
    assert [(row["a"], row["b"], row["_corrupt_record"]) for row in rows] == [(1, 2, line)] * lines
    assert {row["_corrupt_record"] for row in rows_of([other], schema, **options)} == {None}
    without = rows_of([path], schema_of(a="integer", b="integer"), **options)
    dropped = rows_of([path], schema, mode="DROPMALFORMED", **options)
    assert len(without) == len(dropped) == lines


@pytest.mark.rule("4.1.3")
def test_an_unnamed_column_is_rescued_by_its_place_and_a_bad_number_as_its_text(tmp_path: Path) -> None:
    path = written(tmp_path, ",price\n61488,$100.00\n")
    row = rows_of([path], schema_of(price="double"), rescued="_r", cf_format="csv", header=True)[0]
    assert json.loads(row["_r"]) == {"_c0": "61488", "price": "$100.00", "_file_path": f"file:{path}"}


@pytest.mark.rule("7.5")
def test_without_a_header_columns_go_by_place_and_surplus_ones_are_rescued(tmp_path: Path) -> None:
    path = written(tmp_path, "1,x,more\n")
    row = rows_of([path], schema_of(a="integer", b="string"), rescued="_r", cf_format="csv")[0]
    assert (row["a"], row["b"], json.loads(row["_r"])["_c2"]) == (1, "x", "more")


@pytest.mark.rule("4.5.2", "7.5")
def test_the_first_row_of_a_file_without_a_header_sets_its_width(tmp_path: Path) -> None:
    path = written(tmp_path, "1,x,more\n2,y\n")
    schema = schema_of(a="integer", b="string", _corrupt_record="string")
    rows = rows_of([path], schema, rescued="_r", cf_format="csv")
    assert [(row["a"], row["_corrupt_record"]) for row in rows] == [(1, None), (2, "2,y")]


def test_lines_skipped_commented_split_and_trimmed(tmp_path: Path) -> None:
    path = written(tmp_path, 'junk\r\na;b\r\n# no\r\n\r\n 1 ;"x\r\ny"\r\n')
    row = rows_of(
        [path],
        schema_of(a="integer", b="string"),
        cf_format="csv",
        header=True,
        sep=";",
        skipRows=1,
        comment="#",
        multiLine=True,
        ignoreLeadingWhiteSpace=True,
        ignoreTrailingWhiteSpace=True,
    )
    assert row == [{"a": 1, "b": "x\ny"}]


def test_times_by_pattern(tmp_path: Path) -> None:
    path = written(tmp_path, "01/12/2010 08:26\n31/12/2010 8:05\n")
    rows = rows_of([path], schema_of(t="timestamp"), cf_format="csv", timestampFormat="dd/MM/yyyy H:mm")
    assert [row["t"].isoformat() for row in rows] == [
        "2010-12-01T08:26:00+00:00",
        "2010-12-31T08:05:00+00:00",
    ]


@pytest.mark.parametrize(
    ("options", "text", "expected"),
    [
        ({}, 'a,"x\ny"\nb,z\n', [("a", "x\ny"), ("b", "z")]),
        ({}, 'a,"x\\"\ny"\nb,z\n', [("a", 'x"\ny'), ("b", "z")]),
        ({"escape": '"'}, 'a,"x""\ny"\nb,z\n', [("a", 'x"\ny'), ("b", "z")]),
        ({"escape": ""}, 'a,"x\ny"\nb,z\n', [("a", "x\ny"), ("b", "z")]),
        ({"quote": ""}, 'a,"x\nb,zz"\nc,"\n', [("a", '"x'), ("b", 'zz"'), ("c", '"')]),
    ],
)
def test_records_of_several_lines(
    tmp_path: Path, options: dict[str, str], text: str, expected: list[tuple[str, str]]
) -> None:
    schema = schema_of(a="string", b="string")
    rows = rows_of([written(tmp_path, text)], schema, cf_format="csv", multiLine=True, **options)
    assert [(row["a"], row["b"]) for row in rows] == expected


def test_a_quote_that_is_never_closed_costs_time_in_proportion_to_the_file() -> None:
    lines = ['a,"x', *["b,z"] * 400_000]
    started = time.process_time()
    records = split_lines("\n".join(lines).encode(), CsvDialect(multi_line=True))
    assert (len(records), time.process_time() - started < 20) == (1, True)


@pytest.mark.parametrize("text", ["--5", "+-5", "-+5", "5-", "+", "-"])
@pytest.mark.parametrize("dtype", ["byte", "short", "integer", "long"])
def test_signs_that_are_no_number_are_rescued(tmp_path: Path, dtype: str, text: str) -> None:
    path = written(tmp_path, f"{text}\n+7\n")
    rows = rows_of([path], schema_of(a=dtype), rescued="r", cf_format="csv")
    assert [row["a"] for row in rows] == [None, 7]
    assert f'"{text}"' in rows[0]["r"]
