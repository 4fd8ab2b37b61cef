"""JSON: no value is lost, whatever the schema (AL-2.2, AL-4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyspark.sql.types import StructType

from lakeward.errors import CloudFilesError
from tests.autoloader.reader_harness import rows_of, schema_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
RECORDS = st.lists(
    st.dictionaries(
        st.sampled_from("abcdef") | TEXT.filter(lambda t: t.lower() not in ("_r", "_file_path")), VALUES
    ),
    max_size=6,
)
SCHEMA = {"a": "integer", "b": "string", "c": "double", "d": "boolean", "e": "timestamp"}


def written(folder: Path, text: str) -> Path:
    path = folder / "f.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.rule("4.2")
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(RECORDS)
def test_columns_and_rescued_data_rebuild_every_record(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    # Python's own times, in which the test looks at them, have an end.
    assume(all(abs(record["e"]) < 1 << 35 for record in records if isinstance(record.get("e"), int)))
    path = written(tmp_path, "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records))
    rows = rows_of([path], schema_of(**SCHEMA), rescued="_r")
    assert len(rows) == len(records)
    for record, row in zip(records, rows, strict=True):
        rescued = json.loads(row["_r"]) if row["_r"] else {"_file_path": ""}
        assert list(rescued)[-1] == "_file_path"
        for key, value in record.items():
            if value is None:
                continue
            found = rescued[key] if key in rescued else row[key]
            assert same(found, value, is_text=key == "b" or isinstance(value, (dict, list))), (
                key,
                value,
                row,
            )
        assert all(row[key] is None for key in SCHEMA if record.get(key) is None)


def same(found: Any, value: Any, *, is_text: bool) -> bool:
    """Objects and arrays in a string column are kept as their text."""
    if is_text and not isinstance(value, str):
        return json.loads(found) == value
    if isinstance(value, int) and not isinstance(found, (int, float)):
        return found.timestamp() == value
    if isinstance(found, float):
        # A DOUBLE holds integers up to 2^53 exactly; Spark rounds larger ones and rescues nothing.
        return found == float(value)
    return bool(found == value)


def test_numbers_stay_as_written_and_nested_values_are_their_text(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"a": 1.10, "b": {"x": [1, 2.50]}}\n{"a": 123456789012345678901234567890, "b": "t"}\n{"a":1E400}\n',
    )
    rows = rows_of([path], schema_of(a="string", b="string"))
    assert [row["a"] for row in rows] == ["1.10", "123456789012345678901234567890", "1E400"]
    assert [row["b"] for row in rows] == ['{"x": [1, 2.50]}', "t", None]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('{"a":1} and more', [1]),
        ('[{"a":1},{"a":2}]', [1, 2]),
        ("{'a': 1}", [1]),
        ('{"a":1,"a":2}', [2]),
        ("", []),
        ("   ", []),
        ("{}", [None]),
        ("\ufeff" + '{"a":1}', [1]),
        ('{"a":1}\r', [1]),
    ],
)
def test_lines_are_read_as_spark_reads_them(tmp_path: Path, line: str, expected: list[int | None]) -> None:
    rows = rows_of([written(tmp_path, line + "\n")], schema_of(a="integer", _corrupt_record="string"))
    assert [row["a"] for row in rows] == expected
    assert [row["_corrupt_record"] for row in rows] == [None] * len(expected)


BROKEN = '{"a":1}\n{"a":\n5\n{"a":2}\n'


@pytest.mark.rule("4.5.2", "4.5.3")
def test_broken_lines_are_kept_dropped_or_fatal(tmp_path: Path) -> None:
    path = written(tmp_path, BROKEN)
    kept = rows_of([path], schema_of(a="integer", _corrupt_record="string"))
    assert [(row["a"], row["_corrupt_record"]) for row in kept] == [
        (1, None),
        (None, '{"a":'),
        (None, "5"),
        (2, None),
    ]
    assert [row["a"] for row in rows_of([path], schema_of(a="integer"), mode="DROPMALFORMED")] == [1, 2]
    with pytest.raises(CloudFilesError, match=r"MALFORMED_RECORD_IN_PARSING.*f\.json"):
        rows_of([path], schema_of(a="integer"), mode="FAILFAST")


@pytest.mark.rule("4.5.1", "4.5.6")
def test_a_value_of_another_type_is_malformed_only_where_nothing_rescues_it(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a":"x"}\n{"a":1}\n')
    assert [row["a"] for row in rows_of([path], schema_of(a="integer"), mode="DROPMALFORMED")] == [1]
    rescued = rows_of(
        [path], schema_of(a="integer", _corrupt_record="string"), rescued="_r", mode="DROPMALFORMED"
    )
    assert [(row["a"], row["_corrupt_record"], row["_r"] is None) for row in rescued] == [
        (None, None, False),
        (1, None, True),
    ]
    with pytest.raises(CloudFilesError):
        rows_of([path], schema_of(a="integer"), mode="FAILFAST")


def test_many_files_in_one_batch_keep_their_rows_apart(tmp_path: Path) -> None:
    paths = []
    for number in range(50):
        paths.append(tmp_path / f"{number}.json")
        paths[-1].write_text(
            json.dumps({"a": number, "z": number} if number % 7 == 0 else {"a": number}) + "\n"
        )
    rows = rows_of(paths, schema_of(a="integer"), rescued="_r")
    assert [row["a"] for row in rows] == list(range(50))
    for row in rows:
        path = f"file:{tmp_path}/{row['a']}.json"
        assert row["_r"] == (None if row["a"] % 7 else f'{{"z":{row["a"]},"_file_path":"{path}"}}')


def test_one_document_a_file_with_multi_line(tmp_path: Path) -> None:
    path = written(tmp_path, '[\n {"a": 1},\n {"a": 2}\n]\n')
    assert [row["a"] for row in rows_of([path], schema_of(a="integer"), multiLine=True)] == [1, 2]


def test_a_broken_line_is_kept_to_the_letter_blanks_at_its_ends_included(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a": 1}\n  {"a": 2, \n\t{"a": 3} \n')
    rows = rows_of([path], schema_of(a="integer", _corrupt_record="string"))
    assert [(row["a"], row["_corrupt_record"]) for row in rows] == [
        (1, None),
        (None, '  {"a": 2, '),
        (3, None),
    ]


def test_a_broken_document_is_kept_to_the_letter(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a":\n')
    rows = rows_of([path], schema_of(a="integer", _corrupt_record="string"), multiLine=True)
    assert rows == [{"a": None, "_corrupt_record": '{"a":\n'}]


@pytest.mark.parametrize("name", ['a"b', "a\\b", "\x1f", "a.b", " "])
def test_names_with_any_character_are_columns_fields_and_rescued_members(tmp_path: Path, name: str) -> None:
    path = tmp_path / "f.json"
    records = [{name: 5, "o": {name: 6}}, {"i": 1, "o": {"x": 2}}, {"i": 2, "other " + name: 7}, {"i": 3}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    inner = StructType().add(name, "long").add("x", "long")
    schema = StructType().add(name, "long").add("i", "long").add("o", inner)
    rows = rows_of([path, path], schema, rescued="_r")
    found = [(row[name], row["i"], row["o"], row["_r"] and json.loads(row["_r"])) for row in rows]
    lost = {"other " + name: 7, "_file_path": f"file:{path}"}
    assert found[:4] == found[4:]
    assert found[:4] == [
        (5, None, {name: 6, "x": None}, None),
        (None, 1, {name: None, "x": 2}, None),
        (None, 2, None, lost),
        (None, 3, None, None),
    ]
