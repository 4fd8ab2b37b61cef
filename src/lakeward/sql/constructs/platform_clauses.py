"""Clauses and statements about storage, caches and retention of the platform: accepted, without effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_name
from lakeward.sql.construct import Command, Construct, Edit, Edits, in_area
from lakeward.sql.constructs.catalogs import require_collation, retention
from lakeward.sql.constructs.governance import Securable, read_securable
from lakeward.sql.constructs.tables import RequireTable
from lakeward.sql.session_context import current_context
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KINDS = ("CATALOG", "SCHEMA", "DATABASE", "TABLE")


@dataclass(frozen=True)
class KeepSetting(Command):
    """Keeps a setting of a catalog, schema or table with its metadata."""

    securable: Securable
    name: str
    value: str

    def run(self, spark: SparkSession) -> None:
        if self.name == "default_collation":
            require_collation(spark, self.value)
        self.securable.update(spark, **{self.name: self.value})


def _alter_setting(cursor: TokenCursor) -> KeepSetting:
    cursor.need("ALTER")
    securable = read_securable(cursor, _KINDS)
    if cursor.words("RETAIN", "DROPPED"):
        setting, value = "retain_dropped", retention(cursor)
    elif securable.kind == "TABLE":
        raise Unmatched
    elif cursor.words("SET", "MANAGED", "LOCATION"):
        setting, value = "managed_location", cursor.string()
    else:
        cursor.need("DEFAULT", "COLLATION")
        setting, value = "default_collation", cursor.part_or_string()
    cursor.end()
    return KeepSetting(securable, setting, value)


def _predictive_optimization(cursor: TokenCursor) -> KeepSetting:
    cursor.need("ALTER")
    securable = read_securable(cursor, _KINDS)
    value = cursor.one_of("ENABLE", "DISABLE", "INHERIT")
    cursor.need("PREDICTIVE", "OPTIMIZATION")
    cursor.end()
    return KeepSetting(securable, "predictive_optimization", value)


def _managed(cursor: TokenCursor) -> RequireTable:
    """Parse SET EXTERNAL, SET MANAGED and UNSET MANAGED: all tables are folders of the lakehouse."""
    cursor.need("ALTER", "TABLE")
    table = cursor.name()
    if not cursor.words("UNSET", "MANAGED"):
        cursor.need("SET")
        cursor.one_of("EXTERNAL", "MANAGED")
        if cursor.word == "LOCATION":
            raise Unmatched
    cursor.finish()
    return RequireTable(table)


@dataclass(frozen=True)
class CreateRetainingSchema(Command):
    """Creates a schema by `text`, and keeps its recovery period; one that exists keeps its own."""

    schema: list[str]
    period: str
    text: str

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        catalog, name = context.qualify(self.schema, 2)
        is_new = not context.schema_exists(catalog, name)
        spark.sql(self.text)
        if is_new:
            context.update_metadata("SCHEMA", (catalog, name), retain_dropped=self.period)


def _create_retaining(cursor: TokenCursor) -> CreateRetainingSchema:
    """Parse CREATE SCHEMA with RETAIN DROPPED, which is anywhere among its clauses."""
    cursor.need("CREATE")
    cursor.one_of("SCHEMA", "DATABASE")
    cursor.words("IF", "NOT", "EXISTS")
    schema = cursor.name(2)
    begin = cursor.at
    while not cursor.words("RETAIN", "DROPPED"):
        cursor.skip()
        begin = cursor.at
    before, period, after = cursor.text(0, begin), retention(cursor), cursor.at
    cursor.finish()
    return CreateRetainingSchema(schema, period, f"{before} {cursor.text(after)}")


def _credentials(tokens: Sequence[Token]) -> list[Edit]:
    """Remove `WITH (CREDENTIAL name)`: files are read with the rights of the process."""
    return [
        Edit(tokens[at].start, tokens[at + 4].end, " ")
        for at in range(len(tokens) - 4)
        if [t.word for t in tokens[at : at + 3]] == ["WITH", "(", "CREDENTIAL"] and tokens[at + 4].text == ")"
    ]


@dataclass(frozen=True)
class CacheSelect(Command):
    """Fails with Spark's error if the query cannot be resolved, and has no other effect."""

    query: str

    def run(self, spark: SparkSession) -> None:
        spark.sql(self.query)


def _cache_select(cursor: TokenCursor) -> CacheSelect:
    cursor.need("CACHE")
    begin = cursor.at
    cursor.need("SELECT")
    cursor.finish()
    return CacheSelect(cursor.text(begin))


def _drop_table(cursor: TokenCursor) -> Edits:
    cursor.need("DROP", "TABLE")
    cursor.words("IF", "EXISTS")
    cursor.name()
    force = cursor.next
    cursor.need("FORCE")
    cursor.end()
    assert force is not None
    return Edits((Edit(force.start, force.end, ""),))


@dataclass(frozen=True)
class Reorganize(Command):
    """Runs Delta's REORG for PURGE; for others only requires that the table exists."""

    table: list[str]
    condition: str
    operation: str

    def run(self, spark: SparkSession) -> object:
        if self.operation != "PURGE":
            spark.table(quote_name(self.table))
            return None
        return spark.sql(f"REORG TABLE {quote_name(self.table)} {self.condition} APPLY (PURGE)")


def _reorganize(cursor: TokenCursor) -> Reorganize:
    cursor.need("REORG")
    has_table = cursor.words("TABLE")
    table = cursor.name()
    begin = cursor.at
    while cursor.next is not None and cursor.next.word != "APPLY":
        cursor.at += 1
    condition = cursor.text(begin)
    cursor.need("APPLY", "(")
    operation = cursor.one_of("PURGE", "CHECKPOINT", "SET")
    if operation == "PURGE" and has_table:
        raise Unmatched
    cursor.finish()
    return Reorganize(table, condition, operation)


CONSTRUCTS = in_area(
    "Settings of the platform",
    Construct(
        name="PREDICTIVE OPTIMIZATION",
        example="ALTER TABLE t DISABLE PREDICTIVE OPTIMIZATION",
        note="of catalogs, schemas and tables; stored, without effect",
        statement=_predictive_optimization,
    ),
    Construct(
        name="ALTER CATALOG, SCHEMA: SET MANAGED LOCATION, RETAIN DROPPED, DEFAULT COLLATION",
        example="ALTER SCHEMA main.s RETAIN DROPPED TO 1 DAY",
        note="RETAIN DROPPED is the time for which UNDROP finds tables; MANAGED LOCATION has no effect",
        statement=_alter_setting,
    ),
    Construct(
        name="CREATE CATALOG, SCHEMA … RETAIN DROPPED",
        example="CREATE SCHEMA main.s RETAIN DROPPED FOR 14 DAYS",
        note="how long UNDROP finds the tables that are dropped",
        statement=_create_retaining,
    ),
    Construct(
        name="ALTER TABLE … SET EXTERNAL, SET MANAGED, UNSET MANAGED",
        example="ALTER TABLE t SET MANAGED",
        note="no effect: the files stay where they are",
        statement=_managed,
    ),
    Construct(
        name="WITH (CREDENTIAL …)",
        verdict="rewritten",
        example="CREATE TABLE t (id INT) LOCATION '/tmp/t' WITH (CREDENTIAL c)",
        note="removed: files are read with the rights of the process",
        edits=_credentials,
    ),
    Construct(
        name="CACHE SELECT",
        example="CACHE SELECT id FROM t WHERE id > 1",
        note="no effect: files are on this machine's disk already",
        statement=_cache_select,
    ),
    Construct(
        name="DROP TABLE … FORCE",
        verdict="rewritten",
        example="DROP TABLE IF EXISTS t FORCE",
        note="FORCE is removed",
        statement=_drop_table,
    ),
    Construct(
        name="REORG … APPLY (CHECKPOINT), APPLY (SET …), without TABLE",
        example="REORG TABLE t APPLY (CHECKPOINT)",
        note="Delta's for PURGE; the others have no effect",
        statement=_reorganize,
    ),
)
