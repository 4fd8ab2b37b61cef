"""DESCRIBE TABLE EXTENDED … AS JSON of tables and views; Spark describes those of its session catalog.

The document is that of DESCRIBE TABLE in the Databricks SQL reference, with what a local lakehouse has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.dataset_properties import shown_properties
from lakeward.quoting import names_path, quote_name
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.constructs.show_create_table import DECLARED_TYPE
from lakeward.sql.constructs.table_descriptions import DescribeExtended, extended_table
from lakeward.sql.session_context import current_context, run_with_delta
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructField

# Rows of DESCRIBE EXTENDED, by the field of the document.
_FIELDS = {
    "type": "Type",
    "provider": "Provider",
    "comment": "Comment",
    "owner": "Owner",
    "location": "Location",
    "view_text": "View Text",
    "view_schema_mode": "View Schema Mode",
}


@dataclass(frozen=True)
class DescribeAsJson(Command):
    """Describes a table or view of a catalog as one JSON document."""

    table: list[str]
    described: str
    text: str

    def run(self, spark: SparkSession) -> Rows | DataFrame:
        schema = spark.table(quote_name(self.table)).schema
        rows = DescribeExtended(self.table, self.described).run(spark).collect()
        information = {row["col_name"]: row["data_type"] for row in rows[len(schema) :]}
        if "Catalog" not in information:
            return run_with_delta(spark, self.text)
        document: dict[str, Any] = {
            **self._names(spark),
            "columns": [_field(each) for each in schema.fields],
            **{field: information[row] for field, row in _FIELDS.items() if information.get(row)},
        }
        if information.get("Provider") == "delta":
            document |= _of_delta(spark, self.table)
        return Rows("json_metadata STRING", [[json.dumps(document, ensure_ascii=False)]])

    def _names(self, spark: SparkSession) -> dict[str, Any]:
        if names_path(self.table):
            return {"table_name": quote_name(self.table)}
        catalog, namespace, name = current_context(spark).qualify(self.table)
        return {
            "table_name": name,
            "catalog_name": catalog,
            "schema_name": namespace,
            "namespace": [namespace],
        }


def _of_delta(spark: SparkSession, table: list[str]) -> dict[str, Any]:
    detail = run_with_delta(spark, f"DESCRIBE DETAIL {quote_name(table)}").first()
    assert detail is not None
    found = {
        "created_time": detail["createdAt"].strftime("%Y-%m-%dT%H:%M:%SZ"),
        "partition_columns": list(detail["partitionColumns"]),
        "clustering_columns": list(detail["clusteringColumns"]),
        "table_properties": shown_properties(detail["properties"]),
    }
    return {key: value for key, value in found.items() if value}


def _field(field: StructField) -> dict[str, Any]:
    metadata = field.metadata or {}
    comment, declared = metadata.get("comment"), metadata.get(DECLARED_TYPE)
    kind = type(field.dataType).fromDDL(declared) if declared else field.dataType
    found = {"name": field.name, "type": type_as_json(kind), "nullable": field.nullable}
    return {**found, "comment": comment} if comment else found


def type_as_json(kind: DataType) -> dict[str, Any]:
    """Return a type as the document has it.

    >>> from pyspark.sql.types import ArrayType, DecimalType
    >>> type_as_json(ArrayType(DecimalType(5, 2)))["element_type"]
    {'name': 'decimal', 'precision': 5, 'scale': 2}
    """
    from pyspark.sql import types as t

    if isinstance(kind, t.DecimalType):
        return {"name": "decimal", "precision": kind.precision, "scale": kind.scale}
    if isinstance(kind, t.CharType | t.VarcharType):
        return {"name": kind.typeName(), "length": kind.length}
    if isinstance(kind, t.StringType):
        return {"name": "string", "collation": kind.collation}
    if isinstance(kind, t.ArrayType):
        element = type_as_json(kind.elementType)
        return {"name": "array", "element_type": element, "element_nullable": kind.containsNull}
    if isinstance(kind, t.MapType):
        key, value = type_as_json(kind.keyType), type_as_json(kind.valueType)
        return {"name": "map", "key_type": key, "value_type": value, "value_nullable": kind.valueContainsNull}
    if isinstance(kind, t.StructType):
        return {"name": "struct", "fields": [_field(each) for each in kind.fields]}
    if isinstance(kind, t.DayTimeIntervalType | t.YearMonthIntervalType):
        units = kind.simpleString().split()  # "interval day to second", "interval day"
        return {"name": "interval", "start_unit": units[1], "end_unit": units[-1]}
    # As typeof() and the document name it.
    return {"name": "timestamp_ltz" if isinstance(kind, t.TimestampType) else kind.simpleString()}


def _describe(cursor: TokenCursor) -> DescribeAsJson:
    table = extended_table(cursor)
    described = cursor.text(0)
    cursor.need("AS", "JSON")
    cursor.end()
    return DescribeAsJson(table, described, cursor.text(0))


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="DESCRIBE TABLE EXTENDED … AS JSON",
        example="DESCRIBE TABLE EXTENDED t AS JSON",
        starts=("DESCRIBE", "DESC"),
        statement=_describe,
        trigger=BEGINNING + r"desc(?:ribe)?\s+(?:table\s+)?(?:extended|formatted)\b.*\bas\s+json\b",
    ),
)
