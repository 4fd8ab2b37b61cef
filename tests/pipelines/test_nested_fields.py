"""Fields of nested values go by their names, whatever the order of a query, and new ones are added."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.functions import expr
from pyspark.sql.types import DataType

from lakeward.nested_types import cast_by_name, ordered_as
from tests.pipelines.conftest import Lab, result

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Name of a target and the declaration that writes `people` into it.
TARGETS = {
    "stream": '@dp.table\ndef stream(): return spark.readStream.table("changes")',
    "view": '@dp.materialized_view\ndef view(): return spark.table("people")',
    "feed1": 'dp.create_streaming_table("feed1")\n'
    'dp.create_auto_cdc_flow(target="feed1", source="changes", keys=["id"], sequence_by="n")',
    "feed2": 'dp.create_streaming_table("feed2")\n'
    'dp.create_auto_cdc_flow("feed2", "changes", ["id"], "n", stored_as_scd_type=2)',
    "partial": 'dp.create_streaming_table("partial")\n'
    'dp.create_auto_cdc_flow("partial", "changes", ["id"], "n", True)',
    "snapshot1": 'dp.create_streaming_table("snapshot1")\n'
    'dp.create_auto_cdc_from_snapshot_flow(target="snapshot1", source="people", keys=["id"])',
    "snapshot2": 'dp.create_streaming_table("snapshot2")\n'
    'dp.create_auto_cdc_from_snapshot_flow("snapshot2", "people", ["id"], 2)',
    "replaced": 'dp.create_streaming_table("replaced")\n'
    '@dp.replace_flow(target="replaced", replace_using=["id"], sequence_by="n")\n'
    'def replacing(): return spark.readStream.table("changes")',
}
SOURCE = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F

def nested(rows):
    place = F.struct(*[F.concat(F.lit(name), F.col("n")).alias(name) for name in FIELDS])
    mapped = F.create_map(F.lit("k"), place)
    return rows.select("id", "n", place.alias("one"), F.array(place).alias("many"), mapped.alias("mapped"))

@dp.temporary_view
def changes(): return nested(spark.readStream.table("SRC.numbers"))

@dp.temporary_view
def people(): return nested(spark.table("SRC.numbers"))

"""
FIELDS = ["street", "city"]
OTHER_FIELDS = (["city", "street"], ["city", "zip", "street"], ["zip", "city", "street"])


@pytest.mark.slow
def test_fields_go_by_their_names_in_every_target(lab: Lab) -> None:
    text = SOURCE + "\n".join(TARGETS.values())
    given = [FIELDS, *OTHER_FIELDS]
    for n, fields in enumerate(given):
        lab.seed("numbers", f"SELECT {n} id, {n} n")
        lab.file("p.py", text.replace("FIELDS", str(fields)))
        lab.done()
    for target in TARGETS:
        # Every snapshot has other values; the last one is current.
        table = f"{target} WHERE __END_AT IS NULL" if target == "snapshot2" else target
        rows = lab.rows(table, "id, to_json(one), to_json(many[0]), to_json(mapped['k'])")
        # Flows keep what they have written; a snapshot and a view are computed by the last query.
        is_whole = target in ("view", "snapshot1", "snapshot2")
        expected = [given[-1]] * len(given) if is_whole else given
        for (id_, *values), names in zip(rows, expected, strict=True):
            for value in values:
                assert json.loads(value) == {name: f"{name}{id_}" for name in names}, (target, id_)


TYPES = [
    # given, wanted, a value as JSON, the same by names
    ("STRUCT<a: INT, b: STRING>", "STRUCT<b: STRING, A: BIGINT>", {"a": 1, "b": "x"}, {"b": "x", "A": 1}),
    ("ARRAY<STRUCT<a: INT, b: INT>>", "ARRAY<STRUCT<b: INT, a: INT>>", [{"a": 1, "b": 2}], None),
    (
        "MAP<STRING, STRUCT<a: INT, b: INT>>",
        "MAP<STRING, STRUCT<b: INT, a: INT>>",
        {"k": {"a": 1, "b": 2}},
        None,
    ),
    ("STRUCT<`a.b`: INT, `c d`: INT>", "STRUCT<`c d`: INT, `a.b`: INT>", {"a.b": 1, "c d": 2}, None),
    ("STRUCT<s: STRUCT<a: INT, b: INT>>", "STRUCT<s: STRUCT<b: INT, a: INT>>", {"s": {"a": 1, "b": 2}}, None),
    ("STRUCT<a: INT>", "STRUCT<a: INT>", None, None),
    ("STRUCT<a: INT, b: INT>", "STRUCT<b: INT, a: INT>", None, None),
]


@pytest.mark.parametrize(("given", "wanted", "value", "expected"), TYPES)
def test_a_cast_goes_by_the_names_of_fields(
    spark: SparkSession, given: str, wanted: str, value: Any, expected: Any
) -> None:
    sql = f"CAST(NULL AS {given})" if value is None else f"from_json('{json.dumps(value)}', '{given}')"
    rows = spark.range(1).select(expr(sql).alias("v"))
    before, after = rows.schema["v"].dataType, DataType.fromDDL(wanted)
    cast = rows.select(cast_by_name(rows["v"], before, after).alias("v"))
    assert cast.schema["v"].dataType.simpleString() == after.simpleString()
    (row,) = cast.selectExpr("to_json(v)").collect()
    assert (row[0] and json.loads(row[0])) == (expected or value)


@pytest.mark.parametrize(
    ("given", "wanted", "ordered"),
    [
        ("STRUCT<a: INT, B: INT>", "STRUCT<b: STRING, a: INT>", "struct<B:int,a:int>"),
        ("ARRAY<STRUCT<a: INT, b: INT>>", "ARRAY<STRUCT<b: INT, a: INT>>", "array<struct<b:int,a:int>>"),
        ("MAP<INT, STRUCT<a: INT>>", "MAP<INT, STRUCT<a: INT>>", "map<int,struct<a:int>>"),
        ("STRUCT<a: INT>", "STRUCT<b: INT>", None),
        ("STRUCT<a: INT>", "STRUCT<a: INT, b: INT>", None),
        ("MAP<INT, ARRAY<STRUCT<a: INT>>>", "MAP<INT, ARRAY<STRUCT<b: INT>>>", None),
        ("INT", "STRUCT<b: INT>", "int"),
    ],
)
def test_a_type_gets_the_order_of_another_with_the_same_fields(
    spark: SparkSession,  # it parses types
    given: str,
    wanted: str,
    ordered: str | None,
) -> None:
    found = ordered_as(DataType.fromDDL(given), DataType.fromDDL(wanted))
    assert (found and found.simpleString()) == ordered


def test_a_declared_struct_takes_fields_by_name_and_refuses_others(lab: Lab) -> None:
    text = """
        from pyspark import pipelines as dp
        @dp.materialized_view(schema="id INT, place STRUCT<street: STRING, city: STRING>")
        def declared(): return spark.sql("SELECT 1 id, named_struct('city', 'C', 'street', 'S') place")
    """
    lab.file("p.py", text)
    lab.done()
    assert lab.rows("declared", "place.street, place.city") == [("S", "C")]
    # As many fields of the same types, and another name.
    lab.file("p.py", text.replace("'city'", "'town'"))
    error = str(result(lab.run(), "declared").error)
    assert "USER_SPECIFIED_AND_INFERRED_SCHEMA_NOT_COMPATIBLE" in error
    assert "town" in error
