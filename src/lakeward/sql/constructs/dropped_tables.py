"""UNDROP and SHOW TABLES DROPPED: tables that were dropped, for the time in which they can be recovered.

DROP TABLE moves a managed table into the folder `.dropped` of its schema, and keeps the definition of an
external one there (`lakeward.dropped_files`).
Sources: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-undrop-table and
https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-aux-show-tables-dropped
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.dataset_properties import table_type
from lakeward.delta_log import TableMetadata, read_metadata
from lakeward.dropped_files import DroppedFiles, read_dropped
from lakeward.errors import LakewardError, SqlError
from lakeward.file_uris import local_folder
from lakeward.quoting import quote_name, quote_string
from lakeward.spark_internals import java_session, jvm_view
from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.constructs.catalogs import listed_schema
from lakeward.sql.session_context import SessionContext, current_context
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_RETENTION = timedelta(days=7)
_COLUMNS = (
    *("catalogName", "schemaName", "tableName", "tableId", "tableType"),
    *("deletedAt", "createdAt", "updatedAt", "createdBy", "owner"),
)


@dataclass(frozen=True)
class DroppedTable:
    """A table that can be recovered: what SHOW TABLES DROPPED shows of its files."""

    catalog: str
    schema: str
    files: DroppedFiles

    @property
    def name(self) -> tuple[str, str, str]:
        return self.catalog, self.schema, self.files.name

    @property
    def dropped(self) -> datetime:
        return datetime.fromtimestamp(self.files.dropped / 1000, timezone.utc)

    @property
    def location(self) -> Path:
        """Return the folder of its files: an UNDROP that was interrupted has moved them back."""
        if self.files.external:
            return local_folder(str(self.files.definition.get("location"))) or self.files.data
        return self.files.data if self.files.data.is_dir() else self.files.place

    @cached_property
    def metadata(self) -> TableMetadata:
        """Return the metadata of the Delta log; for other formats and a damaged log, the folder's times."""
        try:
            changed = int(self.location.stat().st_mtime * 1000)
        except OSError:
            # Files of an external table may be elsewhere, or removed.
            changed = int(self.files.definition.get("createTime") or self.files.dropped)
        of_folder = TableMetadata({}, changed, changed)
        try:
            return read_metadata(self.location) or of_folder
        except LakewardError:
            # UNDROP brings back its files as they are, and other tables can be found.
            return of_folder

    @property
    def id(self) -> str:
        return str(self.metadata.action.get("id") or self.files.key)

    @property
    def kind(self) -> str:
        """Return the kind of the relation in UNDROP."""
        return "MATERIALIZED VIEW" if self.type == "MATERIALIZED_VIEW" else "TABLE"

    @property
    def type(self) -> str:
        """Return the type of the table in the information schema."""
        return table_type(self.metadata.properties, "EXTERNAL" if self.files.external else "MANAGED")

    def row(self, owner: str) -> list[Any]:
        """Return the row of SHOW TABLES DROPPED; the lakehouse's `owner` owns what has no other owner."""
        metadata = self.metadata
        times = [_time_text(each) for each in (self.files.dropped, metadata.created, metadata.updated)]
        owned = str(self.files.about.get("owner") or owner)
        return [*self.name, self.id, self.type, *times, owner, owned, metadata.action.get("description")]


def _time_text(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, timezone.utc)
    return moment.strftime("%Y-%m-%d AD at %H:%M:%S UTC")


def recovery_period(context: SessionContext, catalog: str, schema: str) -> timedelta:
    """Return the recovery period: RETAIN DROPPED of the schema, else of the catalog, else seven days."""
    for kind, name in (("SCHEMA", (catalog, schema)), ("CATALOG", (catalog,))):
        number, _, unit = str(context.metadata(kind, name).get("retain_dropped", "")).partition(" ")
        if number.isdecimal():
            names = {"hour": "hours", "week": "weeks"}
            return timedelta(**{names.get(unit.strip().lower().rstrip("s"), "days"): int(number)})
    return _RETENTION


def dropped_tables(context: SessionContext, catalog: str, schema: str) -> Iterator[DroppedTable]:
    """Yield the tables of a schema that can be recovered, the last dropped first."""
    since = datetime.now(timezone.utc) - recovery_period(context, catalog, schema)
    tables = [
        DroppedTable(catalog, schema, files)
        for files in read_dropped(context.settings.warehouse / catalog / schema)
    ]
    found = [each for each in tables if each.files.restoring or each.dropped > since]
    yield from sorted(found, key=lambda each: each.dropped, reverse=True)


@dataclass(frozen=True)
class ShowDroppedTables(Command):
    """Lists the tables of a schema that can be recovered."""

    schema: list[str] | None
    limit: int | None

    def run(self, spark: SparkSession) -> Rows:
        context = current_context(spark)
        catalog, schema = context.listed_schema(self.schema)
        rows = [each.row(context.settings.user) for each in dropped_tables(context, catalog, schema)]
        columns = [f"{name} STRING NOT NULL" for name in _COLUMNS]
        return Rows(", ".join([*columns, "comment STRING"]), rows[: self.limit])


@dataclass(frozen=True)
class Undrop(Command):
    """Recovers the table of this name that was dropped last, or the one with this id.

    Raises:
        SqlError: SCHEMA_NOT_FOUND, TABLE_OR_VIEW_NOT_FOUND, WRONG_COMMAND_FOR_OBJECT_TYPE for a relation of
            another kind, and TABLE_OR_VIEW_ALREADY_EXISTS for a name that is taken.
    """

    kind: str
    table: list[str] | None
    id: str | None

    def run(self, spark: SparkSession) -> None:
        context = current_context(spark)
        table = self._find(context)
        name = quote_name(table.name)
        if table.kind != self.kind:
            raise _wrong_kind(name, table.kind, self.kind)
        if not table.files.restoring and spark.catalog.tableExists(name):
            raise _already_exists(name)
        try:
            table.files.restore()
        except FileNotFoundError:
            raise _not_found(name) from None
        except OSError:
            raise _already_exists(name) from None
        # The log that this JVM has in memory may be that of a later table of the name.
        jvm: Any = jvm_view(spark)
        location = table.files.definition.get("location") or table.files.place.as_uri()
        path = jvm.org.apache.hadoop.fs.Path(location)
        jvm.org.apache.spark.sql.delta.DeltaLog.invalidateCache(java_session(spark), path)
        spark.catalog.refreshTable(name)

    def _find(self, context: SessionContext) -> DroppedTable:
        if self.table is not None:
            name = context.qualify(self.table)
            context.require_schema(*name[:2])
            found = (each for each in dropped_tables(context, *name[:2]) if each.name == name)
            shown = quote_name(name)
        else:
            found = (
                each
                for catalog in context.catalogs()
                for schema in context.schemas(catalog)
                for each in dropped_tables(context, catalog, schema)
                if self.id in (each.id, each.files.key)
            )
            shown = quote_string(str(self.id))
        table = next(found, None)
        if table is None:
            raise _not_found(shown)
        return table


def _not_found(name: str) -> SqlError:
    return SqlError(
        "TABLE_OR_VIEW_NOT_FOUND",
        f"No dropped table {name} can be recovered.",
        sql_state="42P01",
        next_step="SHOW TABLES DROPPED lists those that can.",
    )


def _already_exists(name: str) -> SqlError:
    return SqlError(
        "TABLE_OR_VIEW_ALREADY_EXISTS",
        f"Cannot recover the table {name}: the name is taken.",
        sql_state="42P07",
        next_step="Rename the existing one with ALTER TABLE … RENAME TO.",
    )


def _wrong_kind(name: str, found: str, requested: str) -> SqlError:
    return SqlError(
        "WRONG_COMMAND_FOR_OBJECT_TYPE",
        f"The operation UNDROP {requested} requires a {requested}. But {name} is a {found}.",
        sql_state="42809",
        next_step=f"Use UNDROP {found} instead.",
    )


def _undrop(cursor: TokenCursor) -> Undrop:
    cursor.need("UNDROP")
    kind = cursor.phrase("MATERIALIZED VIEW") or cursor.one_of("TABLE")
    table = identity = None
    if cursor.words("WITH", "ID"):
        identity = cursor.string()
    else:
        table = cursor.name(3)
    cursor.end()
    return Undrop(kind, table, identity)


def _show_tables_dropped(cursor: TokenCursor) -> ShowDroppedTables:
    cursor.need("SHOW", "TABLES", "DROPPED")
    schema = listed_schema(cursor)
    limit = cursor.integer() if cursor.words("LIMIT") else None
    cursor.end()
    return ShowDroppedTables(schema, limit)


CONSTRUCTS = in_area(
    "Tables",
    Construct(
        name="UNDROP",
        example="UNDROP TABLE main.default.t",
        note="managed and external tables for 7 days, or RETAIN DROPPED of the schema or catalog; those of a "
        "dropped schema are gone",
        statement=_undrop,
        test="tests/sql/test_undrop.py",
    ),
    Construct(
        name="SHOW TABLES DROPPED",
        example="SHOW TABLES DROPPED IN main.default LIMIT 10",
        statement=_show_tables_dropped,
        trigger=BEGINNING + r"show\s+tables\s+dropped\b",
        test="tests/sql/test_undrop.py",
    ),
)
