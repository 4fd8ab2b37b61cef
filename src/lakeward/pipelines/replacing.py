"""Flows that replace rows of their target: those with the keys of new rows, or those of a condition.

Either is one commit a batch: rows that go and rows that come stand in one MERGE, so that readers never see
the table without both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.appending import widen
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.elements import Dataset, Replacement
from lakeward.pipelines.evaluate import Evaluated
from lakeward.pipelines.judging import Judge
from lakeward.pipelines.micro_batches import in_batches
from lakeward.pipelines.names import quoted
from lakeward.pipelines.outcome import FlowOutcome
from lakeward.pipelines.spark_settings import settings
from lakeward.pipelines.tables import look_up, stored_rows
from lakeward.pipelines.waiting import Waiting

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from lakeward.pipelines.resolve import Planned

__all__ = ["require_columns", "run_replacing"]

_ROWS = "lakeward_replacement"
_TRANSACTION = ("spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion")


def require_columns(df: DataFrame, replaces: Replacement) -> None:
    """Raise Spark's AnalysisException for keys, a sequence or a condition that `df` has no columns for."""
    if replaces.where is not None:
        df.where(replaces.where)
    else:
        df.select(*map(_column, replaces.using), _sequence(replaces))


def run_replacing(
    spark: SparkSession,
    planned: Planned,
    evaluated: Evaluated,
    checkpoints: Checkpoints,
    *,
    update_id: str,
    on_query: Callable[[Any], None],
) -> Waiting[FlowOutcome]:
    """Replace what the flow says, by all that is new or by what its query gives now."""
    dataset, flow = planned.dataset, evaluated.flow
    assert flow.replaces is not None
    judge = Judge(dataset, flow.name, update_id)
    checkpoint = checkpoints.current(dataset.key, flow.name)
    app = f"lakeward/replace/{'.'.join(dataset.key)}/{flow.name}/{checkpoint.name}"
    batches = _Batches(dataset, flow.replaces, judge, app)
    progress: dict[int, Any] | None = None
    widen(spark, dataset.key, planned.schema)
    with settings(spark, flow.spark_conf):
        if flow.is_batch:
            batches.take(evaluated.query, None)
        else:
            name = f"{'.'.join(dataset.key)}/{flow.name}"
            progress = yield from in_batches(
                evaluated.query, batches.take, checkpoint, name=name, on_query=on_query
            )
    outcome = FlowOutcome(flow.name, batches.inserted, deleted=batches.deleted)
    return judge.account(outcome, evaluated.observed, progress)


@dataclass
class _Batches:
    """Writes each batch, and counts the rows that came and went."""

    dataset: Dataset
    replaces: Replacement
    judge: Judge
    app: str
    inserted: int = 0
    deleted: int = 0

    def take(self, batch: DataFrame, number: int | None) -> None:
        """Write one batch; one that has a `number` is written once, however often it is tried."""
        batch = batch.persist()
        try:
            # Not isEmpty: what is observed in the plan would be counted in part, and then again.
            if batch.count() or number is None:
                rows = self.judge(batch)
                if self.replaces.where is not None:
                    self._write(batch.sparkSession, *_of_condition(rows, self.replaces.where), number)
                else:
                    there = stored_rows(rows.sparkSession, self.dataset.key)
                    self._write(batch.sparkSession, *_of_keys(rows, there, self.replaces), number)
        finally:
            batch.unpersist()

    def _write(
        self, spark: SparkSession, changes: DataFrame, on: str, otherwise: str, number: int | None
    ) -> None:
        columns = [quoted([name]) for name in changes.columns if name != "__gone"]
        merge = (
            f"MERGE INTO {quoted(self.dataset.key)} t USING {_ROWS} s ON {on} "  # noqa: S608  # quoted
            f"WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND NOT s.__gone THEN "
            f"INSERT ({', '.join(columns)}) VALUES ({', '.join(f's.{name}' for name in columns)}) {otherwise}"
        )
        before = look_up(spark, self.dataset.key)
        transaction = {} if number is None else dict(zip(_TRANSACTION, (self.app, str(number)), strict=True))
        changes.createOrReplaceTempView(_ROWS)
        try:
            with settings(spark, transaction):
                spark.sql(merge)
        finally:
            spark.catalog.dropTempView(_ROWS)
        after = look_up(spark, self.dataset.key)
        if before is not None and after is not None and after.version > before.version:
            metrics = after.commit().info.get("operationMetrics", {})
            self.inserted += int(metrics.get("numTargetRowsInserted", 0))
            self.deleted += int(metrics.get("numTargetRowsDeleted", 0))


def _of_condition(rows: DataFrame, where: str) -> tuple[DataFrame, str, str]:
    from pyspark.sql import functions as F

    changes = rows.where(where).withColumn("__gone", F.lit(False))
    return changes, "false", f"WHEN NOT MATCHED BY SOURCE AND ({where}) THEN DELETE"


def _of_keys(rows: DataFrame, there: DataFrame, replaces: Replacement) -> tuple[DataFrame, str, str]:
    """The newest rows of each key unless the target has newer ones, and the keys whose rows go."""
    from pyspark.sql import functions as F

    key = F.struct(*map(_column, replaces.using)).alias("__key")
    # In a struct NULL is a value, and the least.
    sequence = F.struct(_sequence(replaces).alias("seq")).alias("__seq")
    new = rows.select(key, sequence, F.struct("*").alias("__row"))
    newest = new.groupBy("__key").agg(F.max("__seq").alias("__newest"))
    known = there.select(key, sequence).groupBy("__key").agg(F.max("__seq").alias("__known"))
    verdicts = newest.join(known, "__key", "left").where("__known IS NULL OR __newest >= __known")
    stands = new.join(verdicts, "__key").where("__seq = __newest").select("__row.*")
    gone = verdicts.where("__newest > __known").select("__key.*").withColumn("__gone", F.lit(True))
    changes = stands.withColumn("__gone", F.lit(False)).unionByName(gone, allowMissingColumns=True)
    same = [f"t.{quoted([name])} <=> s.{quoted([name])}" for name in replaces.using]
    return changes, " AND ".join(["s.__gone", *same]), ""


def _column(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(quoted([name])).alias(name)


def _sequence(replaces: Replacement) -> Column:
    given = replaces.sequence_by
    return _column(given) if isinstance(given, str) else given
