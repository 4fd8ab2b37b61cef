"""`from_json` without a schema in pipelines: inferred, stored by key, evolved (SDP-4.18)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.pipelines.conftest import Lab, result

SPELLINGS = {
    "python": """
        import dlt
        from pyspark.sql.functions import col, from_json
        @dlt.table
        def bronze():
            return STREAM.select(from_json(col("value"), None, OPTIONS).alias("j"))
    """,
    "expr": """
        import dlt
        from pyspark.sql import functions as F
        @dlt.table
        def bronze():
            return STREAM.select(F.expr("FROM_JSON(value, NULL, map(LISTED))").alias("j"))
    """,
    "sql": """
        CREATE STREAMING TABLE bronze AS SELECT from_json(value, NULL, map(LISTED)) j FROM STREAM(SRC.raw);
    """,
}


def declare(lab: Lab, spelling: str, **options: str) -> None:
    given = {"schemaLocationKey": "k", **options}
    listed = ", ".join(f"'{text}'" for pair in given.items() for text in pair)
    text = SPELLINGS[spelling].replace("STREAM.", 'spark.readStream.table("SRC.raw").')
    text = text.replace("OPTIONS", repr(given)).replace("LISTED", listed)
    lab.file("bronze.sql" if spelling == "sql" else "bronze.py", text)


def put(lab: Lab, *texts: str | None, table: str = "raw") -> None:
    rows = ", ".join("(NULL)" if text is None else f"(r'{text}')" for text in texts)
    lab.seed(table, f"SELECT CAST(col1 AS STRING) AS value FROM VALUES {rows}")


def column(lab: Lab) -> str:
    return lab.table("bronze").schema["j"].dataType.simpleString()


def values(lab: Lab) -> list[Any]:
    return sorted((row[0] and row[0].asDict(True) for row in lab.table("bronze").collect()), key=repr)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_schema_is_inferred_and_gets_new_fields(lab: Lab, spelling: str) -> None:
    put(lab, '{"id": 123, "name": "John"}', None, " ")
    declare(lab, spelling)
    lab.done()
    assert column(lab) == "struct<id:bigint,name:string,_rescued_data:string>"
    assert values(lab) == [None, None, {"id": 123, "name": "John", "_rescued_data": None}]
    put(lab, '{"id": 4, "at": {"x": 1.5}}')
    update = lab.done()
    assert result(update, "bronze").rows_written == 1
    # Delta appends fields of a struct, too.
    assert column(lab) == "struct<id:bigint,name:string,_rescued_data:string,at:struct<x:double>>"
    put(lab, '{"id": 5, "at": {"y": true}}')
    lab.done()
    assert column(lab).endswith("at:struct<x:double,y:boolean>>")
    assert [value["at"] for value in values(lab) if value] == [
        None,
        {"x": 1.5, "y": None},
        {"x": None, "y": True},
    ]


FIRST = ('{"id": 1, "name": "a", "at": {"b": 1}}',)
NEXT = ('{"id": 2, "new": [1], "at": {"b": 2, "c": 3}}', '{"id": "x", "NAME": "b"}', '{"id": 3')
RESCUED = [None, '{"new":"[1]","at":{"c":3}}', '{"NAME":"b","id":"x"}', '{"_corrupt_record":"{\\"id\\": 3"}']
# Options, the fields of the column after both updates, and the column with the rest of each row.
CASES: dict[str, tuple[dict[str, str], str, str, list[object]]] = {
    "rescue": (
        {"schemaEvolutionMode": "rescue"},
        "at struct<b:bigint>, id bigint, name string, _rescued_data string",
        "_rescued_data",
        RESCUED,
    ),
    "rescue, renamed": (
        {"schemaEvolutionMode": "rescue", "rescuedDataColumn": "rest"},
        "at struct<b:bigint>, id bigint, name string, rest string",
        "rest",
        RESCUED,
    ),
    "none": (
        {"schemaEvolutionMode": "none"},
        "at struct<b:bigint>, id bigint, name string",
        "id",
        [1, 2, None, None],
    ),
    "none, rescued": (
        {"schemaEvolutionMode": "NONE", "rescuedDataColumn": "rest"},
        "at struct<b:bigint>, id bigint, name string, rest string",
        "rest",
        RESCUED,
    ),
    "hints": (
        {"schemaHints": "id STRING, at MAP<STRING, INT>, more DATE", "schemaEvolutionMode": "rescue"},
        "at map<string,int>, id string, name string, more date, _rescued_data string",
        "id",
        ["1", "2", "x", None],
    ),
    "nested hints": (
        {"schemaHints": "at.b DOUBLE", "schemaEvolutionMode": "rescue"},
        "at struct<b:double>, id bigint, name string, _rescued_data string",
        "at.b",
        [1.0, 2.0, None, None],
    ),
    "corrupt": (
        {"schemaHints": "_corrupt_record STRING", "schemaEvolutionMode": "rescue"},
        "at struct<b:bigint>, id bigint, name string, _corrupt_record string, _rescued_data string",
        "_corrupt_record",
        [None, None, None, '{"id": 3'],
    ),
    "corrupt, renamed": (
        {"schemaHints": "bad STRING", "columnNameOfCorruptRecord": "bad", "schemaEvolutionMode": "rescue"},
        "at struct<b:bigint>, id bigint, name string, bad string, _rescued_data string",
        "bad",
        [None, None, None, '{"id": 3'],
    ),
    "new fields": (
        {},
        "at struct<b:bigint,c:bigint>, id bigint, name string, _rescued_data string, new array<bigint>",
        "_rescued_data",
        [None, None, '{"NAME":"b","id":"x"}', RESCUED[3]],
    ),
}
ARRAYS = ('[{"id": 1, "name": "a"}, {"id": 2}]', "[]")
ARRAY_CASES = {
    "arrays": ({}, "struct<value:array<struct<id:bigint,name:string>>,_rescued_data:string>"),
    "array hints": (
        {"schemaHints": "element.id STRING, element.new_col DOUBLE"},
        "struct<value:array<struct<id:string,name:string,new_col:double>>,_rescued_data:string>",
    ),
}
TYPED = (
    '{"i": 1, "l": 12345678901, "d": 1.5, "b": true, "s": "x", "n": null, "a": [1, 2.5]}',
    '{"o": {"k": [{"z": 1}]}}',
    '{"i": 2.5, "l": 1, "d": 3, "b": false, "s": "2024-01-01", "a": null, "o": {"k": []}}',
    '{"i": null, "big": 123456789012345678901, "s": {"t": 1}}',
)


@pytest.fixture(scope="module")
def both(module_lab: Callable[[], Lab]) -> Lab:
    """All cases in one pipeline, after an update with the first texts and one with the next ones."""
    lab = module_lab()
    tables = [(f"c{i}", "raw", options) for i, (options, *_) in enumerate(CASES.values())]
    tables += [(f"a{i}", "arrays", options) for i, (options, _) in enumerate(ARRAY_CASES.values())]
    tables.append(("typed", "typed", {}))
    lab.file("all.py", f"""
        import dlt
        from pyspark.sql.functions import from_json
        def declare(name, source, options):
            @dlt.table(name=name)
            def table():
                texts = spark.readStream.table("SRC." + source)
                column = from_json("value", None, dict(options, schemaLocationKey=name))
                return texts.select("value", column.alias("j"))
        for each in {tables!r}:
            declare(*each)
        @dlt.table
        def two():
            x = from_json("value", None, {{"schemaLocationKey": "x y/z"}})
            w = from_json("value", None, {{"SCHEMALOCATIONKEY": "w", "schemaEvolutionMode": "none"}})
            return spark.readStream.table("SRC.raw").select(x.alias("x"), w.alias("w"))
        @dlt.table
        def names(): return spark.readStream.table("c0").select("j.name", "j.at.b")
        @dlt.table
        def counted(): return spark.table("names").groupBy("name").count()
    """)  # fmt: skip
    put(lab, *FIRST)
    put(lab, *ARRAYS, table="arrays")
    put(lab, *TYPED, table="typed")
    lab.done()
    put(lab, *NEXT)
    lab.done()
    return lab


def by_text(lab: Lab, table: str, column: str, texts: Iterable[str]) -> list[object]:
    found = {row[0]: row[1] for row in lab.table(table).select("value", f"j.{column}").collect()}
    return [found[text] for text in texts]


@pytest.mark.parametrize("case", CASES)
def test_modes_hints_and_malformed_texts(both: Lab, case: str) -> None:
    _, fields, name, expected = CASES[case]
    table = f"c{[*CASES].index(case)}"
    found = both.table(table).select("j.*").schema
    assert ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in found) == fields
    assert by_text(both, table, name, (*FIRST, *NEXT)) == expected


@pytest.mark.parametrize("case", ARRAY_CASES)
def test_an_array_becomes_a_field(both: Lab, case: str) -> None:
    table = f"a{[*ARRAY_CASES].index(case)}"
    assert both.table(table).schema["j"].dataType.simpleString() == ARRAY_CASES[case][1]
    rows = by_text(both, table, "value", ARRAYS)
    assert [[row.name for row in each] for each in rows] == [["a", None], []]
    assert [[int(row.id) for row in each] for each in rows] == [[1, 2], []]


def test_types_and_values_are_those_of_sparks_reader(both: Lab, tmp_path: Path) -> None:
    file = tmp_path / "typed.json"
    file.write_text("\n".join(TYPED))
    expected = both.spark.read.json(str(file))
    found = both.table("typed").select("j.*").drop("_rescued_data")
    assert found.schema.simpleString() == expected.schema.simpleString()
    assert sorted(map(repr, found.collect())) == sorted(map(repr, expected.collect()))


def test_a_query_has_several_schemas(both: Lab) -> None:
    two = both.table("two").schema
    assert two["x"].dataType["at"].dataType.simpleString() == "struct<b:bigint,c:bigint>"
    assert two["w"].dataType.simpleString() == "struct<at:struct<b:bigint>,id:bigint,name:string>"


def test_readers_of_inferred_fields_are_analyzed_after_the_inference(both: Lab) -> None:
    assert both.rows("counted") == [("a", 1), (None, 3)]
    created = [
        json.loads(row["details"])["create_update"] for row in both.log("event_type = 'create_update'")
    ]
    assert sorted(each["cause"] for each in created) == ["SCHEMA_CHANGE"] * 2 + ["USER_ACTION"] * 2


def test_readers_of_inferred_fields_are_skipped_without_rows(lab: Lab) -> None:
    lab.spark.sql(f"CREATE TABLE main.{lab.source}.raw (value STRING)")
    declare(lab, "python")
    lab.file("silver.sql", """
        CREATE STREAMING TABLE silver AS SELECT j.id FROM STREAM(bronze);
        CREATE MATERIALIZED VIEW gold AS SELECT count(id) AS n FROM silver;
    """)  # fmt: skip
    update = lab.done()
    assert {each.name: each.state for each in update.datasets} == {
        "bronze": "COMPLETED", "silver": "SKIPPED", "gold": "SKIPPED"
    }  # fmt: skip
    put(lab, '{"id": 7}')
    lab.done()
    assert lab.rows("silver") == [(7,)] and lab.rows("gold") == [(1,)]


def test_other_errors_of_readers_are_reported(lab: Lab) -> None:
    put(lab, '{"id": 7}')
    declare(lab, "sql")
    lab.file("silver.sql", "CREATE MATERIALIZED VIEW silver AS SELECT nothing(j.id) FROM bronze")
    update = lab.run()
    assert update.state == "FAILED" and "UNRESOLVED_ROUTINE" in str(update.error)


def test_a_field_in_the_same_query_needs_a_hint(lab: Lab) -> None:
    put(lab, '{"id": 7}', '{"id": 8}')
    query = """
        CREATE STREAMING TABLE bronze AS SELECT j.id FROM (
            SELECT from_json(value, NULL, map('schemaLocationKey', 'k', 'schemaHints', 'HINTS')) j
            FROM STREAM(SRC.raw)
        ) WHERE j.id > 7
    """
    lab.file("a.sql", query.replace("HINTS", ""))
    update = lab.run()
    assert update.state == "FAILED" and "FIELD_NOT_FOUND" in str(update.error)
    lab.file("a.sql", query.replace("HINTS", "id INT"))
    lab.done()
    assert lab.rows("bronze") == [(8,)] and lab.table("bronze").schema["id"].dataType.simpleString() == "int"


def test_fail_on_new_columns_needs_a_hint(lab: Lab) -> None:
    put(lab, '{"id": 1}')
    declare(lab, "python", schemaEvolutionMode="failOnNewColumns")
    lab.done()
    put(lab, '{"id": 2, "name": "b"}')
    update = lab.run()
    assert update.state == "FAILED" and "UNKNOWN_FIELD_EXCEPTION.NEW_FIELDS_IN_RECORD" in str(update.error)
    assert "name" in str(update.error) and "automatic retry: false" in str(update.error)
    declare(lab, "python", schemaEvolutionMode="failOnNewColumns", schemaHints="name STRING")
    lab.done()
    assert [value["name"] for value in values(lab)] == [None, "b"]


def test_a_full_refresh_infers_again(lab: Lab) -> None:
    put(lab, '{"id": 1}')
    declare(lab, "sql")
    lab.done()
    lab.spark.sql(f"DELETE FROM main.{lab.source}.raw")
    put(lab, '{"id": "x", "z": 1}')
    lab.done(full_refresh_all=True)
    assert column(lab) == "struct<id:string,z:bigint,_rescued_data:string>"
    assert values(lab) == [{"id": "x", "z": 1, "_rescued_data": None}]


REFUSED = {
    "mode": ({"schemaEvolutionMode": "sometimes"}, "CF_INVALID_SCHEMA_EVOLUTION_MODE"),
    "widening": (
        {"schemaEvolutionMode": "addNewColumnsWithTypeWidening"}, "CF_INVALID_SCHEMA_EVOLUTION_MODE"
    ),
    "hints": ({"schemaHints": "id"}, "CF_INVALID_SCHEMA_HINTS_OPTION"),
    "dropped records": ({"mode": "DROPMALFORMED"}, "PARSE_MODE_UNSUPPORTED"),
    "malformed": ({"mode": "FAILFAST"}, "MALFORMED_RECORD_IN_PARSING"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_invalid_options_and_texts_fail_the_update(lab: Lab, case: str) -> None:
    options, condition = REFUSED[case]
    put(lab, '{"id": 1}', "{")
    declare(lab, "python", **options)
    update = lab.run()
    assert update.state == "FAILED" and condition in str(update.error)
