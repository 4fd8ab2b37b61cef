"""The JSON fast path returns the rows of the record parser, which is compared with Spark's reader."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructType

from lakeward.autoloader.readers import json_fast_path, json_reader
from lakeward.autoloader.readers.json_reader import JsonReader
from lakeward.autoloader.readers.json_values import raw_strings
from tests.autoloader.reader_harness import both_ways, rows_of, schema_of

SCHEMA = (
    schema_of(i="integer", d="double", s="string", b="boolean", t="timestamp", n="date")
    .add("o", StructType().add("x", IntegerType()).add("y", StringType()))
    .add("l", ArrayType(StringType()))
)
FITTING = {
    "i": ["1", "-2147483648", "null"],
    "d": ["1", "-0.5", "1e3", "12345678901234567890", "null"],
    "s": ['"x"', '""', '"\\n\\"\\u00e9"', '"ü😀"', "null"],
    "b": ["true", "false", "null"],
    "t": ['"2024-01-01T10:00:00Z"', '"2024-01-01 10:00:00"', '"2024-01-01"', "null"],
    "n": ['"2024-02-29"', "null"],
    "o": ["{}", '{"x":1}', '{"y":"a","x":null}', "null"],
    "l": ["[]", '["a",null]', "null"],
}
ODD_VALUES = ["2147483648", "1.0", '"1"', "{}", "[1]", "NaN", '"NaN"', '{"x":1,"z":2}', '"2024-02-30"']
ODD_VALUES += ["1E400", "01"]
ODD_LINES = ["null", "5", "[]", '{"i":1}{"i":2}', '{"i":\n1}', '{"i":1} x', '{"i":1', "", '{"I":1}']
ODD_LINES += ['{"i":1,"i":2}']
RECORDS = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(values) for name, values in FITTING.items()}
).map(lambda record: "{" + ",".join(f'"{name}":{value}' for name, value in record.items()) + "}")


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    derandomize=True,
)
@given(
    st.lists(RECORDS, min_size=1, max_size=4),
    st.none()
    | st.sampled_from(ODD_LINES)
    | st.builds('{{"{}":{}}}'.format, st.sampled_from([*FITTING, "z"]), st.sampled_from(ODD_VALUES)),
    st.sampled_from([{"rescued": "_r"}, {}, {"readerCaseSensitive": False}]),
)
def test_whole_files_are_read_as_record_by_record(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lines: list[str],
    odd: str | None,
    options: dict[str, Any],
) -> None:
    path = tmp_path / "f.json"
    path.write_text("\n".join(lines if odd is None else [*lines, odd]), encoding="utf-8")
    whole, records = both_ways(json_fast_path, path, SCHEMA, monkeypatch, **options)
    assert repr(whole) == repr(records)


UNKNOWN = st.permutations(["z", "I", "a b", "é"]).flatmap(
    lambda names: st.lists(st.sampled_from(["1", "1.50", "null", '"t"', '{"x": 1}', "[]"]), max_size=4).map(
        lambda values: "".join(f',"{name}":{value}' for name, value in zip(names, values, strict=False))
    )
)


@settings(
    max_examples=80,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    derandomize=True,
)
@given(
    st.lists(
        st.builds('{{"i":{}{}}}'.format, st.sampled_from(["1", '"x"', "2.5"]), UNKNOWN)
        | st.sampled_from([*ODD_LINES, '[{"i":1,"z":2},{"i":3}]']),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([1, 24, 1 << 20]),
    st.sampled_from(
        [
            {"rescued": "_r"},
            {"rescued": "_r", "readerCaseSensitive": False},
            {},
            {"columnNameOfCorruptRecord": "c"},
        ]
    ),
)
def test_members_that_the_schema_lacks_are_rescued_in_their_order_and_files_are_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], size: int, options: dict[str, Any]
) -> None:
    path = tmp_path / "f.json"
    path.write_text("\n".join(lines), encoding="utf-8")
    schema = schema_of(i="integer", d="double", c="string")
    monkeypatch.setattr(json_reader, "BYTES", size)
    found = rows_of([path, path], schema, **options)
    monkeypatch.setattr(json_reader, "BYTES", 1 << 20)
    monkeypatch.setattr(json_reader, "_MAX_UNKNOWN", 0)
    assert repr(found) == repr(rows_of([path, path], schema, **options))


@pytest.mark.parametrize("mode", ["PERMISSIVE", "DROPMALFORMED"])
@pytest.mark.parametrize("suffix", ["json", "json.gz"])
@pytest.mark.parametrize(
    ("encoding", "separator", "options"),
    [
        ("utf-8", "\n", {}),
        ("utf-8", "\r\n", {}),
        ("utf-8-sig", "\n", {}),
        ("utf-8", "|", {"lineSep": "|"}),
        ("utf-16", "\n", {"encoding": "UTF-16"}),
        ("latin-1", "\n", {"charset": "ISO-8859-1"}),
    ],
)
def test_parts_of_a_file_have_the_rows_of_the_whole_in_every_encoding(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    encoding: str,
    separator: str,
    options: dict[str, Any],
    suffix: str,
    mode: str,
) -> None:
    lines = ['{"i":1,"z":"é"}', '[{"i":2},{"i":"x"}]', "broken", '{"i":3,"z":1,"y":2}', '{"i":4,"y":2,"z":1}']
    data = separator.join(lines).encode(encoding)
    path = tmp_path / f"f.{suffix}"
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    schema = schema_of(i="integer", c="string")
    found = []
    for size in (1, 30, 1 << 20):
        monkeypatch.setattr(json_reader, "BYTES", size)
        found.append(
            rows_of([path], schema, rescued="_r", columnNameOfCorruptRecord="c", mode=mode, **options)
        )
    assert found[0] == found[1] == found[2]
    assert {1, 2, 3, 4} <= {row["i"] for row in found[0]}
    assert any(row["_r"] and '"é"' in row["_r"] for row in found[0])


def test_a_malformed_record_is_kept_with_its_own_line_after_a_line_with_several_records(
    tmp_path: Path,
) -> None:
    path = tmp_path / "f.json"
    path.write_text('[{"i":1},{"i":2}]\n{"n":"2024-02-30"}\n{"i":4}\n')
    schema = schema_of(i="integer", n="date", c="string")
    rows = rows_of([path], schema, columnNameOfCorruptRecord="c")
    assert [(row["i"], row["c"]) for row in rows] == [
        (1, None),
        (2, None),
        (None, '{"n":"2024-02-30"}'),
        (4, None),
    ]


@pytest.mark.parametrize("line", ['{"i":1,"s":"x"}', *ODD_LINES, '{"d":NaN}', '{"i":"1"}', '{"z":1}'])
def test_only_what_is_odd_is_read_record_by_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    slow_calls: list[bytes] = []
    before = JsonReader._add

    def noting(self: JsonReader, status: Any, data: bytes) -> None:
        slow_calls.append(data)
        before(self, status, data)

    monkeypatch.setattr(json_fast_path, "MIN_BYTES", 0)
    monkeypatch.setattr(JsonReader, "_add", noting)
    path = tmp_path / "f.json"
    path.write_text(f'{line}\n{{"i":7}}\n')
    rows = rows_of([path], SCHEMA, rescued="_r")
    assert rows[-1]["i"] == 7
    assert bool(slow_calls) is (line != '{"i":1,"s":"x"}')


def test_text_that_is_no_unicode_is_not_plain() -> None:
    schema = json_fast_path.pa.schema([("s", json_fast_path.pa.string())])
    assert json_fast_path.parse_records(b'{"s":"\xff"}', schema, surplus=False) is None
    assert json_fast_path.parse_records(b'{"s":"x"}', schema, surplus=False) is not None


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(st.none() | st.text(max_size=5) | st.integers() | st.booleans() | st.just({"a": "\n"})))
def test_raw_values_become_texts_at_once_unless_one_has_an_escape(values: list[Any]) -> None:
    raws = [msgspec.Raw(json.dumps(value, ensure_ascii=False).encode()) for value in values]
    texts = raw_strings([None, *raws])
    if any(isinstance(value, str) and "\\" in json.dumps(value, ensure_ascii=False) for value in values):
        assert texts is None
    else:
        texts_expected = [None if v is None else v if isinstance(v, str) else json.dumps(v) for v in values]
        assert texts is not None
        assert texts.to_pylist() == [None, *texts_expected]


def test_values_that_were_decoded_already_are_left_alone() -> None:
    assert raw_strings([msgspec.Raw(b"1"), "x"]) is None
    assert raw_strings([msgspec.Raw(b'"\xff"')]) is None
