"""Runs one AUTO CDC flow: each batch of the feed into the target, then into the side table.

In this order a killed batch is harmless: until the side table has it, the next try starts from the same
state and computes the same rows, which the target then has already; afterwards its events are repeats,
which change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.cdc import carried, scd1, scd2, truncated
from lakeward.pipelines.cdc.computed import computed
from lakeward.pipelines.cdc.shape import Shape
from lakeward.pipelines.cdc.state import State
from lakeward.pipelines.cdc.target import Target, Written
from lakeward.pipelines.cdc.tidying import tidied
from lakeward.pipelines.cdc.touched import Touched
from lakeward.pipelines.micro_batches import in_batches
from lakeward.pipelines.names import quoted
from lakeward.pipelines.waiting import Waiting

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["Feed", "apply_changes_once", "apply_changes_stream"]

TOMBSTONES_KEPT = 2 * 24 * 3600
"""Seconds for which a deleted key is remembered (spec §3.2.3)."""


@dataclass
class Feed:
    """What the batches of one flow go through. `schema` is the target's; `written` sums what they did.

    `judged` gives the rows of a batch that may be applied; each row of the feed is computed once for it.
    """

    shape: Shape
    target: Target
    state: State
    app: str
    schema: StructType
    judged: Callable[[DataFrame], DataFrame] | None = None
    tombstones_kept: float = TOMBSTONES_KEPT
    now: Callable[[], datetime] = lambda: datetime.now(timezone.utc)
    written: Written = field(default_factory=Written)
    batches: int = 0

    def take(self, batch: DataFrame, number: int) -> None:
        """Apply one batch."""
        apply = self._first if self.shape.change.scd_type == 1 else self._second
        if self.judged is None:
            apply(batch, number)
            return
        batch = batch.persist()
        try:
            # Not isEmpty: what is observed in the feed's plan would be counted in part, and then again.
            if batch.count():
                apply(self.judged(batch), number)
        finally:
            batch.unpersist()

    def _took(self, written: Written) -> None:
        self.written += written
        self.batches += 1

    def _first(self, batch: DataFrame, number: int) -> None:
        spark, partial = batch.sparkSession, self.shape.change.partial
        with computed(scd1.contribution(self.shape.events(batch, self.schema), partial=partial)) as added:
            carrier = self._carrier(batch)
            if carrier is not None:
                self._merge(added, carrier, number)
                return
            new = self.shape.truncates(batch)
            truncates = None if new is None else truncated.with_former(new, self.state.rows(spark))
            self._compare(added, truncates, number)

    def _carrier(self, batch: DataFrame) -> str | None:
        """The target's column that says what stands, None where the side table does, which then knows all."""
        carrier, noted = carried.carrier(self.shape, batch, self.schema), self.state.carrier
        if carrier is not None and noted is None and not self.state.exists:
            self.state.leave_to(carrier)
        elif noted is not None and carrier != noted:
            rows = carried.standing(batch.sparkSession, self.target, noted, self.schema)
            self._keep(rows, app=f"{self.app}/standing", number=0)
            self.state.tells_all()
        return carrier if carrier == self.state.carrier else None

    def _merge(self, added: DataFrame, carrier: str, number: int) -> None:
        from pyspark.sql import functions as F

        null = F.expr(" OR ".join(f"__key.{quoted([key])} IS NULL" for key in self.shape.keys))
        asked = added.agg(F.count("*"), F.count("__down"), F.count_if(null))
        rows, deletes, null_keys = asked.collect()[0]
        if not rows:
            return
        known, touched = self.state.rows(added.sparkSession), Touched(added.select("__key"), rows)
        with (
            nullcontext(added)
            if known is None
            else computed(carried.with_deletes(added, touched.rows_of(known)))
        ) as changes:
            written = carried.merged(self.target, carrier, changes, null_keys=null_keys > 0)
        if deletes:
            nothing = F.lit(None).cast(added.schema["__up"].dataType)
            gone = added.where("__down IS NOT NULL").withColumn("__up", nothing)
            self._keep(gone, app=self.app, number=number)
        self._took(written)

    def _keep(self, added: DataFrame, *, app: str, number: int, truncates: DataFrame | None = None) -> None:
        from pyspark.sql import functions as F

        kept = added.drop("__row").withColumn("__at", F.lit(self.now()))
        if truncates is not None:
            kept = kept.unionByName(truncated.as_kept(truncates, self.now()), allowMissingColumns=True)
        self.state.add(kept, app=app, number=number)

    def _compare(self, added: DataFrame, truncates: DataFrame | None, number: int) -> None:
        spark, partial = added.sparkSession, self.shape.change.partial
        touched = Touched.of(added)
        if truncates is None and not touched.count:
            return
        stored = self.state.rows(spark)
        if stored is None:
            stored = _nothing_like(added)
        of_keys = stored.where("__key IS NOT NULL")
        known = scd1.united(touched.rows_of(of_keys), partial=partial)
        changes = scd1.changed_keys(added, known, truncates, partial=partial)
        columns = changes.select("__key", "__row", "__action")
        if truncates is not None:
            rest = of_keys.join(added.select("__key"), "__key", "left_anti")
            gone = scd1.truncated_keys(scd1.united(rest, partial=partial), truncates)
            columns = columns.unionByName(gone, allowMissingColumns=True)
        with computed(columns) as columns:
            written = self.target.write(columns, _counts(columns), app=self.app, number=number)
        self._keep(added, app=self.app, number=number, truncates=truncates)
        self._took(written)

    def _second(self, batch: DataFrame, number: int) -> None:
        spark, partial = batch.sparkSession, self.shape.change.partial
        events = self.shape.events(batch, self.schema)
        with computed(scd2.distinct(events)) as added:
            touched = Touched.since(added)
            if not touched.count:
                return
            rows, stored = self.target.rows(spark), self.state.rows(spark)
            with computed(scd2.rows_to_revise(rows, touched, partial=partial)) as current:
                known = added.limit(0) if stored is None else scd2.events_to_revise(stored, current, touched)
                revised = scd2.revised(added, known, current, self.shape.tracked, partial=partial)
                with computed(revised) as changes:
                    written = self.target.write(changes, _counts(changes), app=self.app, number=number)
            self.state.add(added, app=self.app, number=number)
            self._took(written)

    def tidy(self, spark: SparkSession) -> None:
        """Forget old tombstones, and make few files of many; what the side table says stays the same."""
        rows = self.state.rows(spark) if self.state.is_scattered(spark) else None
        if rows is not None:
            since = self.now() - timedelta(seconds=self.tombstones_kept)
            self.state.rewrite(tidied(rows, self.shape.change, since))


def apply_changes_stream(
    source: DataFrame, feed: Feed, checkpoint: Path, *, name: str, on_query: Callable[[Any], None]
) -> Waiting[dict[int, Any]]:
    """Take all that the stream `source` has. What a batch raised goes through as it was raised.

    Gives the progress of each batch by its number.
    """
    progress = yield from in_batches(source, feed.take, checkpoint, name=name, on_query=on_query)
    feed.tidy(source.sparkSession)
    return progress


def apply_changes_once(source: DataFrame, feed: Feed, checkpoint: Path) -> bool:
    """Take the batch `source` unless that was done since the last full refresh; whether it was taken now."""
    done = checkpoint / "done"
    if done.exists():
        return False
    feed.take(source, 0)
    checkpoint.mkdir(parents=True, exist_ok=True)
    done.touch()
    return True


def _counts(changes: DataFrame) -> dict[str, int]:
    return {row["__action"]: row["count"] for row in changes.groupBy("__action").count().collect()}


def _nothing_like(added: DataFrame) -> DataFrame:
    return added.drop("__row").limit(0)
