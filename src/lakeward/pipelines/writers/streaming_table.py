"""Writes append flows into streaming tables: streams, and batch flows that run once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.analysis.flow_evaluation import EvaluatedFlow
from lakeward.pipelines.graph.elements import Dataset, Sink
from lakeward.pipelines.graph.expectations import (
    CountedExpectations,
    ExpectationCounts,
    ObservedExpectations,
    apply_expectations,
    count_expectations,
)
from lakeward.pipelines.graph.results import FlowResult, total_rows
from lakeward.pipelines.storage.delta_tables import StoredTable, idempotent_append, load_table
from lakeward.pipelines.storage.streaming_query_task import (
    MAX_PROGRESS,
    QueryTask,
    await_query,
    capture_errors,
)
from lakeward.pipelines.writers.flow_run import FlowRun
from lakeward.quoting import quote_name
from lakeward.session import temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


def run_append_flow(run: FlowRun, evaluated: EvaluatedFlow) -> QueryTask[FlowResult]:
    """Run one flow until all input available at its start is processed. Errors of the query propagate."""
    flow, spark, dataset = run.flow, run.spark, run.dataset
    df, own, counted = _watched(run, evaluated)
    before = _load_existing(spark, dataset).version
    with temporary_conf(spark, flow.spark_conf):
        query = (
            df.writeStream.format("delta")
            .queryName(run.query_name)
            .option("checkpointLocation", str(run.checkpoint))
            .option("mergeSchema", "true")
            .outputMode("complete" if flow.name in run.resolved.complete_flows else "append")
            .trigger(availableNow=True)
            .toTable(quote_name(dataset.key))
        )
        run.on_query(query)
        yield from await_query(query)
    commits = _query_commits(_load_existing(spark, dataset), before, str(query.id))
    flow_result = FlowResult(flow.name, total_rows(commit.rows_written for commit in commits))
    flow_result.progress = [batch.json for batch in query.recentProgress]
    found = run.metrics.take({each.metric for each in counted})
    for each in counted:
        counts = _sum_reports(each, found.get(each.metric, []), len(commits))
        if each is own and counts is not None and counts.kept != flow_result.rows_written:
            counts = None
        flow_result.counted.append(CountedExpectations(each.dataset, each.expectations, counts))
    return flow_result


def _watched(
    run: FlowRun, evaluated: EvaluatedFlow
) -> tuple[DataFrame, ObservedExpectations, list[ObservedExpectations]]:
    """Return the rows of a flow that its target keeps, what counts these, and all that is counted."""
    name, query, dataset = run.flow.name, evaluated.query, run.dataset
    metric = f"lakeward_own_{run.update_id}_{name}"
    own = ObservedExpectations(metric, dataset.name, dataset.expectations, query)
    counted = [each for each in (own, *evaluated.observed) if each.expectations]
    run.metrics.watch({each.metric for each in counted})
    return apply_expectations(query, dataset.expectations, metric=metric, flow=name), own, counted


def _sum_reports(
    each: ObservedExpectations, writes: list[ExpectationCounts], commits: int
) -> ExpectationCounts | None:
    """Sum one report per commit; None if one is missing, since a stream cannot be counted again."""
    if len(writes) != commits:
        return None
    return sum(writes, ExpectationCounts.none(each.expectations))


def _query_commits(stored: StoredTable, before: int, query_id: str) -> list[Any]:
    commits = [stored.commit(version) for version in range(before + 1, stored.version + 1)]
    return [
        commit for commit in commits if commit.info.get("operationParameters", {}).get("queryId") == query_id
    ]


def _load_existing(spark: SparkSession, dataset: Dataset) -> StoredTable:
    stored = load_table(spark, dataset.key)
    if stored is None:
        raise PipelineError(
            "TABLE_VANISHED",
            f"`{dataset.name}` was dropped while it was being written.",
            next_step="Run the update again.",
        )
    return stored


def run_once_flow(run: FlowRun, evaluated: EvaluatedFlow) -> FlowResult:
    """Append the flow's rows once per full refresh (SDP-4.6).

    The commit's transaction id marks the flow as done.
    """
    flow, spark, dataset = run.flow, run.spark, run.dataset
    df, own, counted = _watched(run, evaluated)
    stored = load_table(spark, dataset.key)
    before = stored.version if stored else -1
    with temporary_conf(spark, flow.spark_conf):
        writer = idempotent_append(df, app=run.transaction_app("once"), number=1)
        writer = writer.option("userMetadata", run.update_id)
        writer.saveAsTable(quote_name(dataset.key))
    after = load_table(spark, dataset.key)
    if after is None or after.version == before:
        flow_result = FlowResult(flow.name, 0, unchanged=True)
        flow_result.counted = [
            CountedExpectations(each.dataset, each.expectations, ExpectationCounts.none(each.expectations))
            for each in counted
        ]
        return flow_result
    flow_result = FlowResult(flow.name, after.commit().rows_written)
    found = run.metrics.take({each.metric for each in counted})
    for each in counted:
        reported = found[each.metric][0] if len(found.get(each.metric, ())) == 1 else None
        if each is own and reported is not None and reported.kept != flow_result.rows_written:
            reported = None
        counts = reported if reported is not None else count_expectations(each.before, each.expectations)
        flow_result.counted.append(CountedExpectations(each.dataset, each.expectations, counts))
    return flow_result


def run_sink_flow(run: FlowRun, evaluated: EvaluatedFlow) -> QueryTask[FlowResult]:
    """Write all new input. Exceptions of the query or a batch function propagate unchanged."""
    flow, sink = run.flow, run.dataset.sink
    assert sink is not None
    raised: list[BaseException] = []
    with temporary_conf(run.spark, flow.spark_conf):
        writer = (
            evaluated.query.writeStream.queryName(f"{run.dataset.name}/{flow.name}")
            .option("checkpointLocation", str(run.checkpoint))
            .outputMode(flow.mode)
            .trigger(availableNow=True)
        )
        query = _start_query(writer, sink, raised)
        run.on_query(query)
        yield from await_query(query, raised)
    batches = query.recentProgress
    rows = [batch.sink.numOutputRows for batch in batches]
    is_known = len(batches) < MAX_PROGRESS and all(count >= 0 for count in rows)
    flow_result = FlowResult(flow.name, sum(rows) if is_known else None)
    flow_result.progress = [batch.json for batch in batches]
    return flow_result


def _start_query(writer: DataStreamWriter, sink: Sink, raised: list[BaseException]) -> StreamingQuery:
    if sink.handler is not None:
        return writer.foreachBatch(capture_errors(sink.handler, raised)).start()
    table = sink.option("tableName") if sink.format == "delta" else None
    others = {key: value for key, value in sink.options.items() if key.lower() != "tablename" or not table}
    writer = writer.format(sink.format).options(**others)
    return writer.toTable(table) if table else writer.start()
