"""Writes changes into the target: one commit per batch, an append where no existing row changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.pipelines.autocdc.cdc_schema import (
    END_AT,
    START_AT,
    SYSTEM_END_AT,
    SYSTEM_START_AT,
    CdcSchema,
    column,
)
from lakeward.pipelines.autocdc.row_merge import RowMerge
from lakeward.pipelines.storage.delta_tables import idempotent_append, load_table, read_stored_rows
from lakeward.quoting import quote_name
from lakeward.session import temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
# With deletion vectors every batch adds small files. Beyond this number, and one for each full file, a merge
# compacts them, as on Databricks. Left to itself, Delta compacts after the first MERGE of every process.
_MAX_SMALL_FILES = 24
_FULL_FILE, _SMALLEST_FULL_FILE = 128 << 20, 16 << 20


@dataclass(frozen=True)
class MergeMetrics:
    """Rows of the target that a batch upserted and deleted."""

    upserted: int = 0
    deleted: int = 0

    def __add__(self, other: MergeMetrics) -> MergeMetrics:
        return MergeMetrics(self.upserted + other.upserted, self.deleted + other.deleted)


@dataclass(frozen=True)
class TargetTable:
    """The table `key` with the columns of `cdc_schema`."""

    key: tuple[str, ...]
    cdc_schema: CdcSchema

    def rows(self, spark: SparkSession) -> DataFrame:
        """Return the rows of an SCD type 2 or bitemporal table in the form that `revise_history` takes."""
        from pyspark.sql import functions as F

        table = read_stored_rows(spark, self.key)
        known = {name.lower() for name in table.columns}
        system = {SYSTEM_START_AT: "__sys_start", SYSTEM_END_AT: "__sys_end"}
        row = [quote_name([name]) for name in self.cdc_schema.columns if name.lower() in known]
        return table.select(
            F.struct(*[column(key).alias(key) for key in self.cdc_schema.keys]).alias("__key"),
            F.col(START_AT).alias("__start"),
            F.col(END_AT).alias("__end"),
            F.struct(*map(F.col, row)).alias("__row"),
            *(F.col(name).alias(to) for name, to in system.items() if self.cdc_schema.change_args.bitemporal),
        )

    def write(
        self, changes: DataFrame, counts: Mapping[str, int], *, key_range: str, app: str, number: int
    ) -> MergeMetrics:
        """Apply `changes` (__key, __row, __action, and for type 2 __start and __end); idempotent.

        Args:
            changes: The changes, computed.
            counts: Their number by action.
            key_range: As in `merge`.
            app: Name of the writer in the commit.
            number: Number of the batch.
        """
        inserts, updates, deletes = (counts.get(action, 0) for action in ("insert", "update", "delete"))
        if updates or deletes:
            self.merge(
                changes.where("__action <> 'none'"),
                delete="s.__action = 'delete'",
                update="true",
                insert="s.__action <> 'delete'",
                key_range=key_range,
            )
        elif inserts:
            self.append(changes.where("__action = 'insert'"), app=app, number=number)
        return MergeMetrics(inserts + updates, deletes)

    def append(self, changes: DataFrame, *, app: str, number: int) -> None:
        """Append new rows (`__row`, and for type 2 __start and __end); idempotent."""
        from pyspark.sql import functions as F

        rows = changes.select(*[F.expr(value).alias(name) for name, value in self._values().items()])
        idempotent_append(rows, app=app, number=number).saveAsTable(quote_name(self.key))

    def _values(self) -> dict[str, str]:
        """Return the expressions on changes by the target's columns."""
        values = {name: f"__row.{quote_name([name])}" for name in self.cdc_schema.columns}
        if self.cdc_schema.change_args.scd_type == 2:
            values |= {START_AT: "__start", END_AT: "__end"}
        if self.cdc_schema.change_args.bitemporal:
            values |= {SYSTEM_START_AT: "__sys_start", SYSTEM_END_AT: "__sys_end"}
        return values

    def merge(
        self,
        changes: DataFrame,
        *,
        delete: str,
        update: str,
        insert: str,
        tie: str | None = None,
        null_keys: bool = True,
        key_range: str = "",
    ) -> MergeMetrics:
        """Merge `changes`, computed and with one row per key, in one commit.

        Args:
            changes: The changes `s`; `t` is the target.
            delete: Condition for deleting a matched row.
            update: Condition for updating a matched row.
            insert: Condition for inserting an unmatched row.
            tie: Condition for updating a matched row for which `update` is NULL; it may read every column.
            null_keys: Whether a key of `changes` may have a NULL. If none has, `=` compares keys (faster).
            key_range: A condition on `t` that all matching rows meet: files without such rows are not read.
        """
        spark, equals = changes.sparkSession, "<=>" if null_keys else "="
        keys = [f"t.{quote_name([key])} {equals} s.__key.{quote_name([key])}" for key in self.cdc_schema.keys]
        keys += [key_range] if key_range else []
        if self.cdc_schema.change_args.scd_type == 2:
            keys.append(f"t.{START_AT} <=> s.__start")
        if self.cdc_schema.change_args.bitemporal:
            keys.append(f"t.{SYSTEM_START_AT} <=> s.__sys_start")
        merge = RowMerge(changes, " AND ".join(keys), delete, update, insert, tie, self._values())
        with temporary_conf(spark, self._compaction(spark)):
            counts = merge.replace_rows(self.key, key_range) or merge.run_statement(self.key)
        return MergeMetrics(counts.inserted + counts.updated, counts.deleted)

    def _compaction(self, spark: SparkSession) -> dict[str, str]:
        """Return the settings with which the next merge compacts small files, if there are many."""
        stored = load_table(spark, self.key)
        if stored is None or stored.file_count <= _MAX_SMALL_FILES + stored.size // _FULL_FILE:
            return {}
        # Several files, so that the cores share a scan of the table.
        size = min(max(stored.size // 8, _SMALLEST_FULL_FILE), _FULL_FILE)
        prefix = "spark.databricks.delta.autoCompact"
        return {f"{prefix}.enabled": "true", f"{prefix}.maxFileSize": str(size)}
