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
from lakeward.pipelines.storage.delta_tables import (
    idempotent_append,
    load_table,
    prepare_merge,
    read_stored_rows,
)
from lakeward.quoting import quote_name
from lakeward.session import temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
_CHANGES_VIEW = "lakeward_changes"
# With deletion vectors every batch adds small files. Beyond this number, and one for each full file, a MERGE
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
        rows = changes.selectExpr(*self._values())
        idempotent_append(rows, app=app, number=number).saveAsTable(quote_name(self.key))

    def _values(self) -> list[str]:
        values = [f"__row.{quote_name([name])} AS {quote_name([name])}" for name in self.cdc_schema.columns]
        if self.cdc_schema.change_args.scd_type == 2:
            values += [f"__start AS {START_AT}", f"__end AS {END_AT}"]
        if self.cdc_schema.change_args.bitemporal:
            values += [f"__sys_start AS {SYSTEM_START_AT}", f"__sys_end AS {SYSTEM_END_AT}"]
        return values

    def merge(
        self,
        changes: DataFrame,
        *,
        delete: str,
        update: str,
        insert: str,
        null_keys: bool = True,
        key_range: str = "",
    ) -> MergeMetrics:
        """Run one MERGE of `changes`, computed and with one row per key.

        Args:
            changes: The source `s` of the MERGE; `t` is the target.
            delete: Condition for deleting a matched row.
            update: Condition for updating a matched row.
            insert: Condition for inserting an unmatched row.
            null_keys: Whether a key of `changes` may have a NULL. If none has, `=` compares keys (faster).
            key_range: A condition on `t` that all matching rows meet: files without such rows are not read.
        """
        spark, equals = changes.sparkSession, "<=>" if null_keys else "="
        keys = [f"t.{quote_name([key])} {equals} s.__key.{quote_name([key])}" for key in self.cdc_schema.keys]
        values = {quote_name([name]): f"s.__row.{quote_name([name])}" for name in self.cdc_schema.columns}
        keys += [key_range] if key_range else []
        if self.cdc_schema.change_args.scd_type == 2:
            keys.append(f"t.{START_AT} <=> s.__start")
            values |= {START_AT: "s.__start", END_AT: "s.__end"}
        if self.cdc_schema.change_args.bitemporal:
            keys.append(f"t.{SYSTEM_START_AT} <=> s.__sys_start")
            values |= {SYSTEM_START_AT: "s.__sys_start", SYSTEM_END_AT: "s.__sys_end"}
        assignments = ", ".join(f"t.{name} = {value}" for name, value in values.items())
        merge = (
            f"MERGE INTO {quote_name(self.key)} t USING {_CHANGES_VIEW} s ON {' AND '.join(keys)} "  # noqa: S608  # quoted
            f"WHEN MATCHED AND {delete} THEN DELETE "
            f"WHEN MATCHED AND {update} THEN UPDATE SET {assignments} "
            f"WHEN NOT MATCHED AND {insert} THEN "
            f"INSERT ({', '.join(values)}) VALUES ({', '.join(values.values())})"
        )
        source, conf = prepare_merge(changes)
        source.createOrReplaceTempView(_CHANGES_VIEW)
        try:
            with temporary_conf(spark, conf | self._compaction(spark)):
                done = spark.sql(merge).first()
        finally:
            spark.catalog.dropTempView(_CHANGES_VIEW)
        assert done is not None
        return MergeMetrics(done["num_updated_rows"] + done["num_inserted_rows"], done["num_deleted_rows"])

    def _compaction(self, spark: SparkSession) -> dict[str, str]:
        """Return the settings with which the next MERGE compacts small files, if there are many."""
        stored = load_table(spark, self.key)
        if stored is None or stored.file_count <= _MAX_SMALL_FILES + stored.size // _FULL_FILE:
            return {}
        # Several files, so that the cores share a scan of the table.
        size = min(max(stored.size // 8, _SMALLEST_FULL_FILE), _FULL_FILE)
        prefix = "spark.databricks.delta.autoCompact"
        return {f"{prefix}.enabled": "true", f"{prefix}.maxFileSize": str(size)}
