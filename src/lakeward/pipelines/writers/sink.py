"""Streams into sinks. What they write is never read or deleted here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.pipelines.analysis.flow_evaluation import EvaluatedFlow
from lakeward.pipelines.graph.elements import Sink
from lakeward.pipelines.graph.results import FlowResult
from lakeward.pipelines.storage.streaming_query_task import QueryTask, await_query, capture_errors
from lakeward.pipelines.writers.flow_run import FlowRun
from lakeward.session import temporary_conf

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter


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
    flow_result = FlowResult(flow.name, sum(rows) if all(count >= 0 for count in rows) else None)
    flow_result.progress = [batch.json for batch in batches]
    return flow_result


def _start_query(writer: DataStreamWriter, sink: Sink, raised: list[BaseException]) -> StreamingQuery:
    if sink.handler is not None:
        return writer.foreachBatch(capture_errors(sink.handler, raised)).start()
    table = sink.option("tableName") if sink.format == "delta" else None
    others = {key: value for key, value in sink.options.items() if key.lower() != "tablename" or not table}
    writer = writer.format(sink.format).options(**others)
    return writer.toTable(table) if table else writer.start()
