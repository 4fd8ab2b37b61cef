"""ALTER TABLE … ALTER COLUMN … SET NOT NULL on Delta tables, which Spark refuses for nullable columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.quoting import quote_name
from lakeward.sql.construct import BEGINNING, Command, Construct, in_area
from lakeward.sql.dataset_kinds import require_alterable
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


@dataclass(frozen=True)
class SetNotNull(Command):
    """Forbids NULL in columns of a Delta table, in one commit, after all its rows were checked.

    `text` is the statement, which Spark runs or refuses where it changes no nullability of existing columns.
    """

    table: list[str]
    columns: list[list[str]]
    text: str

    def run(self, spark: SparkSession) -> DataFrame | None:
        require_alterable(spark, self.table)
        log = find_delta_log(spark, self.table)
        if log is None:
            return run_with_delta(spark, self.text)
        transaction = start_transaction(spark, log)
        metadata = transaction.metadata()
        schema = json.loads(metadata.schemaString())
        changed = deepcopy(schema)
        paths = [_forbid_null(changed, column) for column in self.columns]
        if changed == schema or None in paths:
            return run_with_delta(spark, self.text)
        transaction.filterFiles()  # rows that others append meanwhile are a conflict
        version = transaction.snapshot().version()
        rows = spark.read.format("delta").option("versionAsOf", version).load(str(log.dataPath()))
        self._require_values(rows)
        changes = [{"column": quote_name(path), "nullable": False} for path in paths if path]
        commit_schema(spark, transaction, json.dumps(changed), changes)
        return None

    def _require_values(self, rows: DataFrame) -> None:
        names = [quote_name(column) for column in self.columns]
        counts = rows.selectExpr(*(f"count_if({name} IS NULL)" for name in names)).first()
        assert counts is not None
        for name, violations in zip(names, counts, strict=True):
            if violations:
                table = ".".join(self.table)
                raise SqlError(
                    "DELTA_NEW_NOT_NULL_VIOLATION",
                    f"{violations} rows in {table} violate the new NOT NULL constraint on {name}.",
                    sql_state="23512",
                )


def _forbid_null(schema: dict[str, Any], column: Sequence[str]) -> list[str] | None:
    """Make the column NOT NULL in a schema as JSON; return its path as stored, None if it does not exist.

    Raises SqlError for a field below an array or map, or below a struct that can be NULL.
    """
    fields = find_fields(schema, column)
    if any(parent["nullable"] for parent in fields[:-1]):
        raise SqlError(
            "DELTA_NOT_NULL_NESTED_FIELD",
            "A non-nullable nested field can't be added to a nullable parent. Please set the nullability "
            "of the parent column accordingly.",
            sql_state="0A000",
        )
    path = [field["name"] for field in fields]
    if len(fields) < len(column):
        if fields:
            _refuse_nested(fields[-1]["type"], path)
        return None
    fields[-1]["nullable"] = False
    return path


def _refuse_nested(part: Mapping[str, Any] | str, path: Sequence[str]) -> None:
    if isinstance(part, dict) and part["type"] in ("array", "map"):
        raise SqlError(
            "DELTA_NESTED_NOT_NULL_CONSTRAINT",
            f"The {part['type']} type of the field {quote_name(path)} contains a NOT NULL constraint. Delta "
            "does not support NOT NULL constraints nested within arrays or maps.",
            sql_state="0AKDC",
        )


def _set_not_null(cursor: TokenCursor) -> SetNotNull:
    """Parse ALTER TABLE t ALTER COLUMN a SET NOT NULL, b.c SET NOT NULL."""
    table, columns = parse_altered_columns(cursor, _column)
    return SetNotNull(table, columns, cursor.text(0))


def _column(cursor: TokenCursor) -> list[str]:
    name = cursor.name(COLUMN_DEPTH)
    cursor.need("SET", "NOT", "NULL")
    return name


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="ALTER COLUMN … SET NOT NULL",
        example="ALTER TABLE t ALTER COLUMN id SET NOT NULL",
        note="checks all rows, then changes the schema in one commit",
        statement=_set_not_null,
        trigger=BEGINNING + r"alter\s.*\bset\s+not\s+null\b",
        test="tests/sql/test_not_null.py",
    ),
)
