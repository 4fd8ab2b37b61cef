"""Sinks: streams that leave the pipeline. What they wrote is never read or cleaned here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.checkpoints import Checkpoints
from lakeward.pipelines.elements import Dataset, Flow, Sink
from lakeward.pipelines.evaluate import Evaluated
from lakeward.pipelines.outcome import FlowOutcome
from lakeward.pipelines.spark_settings import settings
from lakeward.pipelines.waiting import Waiting, noting, waited
from lakeward.session import CONNECTORS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["FOREACH_BATCH", "prepare_sink", "require_format", "run_sink_flow"]

FOREACH_BATCH = "foreach_batch"


def require_format(spark: SparkSession, dataset: Dataset) -> None:
    """Raise PipelineError for a sink whose connector is absent or whose options cannot do."""
    sink, where = dataset.sink, f"{dataset.place}: the sink `{dataset.name}`"
    assert sink is not None
    if sink.handler is not None:
        return
    if sink.format == "delta":
        named = [name for name in ("path", "tableName") if _option(sink, name) is not None]
        if len(named) != 1:
            given = " and ".join(named) or ", ".join(sink.options) or "no options"
            raise PipelineError(
                "INVALID_SINK_OPTIONS",
                f"{where} writes Delta and has {given}.",
                next_step='Give it either a path or a table: options={"tableName": "main.default.t"}.',
            )
        return
    sessions = spark._jsparkSession.sessionState()
    if sessions.dataSourceManager().dataSourceExists(sink.format):
        return
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    jvm: Any = spark._jvm
    try:
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource(
            sink.format, sessions.conf()
        )
    except (Py4JJavaError, PySparkException):
        package = CONNECTORS.get(sink.format.lower())
        raise PipelineError(
            "DATA_SOURCE_NOT_FOUND",
            f"{where} has the format `{sink.format}`, which this session does not have.",
            next_step=f"Add its connector to the session: spark.jars.packages={package}."
            if package
            else "Register a Python data source of that name with spark.dataSource.register.",
        ) from None


def prepare_sink(dataset: Dataset, checkpoints: Checkpoints) -> None:
    """A full refresh, which the update has noted, reads everything anew; what is there stays (spec §4)."""
    if checkpoints.interrupted(dataset.key):
        checkpoints.finish_reset(dataset.key)


def run_sink_flow(
    spark: SparkSession,
    dataset: Dataset,
    evaluated: Evaluated,
    checkpoints: Checkpoints,
    *,
    on_query: Callable[[Any], None],
) -> Waiting[FlowOutcome]:
    """Write all that is new. What the query or a batch function raises goes through as it was raised."""
    flow, sink = evaluated.flow, dataset.sink
    assert sink is not None
    raised: list[BaseException] = []
    with settings(spark, flow.spark_conf):
        writer = _writer(evaluated.query, dataset, flow, checkpoints.current(dataset.key, flow.name))
        query = _start(writer, sink, raised)
        on_query(query)
        yield from waited(query, raised)
    batches = query.recentProgress
    rows = [batch.sink.numOutputRows for batch in batches]
    outcome = FlowOutcome(flow.name, sum(rows) if all(count >= 0 for count in rows) else None)
    outcome.progress = [batch.json for batch in batches]
    return outcome


def _writer(df: DataFrame, dataset: Dataset, flow: Flow, checkpoint: Path) -> Any:
    return (
        df.writeStream.queryName(f"{dataset.name}/{flow.name}")
        .option("checkpointLocation", str(checkpoint))
        .outputMode(flow.mode)
        .trigger(availableNow=True)
    )


def _start(writer: Any, sink: Sink, raised: list[BaseException]) -> Any:
    if sink.handler is not None:
        return writer.foreachBatch(noting(sink.handler, raised)).start()
    table = _option(sink, "tableName") if sink.format == "delta" else None
    others = {key: value for key, value in sink.options.items() if key.lower() != "tablename" or not table}
    writer = writer.format(sink.format).options(**others)
    return writer.toTable(table) if table else writer.start()


def _option(sink: Sink, name: str) -> str | None:
    return next((value for key, value in sink.options.items() if key.lower() == name.lower()), None)
