"""Streams into sinks. What they write is never read or deleted here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.analysis.flow_evaluation import EvaluatedFlow
from lakeward.pipelines.graph.elements import Dataset, Flow, Sink
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.storage.checkpoints import Checkpoints
from lakeward.pipelines.storage.streaming_query_task import QueryTask, await_query, capture_errors
from lakeward.session import temporary_conf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def run_sink_flow(
    spark: SparkSession,
    dataset: Dataset,
    evaluated: EvaluatedFlow,
    checkpoints: Checkpoints,
    *,
    on_query: Callable[[Any], None],
) -> QueryTask[FlowResult]:
    """Write all new input. Exceptions of the query or a batch function propagate unchanged."""
    flow, sink = evaluated.flow, dataset.sink
    assert sink is not None
    raised: list[BaseException] = []
    with temporary_conf(spark, flow.spark_conf):
        writer = _stream_writer(evaluated.query, dataset, flow, checkpoints.current(dataset.key, flow.name))
        query = _start_query(writer, sink, raised)
        on_query(query)
        yield from await_query(query, raised)
    batches = query.recentProgress
    rows = [batch.sink.numOutputRows for batch in batches]
    flow_result = FlowResult(flow.name, sum(rows) if all(count >= 0 for count in rows) else None)
    flow_result.progress = [batch.json for batch in batches]
    return flow_result


def _stream_writer(df: DataFrame, dataset: Dataset, flow: Flow, checkpoint: Path) -> Any:
    return (
        df.writeStream.queryName(f"{dataset.name}/{flow.name}")
        .option("checkpointLocation", str(checkpoint))
        .outputMode(flow.mode)
        .trigger(availableNow=True)
    )


def _start_query(writer: Any, sink: Sink, raised: list[BaseException]) -> Any:
    if sink.handler is not None:
        return writer.foreachBatch(capture_errors(sink.handler, raised)).start()
    table = sink.option("tableName") if sink.format == "delta" else None
    others = {key: value for key, value in sink.options.items() if key.lower() != "tablename" or not table}
    writer = writer.format(sink.format).options(**others)
    return writer.toTable(table) if table else writer.start()
