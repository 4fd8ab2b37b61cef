"""SHOW CREATE TABLE: a statement that creates the table again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import (
    names_path,
    quote_identifier,
    quote_if_needed,
    quote_name,
    quote_properties,
    quote_string,
)
from lakeward.session import is_information_schema
from lakeward.spark_internals import delta_log, relation_kind
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.constructs.event_log import PIPELINE
from lakeward.sql.constructs.key_clauses import Key
from lakeward.sql.constructs.keys import stored_keys
from lakeward.sql.constructs.temporary_tables import TEMPORARY_TABLES
from lakeward.sql.session_context import SessionContext, current_context, run_with_delta
from lakeward.sql.sql_types import type_text
from lakeward.sql.standalone_tables import find_standalone_table
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession
    from pyspark.sql.types import StructField

_DEFAULT, DECLARED_TYPE = "CURRENT_DEFAULT", "__CHAR_VARCHAR_TYPE_STRING"
_IDENTITY, _GENERATED = "delta.identity.", "delta.generationExpression"
# Delta computes these for the new table.
_COMPUTED = ("delta.columnMapping.maxColumnId", "delta.rowTracking.materialized")
_BINARY = "UTF8_BINARY"
_DEFAULTS_FEATURE = "delta.feature.allowColumnDefaults"


@dataclass(frozen=True)
class ShowCreateTable(Command):
    """Shows the statement that creates a table or a view; for other formats than Delta, that of Spark."""

    table: list[str]

    def run(self, spark: SparkSession) -> Rows:
        context = current_context(spark)
        spark.table(quote_name(self.table))
        if relation_kind(spark, self.table, TEMPORARY_TABLES) == "temporary view":
            # As Spark's own command, which resolves the name with `allowTempView = false`.
            raise SqlError(
                "EXPECT_PERMANENT_VIEW_NOT_TEMP",
                f"'SHOW CREATE TABLE' expects a permanent view but {quote_name(self.table)} is a temp view.",
                parameters={"operation": "SHOW CREATE TABLE", "viewName": quote_name(self.table)},
            )
        if names_path(self.table) and self.table[0].lower() == "delta":
            return _statement(_of_delta(spark, self.table, _detail(spark, self.table), [], None))
        full = context.qualify(self.table)
        catalog, schema, name = full
        if is_information_schema(catalog, schema):
            raise SqlError(
                "UNSUPPORTED_SQL",
                f"{'.'.join(full)} is computed: no statement creates it. DESCRIBE TABLE shows its columns.",
                sql_state="0A000",
            )
        views = spark.sql(
            f"SELECT view_definition FROM {quote_identifier(catalog)}.information_schema.views"  # noqa: S608  # quoted
            " WHERE table_schema = :schema AND table_name = :name AND is_materialized = 'false'",
            args={"schema": schema, "name": name},
        ).collect()
        if views:
            return _statement(f"CREATE VIEW {'.'.join(full)} AS {views[0][0]}")
        detail = _detail(spark, self.table)
        if detail["format"] != "delta":
            shown = run_with_delta(spark, f"SHOW CREATE TABLE {quote_name(self.table)}").collect()[0][0]
            return _statement(shown.replace(" COLLATE UTF8_BINARY", ""))
        standalone = find_standalone_table(context.settings, detail["properties"].get(PIPELINE))
        if standalone is not None:
            return _statement(standalone.text)
        location = _location(context, full, detail["location"])
        return _statement(_of_delta(spark, full, detail, stored_keys(spark, self.table), location))


def _detail(spark: SparkSession, table: Sequence[str]) -> Row:
    detail = spark.sql(f"DESCRIBE DETAIL {quote_name(table)}").first()
    assert detail is not None
    return detail


def _of_delta(
    spark: SparkSession, table: Sequence[str], detail: Row, keys: Sequence[Key], location: str | None
) -> str:
    fields = _stored_fields(spark, detail["location"])
    properties = {k: v for k, v in detail["properties"].items() if not k.startswith(_COMPUTED)}
    collation = properties.pop("collation", None)
    plain = "string" if collation in (None, _BINARY) else f"string collate {_BINARY}"
    items = [*(_column(field, plain) for field in fields), *map(_constraint, keys)]
    if any(_DEFAULT in field.metadata for field in fields):
        properties[_DEFAULTS_FEATURE] = "supported"
    using, *others = _clauses(detail, location)
    collations = [f"DEFAULT COLLATION {collation}"] if collation else []
    clauses = [using, *collations, *others, *_properties(properties)]
    name = ".".join(map(quote_if_needed, table))
    return "\n".join([f"CREATE TABLE {name} (", ",\n".join(items) + ")", *clauses]) + "\n"


def _statement(text: str) -> Rows:
    return Rows("createtab_stmt STRING", [[text]])


def _stored_fields(spark: SparkSession, location: str) -> list[StructField]:
    """Return the columns as Delta stores them: a DataFrame lacks what only writers need."""
    from pyspark.sql.types import StructType

    log = delta_log(spark, location)
    return StructType.fromJson(json.loads(log.unsafeVolatileSnapshot().metadata().schemaString())).fields


def _column(field: StructField, plain: str) -> str:
    """Return the declaration of a column; `plain` is the type of strings without a collation."""
    metadata = field.metadata
    declared = metadata.get(DECLARED_TYPE) or type_text(field.dataType, with_comments=True)
    declared = plain if declared == "string" else declared
    # Names of fields keep their case.
    parts = [f"  {quote_if_needed(field.name)}", declared if "<" in declared else declared.upper()]
    if f"{_IDENTITY}start" in metadata:
        mode = "BY DEFAULT" if metadata[f"{_IDENTITY}allowExplicitInsert"] else "ALWAYS"
        start, step = metadata[f"{_IDENTITY}start"], metadata[f"{_IDENTITY}step"]
        parts.append(f"GENERATED {mode} AS IDENTITY (START WITH {start} INCREMENT BY {step})")
    elif _GENERATED in metadata:
        parts.append(f"GENERATED ALWAYS AS ({metadata[_GENERATED]})")
    if not field.nullable:
        parts.append("NOT NULL")
    if _DEFAULT in metadata:
        parts.append(f"DEFAULT {metadata[_DEFAULT]}")
    if metadata.get("comment"):
        parts.append(f"COMMENT {quote_string(metadata['comment'])}")
    return " ".join(parts)


def _constraint(key: Key) -> str:
    return f"  CONSTRAINT {quote_if_needed(key.name or '')} {key.text(quote_if_needed)}"


def _location(context: SessionContext, table: tuple[str, ...], location: str) -> str | None:
    """Return the folder of an external table; None for the table's own place."""
    own = context.settings.warehouse.joinpath(*table)
    return None if location.removeprefix("file:").rstrip("/") == str(own) else location


def _clauses(detail: Row, location: str | None) -> Iterator[str]:
    yield f"USING {detail['format']}"
    for clause, columns in (("PARTITIONED", "partitionColumns"), ("CLUSTER", "clusteringColumns")):
        if detail[columns]:
            yield f"{clause} BY ({', '.join(map(quote_if_needed, detail[columns]))})"
    if location:
        yield f"LOCATION {quote_string(location)}"
    if detail["description"]:
        yield f"COMMENT {quote_string(detail['description'])}"


def _properties(properties: dict[str, str]) -> Iterator[str]:
    if properties:
        pairs = quote_properties(dict(sorted(properties.items())), separator=",\n  ")
        yield f"TBLPROPERTIES (\n  {pairs})"


def _show_create_table(cursor: TokenCursor) -> ShowCreateTable:
    cursor.need("SHOW", "CREATE", "TABLE")
    table = cursor.name(3)
    cursor.end()
    return ShowCreateTable(table)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="SHOW CREATE TABLE",
        example="SHOW CREATE TABLE t",
        note="of Delta tables and of views; the statement creates an equal table",
        statement=_show_create_table,
        trigger=BEGINNING + r"show\s+create\s+table\b",
        test="tests/sql/test_show_create_table.py",
    ),
)
