"""What the declarations of one dataset must be like (spec §7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.errors import PipelineError
from lakeward.pipelines.cdc import refused
from lakeward.pipelines.elements import Dataset, Flow
from lakeward.pipelines.evaluate import Evaluated, missing_table
from lakeward.pipelines.graph import Graph
from lakeward.pipelines.model import Kind
from lakeward.pipelines.names import did_you_mean, parts
from lakeward.pipelines.tables import StoredTable
from lakeward.seeds import ways
from lakeward.sql import PIPELINE as OWNER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["OWNER", "before_evaluation", "in_folder", "kind_of", "stored", "unknown_table", "whole_alone"]


def before_evaluation(dataset: Dataset) -> list[PipelineError]:
    """Mistakes that show without calling any function."""
    if not dataset.flows:
        what = "sink" if dataset.sink else "streaming table"
        return [
            PipelineError(
                "PIPELINE_DATASET_WITHOUT_FLOW",
                f"{dataset.place}: nothing writes to the {what} `{dataset.name}`.",
                next_step=f'Add a flow: @dp.append_flow(target="{dataset.name}").',
            )
        ]
    changes = [flow for flow in dataset.flows if flow.change is not None]
    others = [flow for flow in dataset.flows if flow.change is None]
    if changes and others:
        return [
            PipelineError(
                "AUTO_CDC_AND_APPEND_FLOWS_ON_ONE_TARGET",
                f"{others[0].place}: `{others[0].name}` appends to `{dataset.name}`, to which "
                f"`{changes[0].name}` at {changes[0].place} applies changes.",
                next_step="Give one of them a table of its own (spec §3.4).",
            )
        ]
    snapshots = [flow for flow in changes if flow.snapshots is not None]
    if snapshots and (len(changes) > 1 or dataset.rules):
        return [_snapshots_alone(dataset, snapshots[0], changes)]
    kinds = {flow.change.scd_type for flow in changes if flow.change}
    if len(kinds) > 1 or (changes and dataset.declared != "streaming_table"):
        return [
            PipelineError(
                "INVALID_AUTO_CDC_TARGET",
                f"{changes[-1].place}: `{dataset.name}` cannot take the changes of `{changes[-1].name}`: "
                + ("its flows differ in SCD type." if len(kinds) > 1 else "it has a query of its own."),
                next_step=f'Declare a target for it: dp.create_streaming_table("{dataset.name}").',
            )
        ]
    updates = [flow for flow in dataset.flows if flow.mode == "update"]
    if updates and dataset.sink is None:
        return [
            PipelineError(
                "INVALID_UPDATE_FLOW_TARGET",
                f"{updates[0].place}: the update flow `{updates[0].name}` writes to `{dataset.name}`, "
                "which is no sink.",
                next_step="Tables are appended to: use append_flow, or declare a sink with create_sink.",
            )
        ]
    if dataset.declared in ("materialized_view", "view") and len(dataset.flows) > 1:
        names = ", ".join(f"`{flow.name}` at {flow.place}" for flow in dataset.flows)
        what = "materialized view" if dataset.declared == "materialized_view" else "view"
        return [
            PipelineError(
                "MATERIALIZED_VIEW_WITH_MULTIPLE_QUERIES",
                f"{dataset.place}: the {what} `{dataset.name}` has more than one query: {names}.",
                next_step="Flows append to streaming tables; unite the queries in one function.",
            )
        ]
    return []


def _snapshots_alone(dataset: Dataset, flow: Flow, changes: list[Flow]) -> PipelineError:
    if dataset.rules:
        return refused(
            "ACFS_WITH_EXPECTATION_DISABLED",
            flow.name,
            f"at {flow.place} applies snapshots to `{dataset.name}`, which has expectations.",
            "Put the expectations on a dataset that reads this one.",
        )
    other = next(each for each in changes if each is not flow)
    return refused(
        "MULTIPLE_QUERIES_FOR_TABLE",
        flow.name,
        f"at {flow.place} applies snapshots to `{dataset.name}`, and so `{other.name}` at {other.place} "
        "cannot write to it.",
        "Give one of them a table of its own.",
    )


def kind_of(dataset: Dataset, evaluated: list[Evaluated], errors: list[PipelineError]) -> Kind:
    """What the dataset is, by what its functions returned; queries of the wrong kind go to `errors`."""
    if dataset.declared == "view":
        return "view"
    if dataset.sink is not None:
        batches = [each for each in evaluated if not each.query.isStreaming]
        errors += [_wrong_kind("BATCH_RELATION_FOR_SINK", dataset, each) for each in batches]
        return "sink"
    streams = [each for each in evaluated if each.query.isStreaming]
    if dataset.declared == "materialized_view":
        if streams:
            errors.append(_wrong_kind("STREAMING_RELATION_FOR_MATERIALIZED_VIEW", dataset, streams[0]))
        return "materialized_view"
    default = next((each for each in evaluated if each.flow.place == dataset.place), None) or evaluated[0]
    if dataset.declared == "table" and not default.query.isStreaming and not default.flow.is_batch:
        if len(evaluated) > 1:
            errors.append(_wrong_kind("BATCH_RELATION_FOR_STREAMING_TABLE", dataset, default))
        return "materialized_view"
    for each in evaluated:
        if each.flow.is_batch and each.query.isStreaming:
            errors.append(_wrong_kind("STREAMING_RELATION_FOR_ONCE_FLOW", dataset, each))
        elif not each.flow.is_batch and not each.query.isStreaming:
            errors.append(_wrong_kind("BATCH_RELATION_FOR_STREAMING_TABLE", dataset, each))
    return "streaming_table"


def _wrong_kind(condition: str, dataset: Dataset, each: Evaluated) -> PipelineError:
    is_stream = each.query.isStreaming
    given, wanted = ("a stream", "a batch") if is_stream else ("a batch", "a stream")
    cure = "spark.read.table" if is_stream else "spark.readStream.table"
    return PipelineError(
        f"INVALID_FLOW_QUERY_TYPE.{condition}",
        f"{each.flow.place}: the query of `{each.flow.name}` is {given}; `{dataset.name}` needs {wanted}.",
        next_step=f"Read its source with {cure}.",
    )


def whole_alone(dataset: Dataset, whole: set[str]) -> list[PipelineError]:
    """A flow that rewrites the table at every batch cannot share it."""
    if not whole or len(dataset.flows) == 1:
        return []
    return [
        PipelineError(
            "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
            f"{dataset.place}: `{dataset.name}` has several flows, and `{sorted(whole)[0]}` aggregates "
            "without a watermark, so that it would replace what the others wrote.",
            next_step="Add withWatermark to the aggregation, or give it a table of its own.",
        )
    ]


def stored(dataset: Dataset, table: StoredTable | None, owner: str) -> list[PipelineError]:
    """A table that somebody else made is never replaced."""
    if table is None:
        return []
    made_by = table.properties.get(OWNER)
    if made_by == owner:
        return []
    whose = f"by the pipeline `{made_by}`" if made_by else "outside of pipelines"
    return [
        PipelineError(
            "TABLE_ALREADY_MANAGED",
            f"{dataset.place}: the table {'.'.join(dataset.key)} exists already and was made {whose}.",
            next_step="Give the dataset another name, or drop that table.",
        )
    ]


def in_folder(dataset: Dataset, table: StoredTable | None, owner: str) -> list[PipelineError]:
    """A table in the folder that the dataset names is never replaced unless this pipeline made it."""
    if table is None or table.properties.get(OWNER) == owner:
        return []
    return [
        PipelineError(
            "TABLE_ALREADY_MANAGED",
            f"{dataset.place}: the folder {dataset.options.path} of `{dataset.name}` holds a table already, "
            "which this pipeline has not made.",
            next_step="Give the dataset another path.",
        )
    ]


def unknown_table(
    spark: SparkSession, graph: Graph, error: Exception, explained: PipelineError
) -> PipelineError:
    """Add near misses and the way to seed a table to an error about an unknown name."""
    name = missing_table(error) if hasattr(error, "getCondition") else None
    if name is None:
        return explained
    asked = parts(name)
    plain = ".".join(asked)
    known = {dataset.name: None for dataset in graph} | dict.fromkeys(_tables_beside(spark, graph, asked))
    near = did_you_mean(plain, known) or did_you_mean(asked[-1], known)
    hint = f"{near} " if near else ""
    seed = ".".join(graph.home.full(asked))
    where = explained.message.split(": ", 1)[0]
    line = explained.message.rpartition("\n    ")
    shown = f"\n    {line[2]}" if line[0] else ""
    return PipelineError(
        "TABLE_OR_VIEW_NOT_FOUND",
        f"{where}: `{plain}` is neither a dataset of this pipeline nor a table.{shown}\n",
        next_step=f"{hint}{ways(seed)}",
    )


def _tables_beside(spark: SparkSession, graph: Graph, asked: tuple[str, ...]) -> list[str]:
    from pyspark.errors import PySparkException

    catalog, schema, _ = graph.home.full(asked)
    try:
        rows = spark.sql(f"SHOW TABLES IN `{catalog}`.`{schema}`").collect()
    except PySparkException:
        return []
    return [".".join((*asked[:-1], row["tableName"])) for row in rows]
