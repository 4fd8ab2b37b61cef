"""Schemas: MANAGED LOCATION, DROP with volumes, DESCRIBE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_name
from lakeward.sql.construct import BEGINNING, Command, Construct, Edit, Rows, in_area, supported
from lakeward.sql.procedures import procedures_of
from lakeward.sql.session_context import current_context, remove_folder, run_with_delta
from lakeward.sql.token_cursor import Token, TokenCursor
from lakeward.volume_folders import volume_folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class DropSchema(Command):
    """Removes a schema; CASCADE is required if it contains objects, volumes included."""

    schema: list[str]
    cascade: bool
    text: str

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        catalog, schema = [context.catalog, *(part.lower() for part in self.schema)][-2:]
        if not context.schema_exists(catalog, schema):
            run_with_delta(spark, self.text)
            return
        procedures = [name[-1] for name, _ in procedures_of(context, catalog, schema)]
        contained = [*context.volumes(catalog, schema), *procedures]
        if contained and not self.cascade:
            name = quote_name([catalog, schema])
            raise SqlError(
                "SCHEMA_NOT_EMPTY",
                f"Cannot drop the schema {name}: it has {', '.join(contained)}.",
                parameters={"schemaName": name},
                next_step="Use DROP SCHEMA … CASCADE to drop it with all that is in it.",
            )
        run_with_delta(spark, self.text)
        remove_folder(volume_folder(context.settings.volumes, catalog, schema))


def _drop_schema(cursor: TokenCursor) -> DropSchema:
    cursor.need("DROP")
    cursor.one_of("SCHEMA", "DATABASE")
    cursor.words("IF", "EXISTS")
    schema = cursor.name(2)
    cascade = cursor.words("CASCADE")
    cursor.words("RESTRICT")
    cursor.end()
    return DropSchema(schema, cascade, cursor.text(0))


@dataclass(frozen=True)
class DescribeSchema(Command):
    """Shows Spark's description of a schema under the platform's column names."""

    text: str

    def run(self, spark: SparkSession) -> Rows:
        columns = "database_description_item STRING, database_description_value STRING"
        return Rows(columns, [tuple(row) for row in run_with_delta(spark, self.text).collect()])


def _describe_schema(cursor: TokenCursor) -> DescribeSchema:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.one_of("SCHEMA", "DATABASE")
    cursor.words("EXTENDED")
    cursor.name(2)
    cursor.end()
    return DescribeSchema(cursor.text(0))


def _managed_location(tokens: Sequence[Token]) -> list[Edit]:
    """Store MANAGED LOCATION as a property: Spark's LOCATION would move the tables there."""
    if tokens[0].word != "CREATE":
        return []
    edits: list[Edit] = []
    for managed, location, path in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (managed.word, location.word) == ("MANAGED", "LOCATION") and path.is_string:
            edits.append(Edit(managed.start, location.end, "WITH DBPROPERTIES ('managedLocation' ="))
            edits.append(Edit(path.end, path.end, ")"))
    return edits


CONSTRUCTS = in_area(
    "Catalogs and schemas",
    supported("CREATE SCHEMA", "CREATE SCHEMA IF NOT EXISTS main.s COMMENT 'x'"),
    Construct(
        name="CREATE SCHEMA … MANAGED LOCATION",
        verdict="rewritten",
        example="CREATE SCHEMA main.s MANAGED LOCATION 's3://bucket/tables'",
        note="stored as a property: tables are stored in the state folder",
        edits=_managed_location,
    ),
    Construct(
        name="DROP SCHEMA",
        example="DROP SCHEMA main.s CASCADE",
        note="with its volumes; the files of external volumes stay",
        statement=_drop_schema,
        trigger=BEGINNING + r"drop\s+(?:schema|database)\b",
    ),
    Construct(
        name="DESCRIBE SCHEMA",
        example="DESCRIBE SCHEMA EXTENDED main.s",
        note="Spark's rows under the platform's column names",
        starts=("DESCRIBE", "DESC"),
        statement=_describe_schema,
        trigger=BEGINNING + r"desc(?:ribe)?\s+(?:schema|database)\s+(?:extended\s+)?[\w`]",
    ),
)
