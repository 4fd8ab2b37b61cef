"""Clauses and statements about storage, caches and retention of the platform: accepted, without effect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.quoting import quote_name
from lakeward.sql.construct import Command, Construct, Edit, Edits
from lakeward.sql.constructs.governance import Securable, read_securable
from lakeward.sql.constructs.tables import RequireTable
from lakeward.sql.token_cursor import Token, TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AREA = "Settings of the platform"
_KINDS = ("CATALOG", "SCHEMA", "DATABASE", "TABLE")


@dataclass(frozen=True)
class KeepSetting(Command):
    """Keeps a setting of a catalog, schema or table with its metadata."""

    securable: Securable
    name: str
    value: str

    def run(self, spark: SparkSession) -> None:
        self.securable.update(spark, **{self.name: self.value})


def _alter_setting(cursor: TokenCursor) -> KeepSetting:
    cursor.need("ALTER")
    securable = read_securable(cursor, _KINDS)
    if cursor.words("RETAIN", "DROPPED", "TO"):
        setting, value = "retain_dropped", f"{cursor.integer()} {cursor.part()}"
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


def _retain_dropped(tokens: Sequence[Token]) -> list[Edit]:
    """Remove `RETAIN DROPPED FOR n unit` of CREATE CATALOG and CREATE SCHEMA."""
    if tokens[0].word != "CREATE":
        return []
    return [
        Edit(four[0].start, tokens[at + 4].end, "")
        for at, four in enumerate(zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False))
        if [t.word for t in four[:3]] == ["RETAIN", "DROPPED", "FOR"] and at + 4 < len(tokens)
    ]


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


CONSTRUCTS = (
    Construct(
        name="PREDICTIVE OPTIMIZATION",
        area=_AREA,
        verdict="emulated",
        example="ALTER TABLE t DISABLE PREDICTIVE OPTIMIZATION",
        note="of catalogs, schemas and tables; stored, without effect",
        starts=("ALTER",),
        statement=_predictive_optimization,
    ),
    Construct(
        name="ALTER CATALOG, SCHEMA: SET MANAGED LOCATION, RETAIN DROPPED, DEFAULT COLLATION",
        area=_AREA,
        verdict="emulated",
        example="ALTER SCHEMA main.s RETAIN DROPPED TO 1 DAY",
        note="stored; RETAIN DROPPED is the time for which UNDROP finds tables, the others have no effect",
        starts=("ALTER",),
        statement=_alter_setting,
    ),
    Construct(
        name="CREATE CATALOG, SCHEMA … RETAIN DROPPED",
        area=_AREA,
        verdict="rewritten",
        example="CREATE SCHEMA main.s RETAIN DROPPED FOR 14 DAYS",
        note="removed: dropped tables are kept for 7 days, or as ALTER SCHEMA … RETAIN DROPPED sets",
        edits=_retain_dropped,
    ),
    Construct(
        name="ALTER TABLE … SET EXTERNAL, SET MANAGED, UNSET MANAGED",
        area=_AREA,
        verdict="emulated",
        example="ALTER TABLE t SET MANAGED",
        note="no effect: the files stay where they are",
        starts=("ALTER",),
        statement=_managed,
    ),
    Construct(
        name="WITH (CREDENTIAL …)",
        area=_AREA,
        verdict="rewritten",
        example="CREATE TABLE t (id INT) LOCATION '/tmp/t' WITH (CREDENTIAL c)",
        note="removed: files are read with the rights of the process",
        edits=_credentials,
    ),
    Construct(
        name="CACHE SELECT",
        area=_AREA,
        verdict="emulated",
        example="CACHE SELECT id FROM t WHERE id > 1",
        note="no effect: files are on this machine's disk already",
        starts=("CACHE",),
        statement=_cache_select,
    ),
    Construct(
        name="DROP TABLE … FORCE",
        area=_AREA,
        verdict="rewritten",
        example="DROP TABLE IF EXISTS t FORCE",
        note="FORCE is removed",
        starts=("DROP",),
        statement=_drop_table,
    ),
    Construct(
        name="REORG … APPLY (CHECKPOINT), APPLY (SET …), without TABLE",
        area=_AREA,
        verdict="emulated",
        example="REORG TABLE t APPLY (CHECKPOINT)",
        note="Delta's for PURGE; the others have no effect",
        starts=("REORG",),
        statement=_reorganize,
    ),
)
