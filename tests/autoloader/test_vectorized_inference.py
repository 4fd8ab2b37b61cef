"""Vectorized inference returns the types of value-by-value inference (AL-2.2)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.readers import csv_fast_path as csv_plain
from lakeward.autoloader.schema import json_inference as infer_json_plain
from lakeward.autoloader.schema.csv_inference import CsvInference
from lakeward.autoloader.schema.json_inference import JsonInference

LAW = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
SCALARS = [
    st.none(),
    st.booleans(),
    st.integers(-9, 9),
    st.sampled_from([2**63 - 1, -(2**63), 2**63, 10**40]),
    st.floats(-9, 9),
    st.sampled_from([9.3e18, 1e300]),
    st.sampled_from(["x", "2024-01-01", "2024-01-01 10:00:00", "ü"]),
]
VALUES = st.recursive(
    st.one_of(SCALARS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("aAb"), inner, max_size=3),
    max_leaves=4,
)
# Most members hold one kind of value, as they do in files: only those are taken at once.
RECORDS = st.lists(st.sampled_from([*SCALARS, VALUES]), min_size=3, max_size=3).flatmap(
    lambda kinds: st.lists(
        st.fixed_dictionaries({}, optional=dict(zip("aAü", kinds, strict=True))), min_size=1, max_size=5
    )
)
ODD = st.sampled_from(
    ['{"a":1}{"b":2}', '{"c":\n1}', "", '{"d":NaN}', '[{"e":1}]', "1", '{"a":1,"a":"x"}', '{"f']
)
STRINGS = {"cloudFiles.inferColumnTypes": "false"}
TEXTS = [
    st.integers(-9, 9).map(str),
    st.sampled_from(["1", "+5", "2147483648", "9223372036854775808"]),
    st.sampled_from(["1", "2.5", "1e5", "-.5"]),
    st.sampled_from(["99999999999999999999", "1.5"]),
    st.sampled_from(["2024-01-31", "2024-02-30"]),
    st.sampled_from(["2024-01-31 10:00:00", "2024-01-31T10:00:00Z", "2024-01-31"]),
    st.sampled_from(["true", "FALSE", "NaN", "x"]),
]
ROWS = st.lists(st.sampled_from(TEXTS), min_size=2, max_size=3).flatmap(
    lambda kinds: st.lists(st.tuples(*(kind | st.just("") for kind in kinds)), min_size=1, max_size=6)
)


@pytest.fixture(autouse=True)
def small_files_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(infer_json_plain, "MIN_BYTES", 0)
    monkeypatch.setattr(csv_plain, "MIN_BYTES", 0)


def options(format: str, **more: str) -> Options:
    return Options.of({"cloudFiles.format": format, "cloudFiles.inferColumnTypes": "true", **more})


def one_by_one(text: str) -> Iterator[bytes]:
    """A text that is no file of plain lines for each of its lines."""
    return (f" {line}\n ".encode() for line in text.split("\n"))


@pytest.mark.rule("2.2", "2.2.10")
@LAW
@given(RECORDS, st.lists(ODD, max_size=1), st.booleans())
@example([{"a": 1}, {"a": 2**63}], [], False)
@example([{"b": {"c": 1}}, {"b": {"C": 1}}], [], False)
def test_json_types_are_those_of_its_values(
    records: list[dict[str, Any]], odd: list[str], as_text: bool
) -> None:
    text = "\n".join([*(json.dumps(record) for record in records), *odd])
    given = options("json", primitivesAsString=str(as_text).lower())
    whole, single = JsonInference(given), JsonInference(given)
    whole.add(text.encode())
    for line in one_by_one(text):
        single.add(line)
    assert whole.schema() == single.schema()


def test_of_plain_json_no_value_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(JsonInference, "_type", None)
    inference = JsonInference(options("json"))
    inference.add(b'{"a":1,"b":{"c":[1.5,null]}}\n{"b":null,"d":"x"}\n')
    assert inference.schema().simpleString() == "struct<a:bigint,b:struct<c:array<double>>,d:string>"


@pytest.mark.rule("2.2", "2.2.10", "2.2.11")
@LAW
@given(st.lists(RECORDS, min_size=1, max_size=3), st.sampled_from(["", "1", '{"f']), st.booleans())
def test_json_names_are_those_of_its_members(
    files: list[list[dict[str, Any]]], unread: str, without_nulls: bool
) -> None:
    given = options("json", **STRINGS, dropFieldIfAllNull=str(without_nulls).lower())
    found: list[str] = []
    inference = JsonInference(given)
    for records in files:
        inference.add("\n".join([*map(json.dumps, records), unread]).encode())
        for record in records:
            found += [name for name, value in record.items() if value is not None or not without_nulls]
    first = {name.lower(): name for name in reversed(found)}
    assert inference.schema().names == sorted(first.values())


@pytest.mark.rule("2.2", "2.2.10")
@LAW
@given(ROWS)
@example([("1", ""), ("9223372036854775808", "")])
@example([("9223372036854775808", ""), ("2147483648", "")])
def test_csv_types_are_those_of_its_values(rows: list[tuple[str, ...]]) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([["a", "b", "c"][: len(rows[0])], *rows])
    whole, single = CsvInference(options("csv", header="true")), CsvInference(options("csv", header="true"))
    whole.add(text.getvalue().encode())
    single._add_rows(text.getvalue().encode())
    assert whole.schema() == single.schema()


def test_of_plain_csv_no_value_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CsvInference, "_type", None)
    inference = CsvInference(options("csv", header="true"))
    inference.add(b"a,b,c,d\n1,1,2024-01-31,\n2147483648,1.5,2024-02-01,x\n")
    assert inference.schema().simpleString() == "struct<a:bigint,b:double,c:date,d:string>"
