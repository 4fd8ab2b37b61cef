"""The CSV fast path returns the rows of the line parser, which is compared with Spark's reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward.autoloader.readers import csv_fast_path as csv_plain
from lakeward.autoloader.readers import csv_reader as csv
from lakeward.autoloader.readers.csv_dialect import CsvDialect, split_lines
from tests.autoloader.reader_harness import both_ways, rows_of, schema_of

FITTING = {
    "a": ["", "x", " x ", "ü😀", '""', '"a,b"', "null"],
    "b": ["", "1", "-7", '"12"'],
    "c": ["", "3.50", "-99999.9", "007"],
    "d": ["", "2024-02-29 10:00:00", "2024-01-01T10:00:00"],
    "e": ["", "1e3", "-0.5", "7"],
    "f": ["", "true", "False"],
    "x": [""],
}
RECORDS = st.fixed_dictionaries({name: st.sampled_from(words) for name, words in FITTING.items()})
ODD = ['"a""b"', "a\\b", 'a"b', '"open', '"a" ', "\t", " ", "x", "1234567.5", "2024-02-30", "3.555", "NaN"]
SCHEMA = schema_of(a="string", b="integer", c="decimal(7,2)", d="timestamp", e="double", f="boolean")


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    derandomize=True,
)
@given(
    st.lists(RECORDS, min_size=1, max_size=4),
    st.permutations("abcdefx"),
    st.none() | st.sampled_from(ODD),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.booleans(),
)
def test_whole_files_are_read_as_line_by_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: list[dict[str, str]],
    order: list[str],
    odd: str | None,
    newline: str,
    rescues: bool,
) -> None:
    if odd is not None:
        rows[-1][order[3]] = odd
    path = tmp_path / "f.csv"
    lines_of_text = [",".join(order), *(",".join(row[name] for name in order) for row in rows)]
    path.write_text(newline.join(lines_of_text), encoding="utf-8", newline="")
    options = {"cf_format": "csv", "header": True, "rescued": "_r" if rescues else None}
    whole, lines = both_ways(csv_plain, path, SCHEMA, monkeypatch, **options)
    assert repr(whole) == repr(lines)


@pytest.mark.parametrize("odd", [None, *ODD])
def test_only_what_is_odd_is_read_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str | None
) -> None:
    slow_calls: list[bytes] = []

    def noting(data: bytes, dialect: CsvDialect) -> list[str]:
        slow_calls.append(data)
        return split_lines(data, dialect)

    monkeypatch.setattr(csv_plain, "MIN_BYTES", 0)
    monkeypatch.setattr(csv, "split_lines", noting)
    path = tmp_path / "f.csv"
    path.write_text(f"c,e\n1.5,2\n{odd or ''},3\n")
    rows = rows_of([path], SCHEMA, cf_format="csv", header=True, rescued="_r")
    assert [row["e"] for row in rows] == [2.0, 3.0 if odd != '"open' else None]
    assert bool(slow_calls) is (odd is not None)


def test_a_column_that_comes_twice_is_taken_once_and_rescued_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_plain, "MIN_BYTES", 0)
    path = tmp_path / "f.csv"
    path.write_text("x,x,x0\n1,2,3\n")
    (row,) = rows_of([path], schema_of(x0="string", x1="string"), cf_format="csv", header=True, rescued="_r")
    assert (row["x0"], row["x1"]) == ("1", "2")
    assert row["_r"].startswith('{"x0":"3",')


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ('a,b\n1,"x, y"\n,2', [["1", None], ["x, y", "2"]]),
        ("\n\na,b\r\n1,2\r\n", [["1"], ["2"]]),
        ('"a","b"\n1,""\n', [["1"], [None]]),
        ("a,b\n1\n", None),
        ("a\n1\n", None),
        ("a,b\n", None),
        ('a,b\n"1""",2\n', None),
        ("a,b\n\\,2\n", None),
        ('a,b\n"x\ny",2\n', None),
        ('a,b\n"x",2\n"y,3\n', None),
        (b"a,b\n\xff,2\n", None),
    ],
)
def test_what_is_plain(monkeypatch: pytest.MonkeyPatch, text: str | bytes, columns: Any) -> None:
    monkeypatch.setattr(csv_plain, "MIN_BYTES", 0)
    found = csv_plain.parse_text_columns(text.encode() if isinstance(text, str) else text, CsvDialect())
    assert (found and [column.to_pylist() for column in found[1].columns]) == columns


def test_a_short_text_is_read_line_by_line() -> None:
    assert csv_plain.parse_text_columns(b"a,b\n1,2\n", CsvDialect()) is None
    long = b"a,b\n" + b"1,2\n" * csv_plain.MIN_BYTES
    assert csv_plain.parse_text_columns(long, CsvDialect()) is not None


@pytest.mark.parametrize(
    ("dialect", "plain"),
    [
        (CsvDialect(), True),
        (CsvDialect(sep=";", escape='"'), True),
        (CsvDialect(sep="||"), False),
        (CsvDialect(comment="#"), False),
        (CsvDialect(null="NA"), False),
        (CsvDialect(encoding="latin1"), False),
        (CsvDialect(multi_line=True), False),
        (CsvDialect(trim_end=True), False),
    ],
)
def test_which_options_leave_a_text_plain(dialect: CsvDialect, plain: bool) -> None:
    assert csv_plain.is_regular_dialect(dialect) is plain
