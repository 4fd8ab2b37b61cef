"""Applies the batches of one AUTO CDC flow: first to the target, then to the auxiliary table.

This order makes a killed batch harmless. Until the auxiliary table contains the batch, the retry starts from
the same state and computes the rows that the target already has; afterwards its events are repetitions,
which change nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from lakeward.pipelines.autocdc.affected_keys import AffectedKeys
from lakeward.pipelines.autocdc.auxiliary_table import AuxiliaryTable, compact_rows
from lakeward.pipelines.autocdc.bitemporal import revise_bitemporal_history
from lakeward.pipelines.autocdc.cdc_schema import CdcSchema
from lakeward.pipelines.autocdc.scd1 import (
    changed_keys,
    fold_events,
    latest_truncate,
    merge_states,
    truncate_record,
    truncated_keys,
)
from lakeward.pipelines.autocdc.scd1_in_target import (
    append_changes,
    current_rows,
    find_sequence_column,
    merge_changes,
    with_known_deletes,
)
from lakeward.pipelines.autocdc.scd2 import distinct_events, events_to_revise, revise_history, rows_to_revise
from lakeward.pipelines.autocdc.target_table import MergeMetrics, TargetTable
from lakeward.pipelines.storage.computed_rows import computed_rows
from lakeward.pipelines.storage.key_ranges import has_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType
TOMBSTONE_RETENTION_SECONDS = 2 * 24 * 3600
"""Seconds for which the tombstone of a deleted key is kept (SDP-3.2.3)."""


@dataclass
class ForeachBatchHandler:
    """Applies the batches of one flow. `schema` is the target's; `merge_metrics` sums up the changes.

    `filter` returns the rows of a batch that may be applied; it computes each row of the feed once.
    """

    cdc_schema: CdcSchema
    target: TargetTable
    auxiliary_table: AuxiliaryTable
    app: str
    schema: StructType
    filter: Callable[[DataFrame], DataFrame] | None = None
    tombstone_retention: float = TOMBSTONE_RETENTION_SECONDS
    now: Callable[[], datetime] = lambda: datetime.now(timezone.utc)
    merge_metrics: MergeMetrics = field(default_factory=MergeMetrics)
    batches: int = 0
    _has_new_keys: bool = True

    def handle_batch(self, batch: DataFrame, number: int) -> None:
        """Apply one batch."""
        change = self.cdc_schema.change_args
        apply = (
            self._bitemporal if change.bitemporal else self._second if change.scd_type == 2 else self._first
        )
        if self.filter is None:
            apply(batch, number)
            return
        batch = batch.persist()
        try:
            # Not isEmpty: metrics observed in the feed's plan would be counted partially, and then again.
            if batch.count():
                apply(self.filter(batch), number)
        finally:
            batch.unpersist()

    def _took(self, written: MergeMetrics) -> None:
        self.merge_metrics += written
        self.batches += 1

    def _first(self, batch: DataFrame, number: int) -> None:
        spark, partial = batch.sparkSession, self.cdc_schema.change_args.partial
        folded = fold_events(self.cdc_schema.events(batch, self.schema), partial=partial)
        with computed_rows(folded) as added:
            sequence_column = self._sequence_column(batch)
            if sequence_column is not None:
                self._merge(added, sequence_column, number)
                return
            new = self.cdc_schema.truncates(batch)
            truncates = None if new is None else latest_truncate(new, self.auxiliary_table.rows(spark))
            self._compare(added, truncates, number)

    def _sequence_column(self, batch: DataFrame) -> str | None:
        """Return the target's column with the current sequences.

        None if the auxiliary table holds them, which is then complete.
        """
        sequence_column, noted = (
            find_sequence_column(self.cdc_schema, batch, self.schema),
            self.auxiliary_table.target_sequence_column,
        )
        if sequence_column is not None and noted is None and not self.auxiliary_table.exists:
            self.auxiliary_table.set_target_sequence_column(sequence_column)
        elif noted is not None and sequence_column != noted:
            rows = current_rows(batch.sparkSession, self.target, noted, self.schema)
            self._keep(rows, app=f"{self.app}/standing", number=0)
            self.auxiliary_table.clear_target_sequence_column()
        return sequence_column if sequence_column == self.auxiliary_table.target_sequence_column else None

    def _merge(self, added: DataFrame, sequence_column: str, number: int) -> None:
        from pyspark.sql import functions as F

        touched = AffectedKeys.of(added)
        if not touched.count:
            return
        known = self.auxiliary_table.rows(added.sparkSession)
        with (
            nullcontext(added)
            if known is None
            else computed_rows(with_known_deletes(added, touched.rows_of(known)))
        ) as changes:
            key_range = touched.target_condition(self.target.key)
            # Where keys are not in order the first batch shows it, and the others need not look.
            self._has_new_keys = (
                self._has_new_keys
                and key_range != ""
                and not has_files(added.sparkSession, self.target.key, key_range)
            )
            if self._has_new_keys:
                upserts = touched.count if known is None and not touched.deletes else None
                written = append_changes(self.target, changes, upserts=upserts, app=self.app, number=number)
            else:
                written = merge_changes(
                    self.target,
                    sequence_column,
                    changes,
                    null_keys=touched.has_null,
                    key_range=key_range,
                )
        if touched.deletes:
            nothing = F.lit(None).cast(added.schema["__up"].dataType)
            gone = added.where("__down IS NOT NULL").withColumn("__up", nothing)
            self._keep(gone, app=self.app, number=number)
        self._took(written)

    def _keep(self, added: DataFrame, *, app: str, number: int, truncates: DataFrame | None = None) -> None:
        from pyspark.sql import functions as F

        kept = added.drop("__row").withColumn("__at", F.lit(self.now()))
        if truncates is not None:
            kept = kept.unionByName(truncate_record(truncates, self.now()), allowMissingColumns=True)
        self.auxiliary_table.add(kept, app=app, number=number)

    def _compare(self, added: DataFrame, truncates: DataFrame | None, number: int) -> None:
        partial = self.cdc_schema.change_args.partial
        touched = AffectedKeys.of(added)
        if truncates is None and not touched.count:
            return
        stored = self.auxiliary_table.rows_for(added)
        if stored is None:
            stored = _empty_state(added)
        of_keys = stored.where("__key IS NOT NULL")
        known = merge_states(touched.rows_of(of_keys), partial=partial)
        changes = changed_keys(added, known, truncates, partial=partial)
        columns = changes.select("__key", "__row", "__action")
        if truncates is not None:
            rest = of_keys.join(added.select("__key"), "__key", "left_anti")
            gone = truncated_keys(merge_states(rest, partial=partial), truncates)
            columns = columns.unionByName(gone, allowMissingColumns=True)
        with computed_rows(columns) as columns:
            # A truncate reaches all keys.
            key_range = touched.target_condition(self.target.key) if truncates is None else ""
            written = self._write(columns, key_range, number)
        self._keep(added, app=self.app, number=number, truncates=truncates)
        self._took(written)

    def _write(self, changes: DataFrame, key_range: str, number: int) -> MergeMetrics:
        counts = {row["__action"]: row["count"] for row in changes.groupBy("__action").count().collect()}
        return self.target.write(changes, counts, key_range=key_range, app=self.app, number=number)

    def _second(self, batch: DataFrame, number: int) -> None:
        spark, partial = batch.sparkSession, self.cdc_schema.change_args.partial
        events, whole = self.cdc_schema.events(batch, self.schema), self.cdc_schema.has_whole_history
        with computed_rows(distinct_events(events)) as added:
            touched = AffectedKeys.since(added)
            if not touched.count:
                return
            rows, stored = self.target.rows(spark), self.auxiliary_table.rows_for(added)
            with computed_rows(rows_to_revise(rows, touched, partial=partial)) as current:
                known = (
                    added.limit(0)
                    if stored is None
                    else events_to_revise(stored, current, touched, has_whole_history=whole)
                )
                tracked = self.cdc_schema.tracked
                revised = revise_history(
                    added, known, current, tracked, partial=partial, has_whole_history=whole
                )
                with computed_rows(revised) as changes:
                    written = self._write(changes, touched.target_condition(self.target.key), number)
            self.auxiliary_table.add(added, app=self.app, number=number)
            self._took(written)

    def _bitemporal(self, batch: DataFrame, number: int) -> None:
        spark, partial = batch.sparkSession, self.cdc_schema.change_args.partial
        events = distinct_events(self.cdc_schema.events(batch, self.schema))
        with computed_rows(events) as added:
            touched = AffectedKeys.since(added)
            if not touched.count:
                return
            stored = self.auxiliary_table.rows_for(added)
            known = (
                added
                if stored is None
                else touched.rows_of(stored).unionByName(added, allowMissingColumns=True)
            )
            rows = touched.rows_of(self.target.rows(spark))
            with computed_rows(distinct_events(known)) as events, computed_rows(rows) as current:
                revised = revise_bitemporal_history(events, current, self.cdc_schema.tracked, partial=partial)
                with computed_rows(revised) as changes:
                    written = self._write(changes, touched.target_condition(self.target.key), number)
            self.auxiliary_table.add(added, app=self.app, number=number)
            self._took(written)

    def compact(self, spark: SparkSession) -> None:
        """Drop expired tombstones and compact small files."""
        rows = self.auxiliary_table.rows(spark) if self.auxiliary_table.is_scattered(spark) else None
        if rows is not None:
            since = self.now() - timedelta(seconds=self.tombstone_retention)
            self.auxiliary_table.rewrite(compact_rows(rows, self.cdc_schema.change_args, since))


def _empty_state(added: DataFrame) -> DataFrame:
    return added.drop("__row").limit(0)
