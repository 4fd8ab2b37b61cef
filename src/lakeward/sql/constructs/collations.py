"""ALTER TABLE … ALTER COLUMN … TYPE STRING COLLATE … on Delta tables, which Delta refuses.

Source: https://docs.databricks.com/aws/en/delta/collation
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.quoting import quote_name
from lakeward.sql.construct import BEGINNING, Command, Construct, in_area
from lakeward.sql.constructs.catalogs import require_collation
from lakeward.sql.schema_changes import (
    COLUMN_DEPTH,
    commit_schema,
    find_delta_log,
    find_fields,
    parse_altered_columns,
    start_transaction,
)
from lakeward.sql.session_context import run_with_delta
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_KEY, _BINARY = "__COLLATIONS", "UTF8_BINARY"


@dataclass(frozen=True)
class AlterCollation(Command):
    """Changes the collation of STRING columns of a Delta table in one commit; no file is rewritten.

    `text` is the statement, which Spark refuses for columns that are no strings or do not exist.
    """

    table: list[str]
    columns: list[tuple[list[str], str]]
    text: str

    def run(self, spark: SparkSession) -> DataFrame | None:
        log = find_delta_log(spark, self.table)
        if log is None:
            return run_with_delta(spark, self.text)
        transaction = start_transaction(spark, log)
        schema = json.loads(transaction.metadata().schemaString())
        changed, changes = deepcopy(schema), []
        for path, collation in self.columns:
            require_collation(spark, collation)
            fields = find_fields(changed, path)
            if len(fields) < len(path) or not _is_string(fields[-1]):
                return run_with_delta(spark, self.text)
            _set_collation(fields[-1], collation)
            changes.append({"column": quote_name(path), "type": f"STRING COLLATE {collation}"})
        if changed != schema:
            # Delta's check of types refuses collations, which it stores and reads.
            getattr(transaction, "checkUnsupportedDataType_$eq")(False)
            commit_schema(spark, transaction, json.dumps(changed), changes)
        return None


def _is_string(field: dict[str, Any]) -> bool:
    from pyspark.sql.types import StringType, StructField

    return type(StructField.fromJson(deepcopy(field)).dataType) is StringType


def _set_collation(field: dict[str, Any], collation: str) -> None:
    """Give a field the collation: in its metadata, or for UTF8_BINARY in its type, as Spark writes it."""
    name = collation.upper()
    had_collation = field["metadata"].pop(_KEY, None) is not None
    if name != _BINARY:
        provider = "spark" if name.startswith("UTF8_") else "icu"
        field["type"], field["metadata"][_KEY] = "string", {field["name"]: f"{provider}.{name}"}
    elif had_collation:
        field["type"] = f"string collate {_BINARY}"


def _alter_collation(cursor: TokenCursor) -> AlterCollation:
    """Parse ALTER TABLE t ALTER COLUMN a TYPE STRING COLLATE x, b.c TYPE STRING COLLATE y."""
    table, columns = parse_altered_columns(cursor, _column)
    return AlterCollation(table, columns, cursor.text(0))


def _column(cursor: TokenCursor) -> tuple[list[str], str]:
    name = cursor.name(COLUMN_DEPTH)
    cursor.need("TYPE", "STRING", "COLLATE")
    return name, cursor.part()


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="ALTER COLUMN … TYPE STRING COLLATE",
        example="ALTER TABLE t ALTER COLUMN name TYPE STRING COLLATE UTF8_LCASE",
        note="changes the schema in one commit; files are not rewritten",
        statement=_alter_collation,
        trigger=BEGINNING + r"alter\s.*\btype\s+string\s+collate\b",
        test="tests/sql/test_collated_columns.py",
    ),
)
