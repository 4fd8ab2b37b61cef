"""Flows that replace rows of their target: the rows of the same keys, or those of a condition.

Each batch is one commit: one MERGE deletes and inserts, so readers never see one without the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.analysis.flow_evaluation import EvaluatedFlow
from lakeward.pipelines.analysis.validation import named_column, replace_sequence
from lakeward.pipelines.graph.elements import Dataset, ReplaceSpec
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.storage.delta_tables import add_missing_columns, load_table, read_stored_rows
from lakeward.pipelines.storage.streaming_query_task import QueryTask
from lakeward.pipelines.writers.flow_run import BatchExpectations, FlowRun
from lakeward.quoting import quote_name
from lakeward.session import temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
_ROWS_VIEW = "lakeward_replacement"
_TRANSACTION = ("spark.databricks.delta.write.txnAppId", "spark.databricks.delta.write.txnVersion")


def run_replace_flow(run: FlowRun, evaluated: EvaluatedFlow) -> QueryTask[FlowResult]:
    """Replace rows of the target with all new input, or with the current result of a batch query."""
    flow, judge = run.flow, BatchExpectations(run)
    assert flow.replaces is not None
    batches = _BatchWriter(run.dataset, flow.replaces, judge, run.transaction_app("replace"))
    progress: dict[int, Any] | None = None
    add_missing_columns(run.spark, run.dataset.key, run.resolved.schema)
    with temporary_conf(run.spark, flow.spark_conf):
        if flow.is_batch:
            batches.take(evaluated.query, None)
        else:
            progress = yield from run.foreach_batch(evaluated.query, batches.take)
    flow_result = FlowResult(flow.name, batches.inserted, deleted=batches.deleted)
    return judge.account(flow_result, evaluated.observed, progress)


@dataclass
class _BatchWriter:
    """Writes batches and counts inserted and deleted rows."""

    dataset: Dataset
    replaces: ReplaceSpec
    judge: BatchExpectations
    app: str
    inserted: int = 0
    deleted: int = 0

    def take(self, batch: DataFrame, number: int | None) -> None:
        """Write one batch; one with a `number` is written once even if it is retried."""
        batch = batch.persist()
        try:
            # Not isEmpty: metrics observed in the plan would be counted partially, and then again.
            if batch.count() or number is None:
                rows = self.judge(batch)
                if self.replaces.where is not None:
                    self._write(batch.sparkSession, *_changes_by_condition(rows, self.replaces.where), number)
                else:
                    there = read_stored_rows(rows.sparkSession, self.dataset.key)
                    self._write(batch.sparkSession, *_changes_by_key(rows, there, self.replaces), number)
        finally:
            batch.unpersist()

    def _write(
        self, spark: SparkSession, changes: DataFrame, on: str, otherwise: str, number: int | None
    ) -> None:
        columns = [quote_name([name]) for name in changes.columns if name != "__gone"]
        merge = (
            f"MERGE INTO {quote_name(self.dataset.key)} t USING {_ROWS_VIEW} s ON {on} "  # noqa: S608  # quoted
            f"WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND NOT s.__gone THEN "
            f"INSERT ({', '.join(columns)}) VALUES ({', '.join(f's.{name}' for name in columns)}) {otherwise}"
        )
        before = load_table(spark, self.dataset.key)
        transaction = {} if number is None else dict(zip(_TRANSACTION, (self.app, str(number)), strict=True))
        changes.createOrReplaceTempView(_ROWS_VIEW)
        try:
            with temporary_conf(spark, transaction):
                spark.sql(merge)
        finally:
            spark.catalog.dropTempView(_ROWS_VIEW)
        after = load_table(spark, self.dataset.key)
        if before is not None and after is not None and after.version > before.version:
            metrics = after.commit().info.get("operationMetrics", {})
            self.inserted += int(metrics.get("numTargetRowsInserted", 0))
            self.deleted += int(metrics.get("numTargetRowsDeleted", 0))


def _changes_by_condition(rows: DataFrame, where: str) -> tuple[DataFrame, str, str]:
    from pyspark.sql import functions as F

    changes = rows.where(where).withColumn("__gone", F.lit(False))
    return changes, "false", f"WHEN NOT MATCHED BY SOURCE AND ({where}) THEN DELETE"


def _changes_by_key(rows: DataFrame, there: DataFrame, replaces: ReplaceSpec) -> tuple[DataFrame, str, str]:
    """Return the newest rows of each key unless the target has newer ones, and the replaced keys."""
    from pyspark.sql import functions as F

    key = F.struct(*map(named_column, replaces.using)).alias("__key")
    # In a struct NULL is comparable, and the least value.
    sequence = F.struct(replace_sequence(replaces).alias("seq")).alias("__seq")
    new = rows.select(key, sequence, F.struct("*").alias("__row"))
    newest = new.groupBy("__key").agg(F.max("__seq").alias("__newest"))
    known = there.select(key, sequence).groupBy("__key").agg(F.max("__seq").alias("__known"))
    verdicts = newest.join(known, "__key", "left").where("__known IS NULL OR __newest >= __known")
    stands = new.join(verdicts, "__key").where("__seq = __newest").select("__row.*")
    gone = verdicts.where("__newest > __known").select("__key.*").withColumn("__gone", F.lit(True))
    changes = stands.withColumn("__gone", F.lit(False)).unionByName(gone, allowMissingColumns=True)
    same = [f"t.{quote_name([name])} <=> s.{quote_name([name])}" for name in replaces.using]
    return changes, " AND ".join(["s.__gone", *same]), ""
