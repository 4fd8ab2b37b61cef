"""Validation of datasets: declarations, query types, stored tables, sinks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.analysis.flow_evaluation import EvaluatedFlow, missing_table
from lakeward.pipelines.autocdc.cdc_schema import CdcSchema
from lakeward.pipelines.autocdc.snapshots import snapshot_error
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph
from lakeward.pipelines.graph.elements import Dataset, DatasetKind, Flow, ReplaceSpec, split_name
from lakeward.pipelines.storage.delta_tables import StoredTable
from lakeward.quoting import quote_name
from lakeward.seeds import seed_hint
from lakeward.session import CONNECTORS
from lakeward.spark_internals import jvm_view, session_state
from lakeward.sql import PIPELINE as OWNER_PROPERTY
from lakeward.suggestions import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession


def validate_declaration(dataset: Dataset) -> list[PipelineError]:
    """Return the first error that is found without calling a function; a list without any."""
    found = (check(dataset) for check in (_check_flows, _check_changes, _check_updates, _check_queries))
    return [error for error in found if error is not None][:1]


def _check_flows(dataset: Dataset) -> PipelineError | None:
    if dataset.flows:
        return None
    what = "sink" if dataset.sink else "streaming table"
    return PipelineError(
        "PIPELINE_DATASET_WITHOUT_FLOW",
        f"{dataset.location}: nothing writes to the {what} `{dataset.name}`.",
        next_step=f'Add a flow: @dp.append_flow(target="{dataset.name}").',
    )


def _check_changes(dataset: Dataset) -> PipelineError | None:
    """Check the flows of AUTO CDC: they have the target to themselves, and one type."""
    changes = [flow for flow in dataset.flows if flow.change_args is not None]
    others = [flow for flow in dataset.flows if flow.change_args is None]
    if changes and others:
        return PipelineError(
            "AUTO_CDC_AND_APPEND_FLOWS_ON_ONE_TARGET",
            f"{others[0].location}: `{others[0].name}` appends to `{dataset.name}`, to which "
            f"`{changes[0].name}` at {changes[0].location} applies changes.",
            next_step="Give one of them a table of its own.",
        )
    snapshots = [flow for flow in changes if flow.snapshot_source is not None]
    if snapshots and (len(changes) > 1 or dataset.expectations):
        return _snapshot_flow_error(dataset, snapshots[0], changes)
    key_lists = {_key_names(flow.change_args.keys): flow for flow in changes if flow.change_args}
    if len(key_lists) > 1:
        # Source: https://docs.databricks.com/gcp/en/error-messages/autocdc-invalid-state-error-class
        shown = [f"`{flow.name}` ({', '.join(keys)})" for keys, flow in key_lists.items()]
        return PipelineError(
            "AUTOCDC_INVALID_STATE.KEY_SCHEMA_DRIFT",
            f"{changes[-1].location}: flows into `{dataset.name}` differ in keys: {', '.join(shown)}.",
            next_step="Give all flows of the target the same keys.",
        )
    kinds = {(flow.change_args.scd_type, flow.change_args.bitemporal) for flow in changes if flow.change_args}
    if len(kinds) > 1 or (changes and dataset.dataset_type != "streaming_table"):
        return PipelineError(
            "INVALID_AUTO_CDC_TARGET",
            f"{changes[-1].location}: `{dataset.name}` is not a valid target for the changes of "
            f"`{changes[-1].name}`: "
            + ("its flows differ in SCD type." if len(kinds) > 1 else "it has a query of its own."),
            next_step=f'Declare a target for it: dp.create_streaming_table("{dataset.name}").',
        )
    return None


def _key_names(keys: tuple[Any, ...]) -> tuple[str, ...]:
    texts = (str(key).removeprefix("Column<'").removesuffix("'>") for key in keys)
    return tuple(sorted(text.replace("`", "").lower() for text in texts))


def _check_updates(dataset: Dataset) -> PipelineError | None:
    updates = [flow for flow in dataset.flows if flow.mode == "update"]
    if not updates or dataset.sink is not None:
        return None
    return PipelineError(
        "INVALID_UPDATE_FLOW_TARGET",
        f"{updates[0].location}: the update flow `{updates[0].name}` writes to `{dataset.name}`, "
        "which is not a sink.",
        next_step="Use append_flow for tables, or declare a sink with create_sink.",
    )


def _check_queries(dataset: Dataset) -> PipelineError | None:
    if dataset.dataset_type not in ("materialized_view", "view") or len(dataset.flows) < 2:
        return None
    names = ", ".join(f"`{flow.name}` at {flow.location}" for flow in dataset.flows)
    what = "materialized view" if dataset.dataset_type == "materialized_view" else "view"
    return PipelineError(
        "MATERIALIZED_VIEW_WITH_MULTIPLE_QUERIES",
        f"{dataset.location}: the {what} `{dataset.name}` has more than one query: {names}.",
        next_step="Combine the queries in one function, or append to a streaming table with flows.",
    )


def _snapshot_flow_error(dataset: Dataset, flow: Flow, changes: list[Flow]) -> PipelineError:
    if dataset.expectations:
        return snapshot_error(
            "ACFS_WITH_EXPECTATION_DISABLED",
            flow.name,
            f"at {flow.location} applies snapshots to `{dataset.name}`, which has expectations.",
            "Put the expectations on a dataset that reads this one.",
        )
    other = next(each for each in changes if each is not flow)
    return snapshot_error(
        "MULTIPLE_QUERIES_FOR_TABLE",
        flow.name,
        f"at {flow.location} applies snapshots to `{dataset.name}`, and so "
        f"`{other.name}` at {other.location} cannot write to it.",
        "Give one of them a table of its own.",
    )


def dataset_kind(
    dataset: Dataset, evaluated: list[EvaluatedFlow], errors: list[PipelineError]
) -> DatasetKind:
    """Return the kind of a dataset from its queries; add an error for each query of the wrong type."""
    if dataset.dataset_type == "view":
        return "view"
    if dataset.sink is not None:
        batches = [each for each in evaluated if not each.query.isStreaming]
        errors += [_wrong_query_type("BATCH_RELATION_FOR_SINK", dataset, each) for each in batches]
        return "sink"
    streams = [each for each in evaluated if each.query.isStreaming]
    if dataset.dataset_type == "materialized_view":
        if streams:
            errors.append(_wrong_query_type("STREAMING_RELATION_FOR_MATERIALIZED_VIEW", dataset, streams[0]))
        return "materialized_view"
    default = (
        next((each for each in evaluated if each.flow.location == dataset.location), None) or evaluated[0]
    )
    if dataset.dataset_type == "table" and not default.query.isStreaming and not default.flow.is_batch:
        if len(evaluated) > 1:
            errors.append(_wrong_query_type("BATCH_RELATION_FOR_STREAMING_TABLE", dataset, default))
        return "materialized_view"
    for each in evaluated:
        # AUTO CDC applies a stream once, too: all that it has when the flow runs.
        may_stream = each.flow.once and each.flow.change_args is not None
        if each.flow.is_batch and each.query.isStreaming and not may_stream:
            errors.append(_wrong_query_type("STREAMING_RELATION_FOR_ONCE_FLOW", dataset, each))
        elif not each.flow.is_batch and not each.query.isStreaming:
            errors.append(_wrong_query_type("BATCH_RELATION_FOR_STREAMING_TABLE", dataset, each))
    return "streaming_table"


def _wrong_query_type(condition: str, dataset: Dataset, each: EvaluatedFlow) -> PipelineError:
    is_stream = each.query.isStreaming
    given, wanted = ("a stream", "a batch") if is_stream else ("a batch", "a stream")
    cure = "spark.read.table" if is_stream else "spark.readStream.table"
    return PipelineError(
        f"INVALID_FLOW_QUERY_TYPE.{condition}",
        f"{each.flow.location}: the query of `{each.flow.name}` is {given}; `{dataset.name}` needs {wanted}.",
        next_step=f"Read its source with {cure}.",
    )


def validate_complete_mode(dataset: Dataset, whole: set[str]) -> list[PipelineError]:
    """Return an error if a flow that rewrites the table with every batch shares it."""
    if not whole or len(dataset.flows) == 1:
        return []
    return [
        PipelineError(
            "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
            f"{dataset.location}: `{dataset.name}` has several flows, and `{sorted(whole)[0]}` aggregates "
            "without a watermark and would replace the rows of the others.",
            next_step="Add withWatermark to the aggregation, or give it a table of its own.",
        )
    ]


def validate_stored_table(dataset: Dataset, table: StoredTable | None, owner: str) -> list[PipelineError]:
    """Return an error if the table was created by another owner."""
    if table is None:
        return []
    made_by = table.properties.get(OWNER_PROPERTY)
    if made_by == owner:
        return []
    whose = f"by the pipeline `{made_by}`" if made_by else "outside of pipelines"
    return [
        PipelineError(
            "TABLE_ALREADY_MANAGED",
            f"{dataset.location}: the table {'.'.join(dataset.key)} already exists and was created {whose}.",
            next_step="Give the dataset another name, or drop that table.",
        )
    ]


def validate_location(dataset: Dataset, table: StoredTable | None, owner: str) -> list[PipelineError]:
    """Return an error if the dataset's folder contains a table of another owner."""
    if table is None or table.properties.get(OWNER_PROPERTY) == owner:
        return []
    return [
        PipelineError(
            "TABLE_ALREADY_MANAGED",
            f"{dataset.location}: the folder {dataset.options.path} of `{dataset.name}` holds a table "
            "that this pipeline did not create.",
            next_step="Give the dataset another path.",
        )
    ]


def explain_unknown_table(
    spark: SparkSession, graph: DataflowGraph, error: Exception, explained: PipelineError
) -> PipelineError:
    """Add similar names and the way to seed a table to an error about an unknown name."""
    name = missing_table(error) if hasattr(error, "getCondition") else None
    if name is None:
        return explained
    parts = split_name(name)
    plain = ".".join(parts)
    known = {dataset.name: None for dataset in graph} | dict.fromkeys(_tables_in_schema(spark, graph, parts))
    near = did_you_mean(plain, known) or did_you_mean(parts[-1], known)
    hint = f"{near} " if near else ""
    seed = ".".join(graph.default_schema.qualify(parts))
    where = explained.message.split(": ", 1)[0]
    line = explained.message.rpartition("\n    ")
    shown = f"\n    {line[2]}" if line[0] else ""
    return PipelineError(
        "TABLE_OR_VIEW_NOT_FOUND",
        f"{where}: `{plain}` is neither a dataset of this pipeline nor a table.{shown}\n",
        next_step=f"{hint}{seed_hint(seed)}",
    )


def _tables_in_schema(spark: SparkSession, graph: DataflowGraph, parts: tuple[str, ...]) -> list[str]:
    from pyspark.errors import PySparkException

    catalog, schema, _ = graph.default_schema.qualify(parts)
    try:
        rows = spark.sql(f"SHOW TABLES IN `{catalog}`.`{schema}`").collect()
    except PySparkException:
        return []
    return [".".join((*parts[:-1], row["tableName"])) for row in rows if not row["isTemporary"]]


def require_replace_columns(df: DataFrame, replaces: ReplaceSpec) -> None:
    """Raise Spark's AnalysisException if `df` lacks columns of the keys, sequence or condition."""
    if replaces.where is not None:
        df.where(replaces.where)
    else:
        df.select(*map(named_column, replaces.using), replace_sequence(replaces))


def named_column(name: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(quote_name([name])).alias(name)


def replace_sequence(replaces: ReplaceSpec) -> Column:
    given = replaces.sequence_by
    return named_column(given) if isinstance(given, str) else given


def with_target_columns(evaluated: EvaluatedFlow) -> EvaluatedFlow:
    """Return a change feed with the columns of its target, other flows unchanged."""
    change = evaluated.flow.change_args
    if change is not None:
        evaluated.query = CdcSchema.of(evaluated.query, change).output(evaluated.query)
    return evaluated


def require_sink_format(spark: SparkSession, dataset: Dataset) -> None:
    """Raise PipelineError for a sink with a missing connector or invalid options."""
    sink, where = dataset.sink, f"{dataset.location}: the sink `{dataset.name}`"
    assert sink is not None
    if sink.handler is not None:
        return
    if sink.format == "delta":
        named = [name for name in ("path", "tableName") if sink.option(name) is not None]
        if len(named) != 1:
            given = " and ".join(named) or ", ".join(sink.options) or "no options"
            raise PipelineError(
                "INVALID_SINK_OPTIONS",
                f"{where} writes Delta and has {given}.",
                next_step='Give it either a path or a table: options={"tableName": "main.default.t"}.',
            )
        return
    sessions = session_state(spark)
    if sessions.dataSourceManager().dataSourceExists(sink.format):
        return
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    jvm: Any = jvm_view(spark)
    try:
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource(
            sink.format, sessions.conf()
        )
    except (Py4JJavaError, PySparkException):
        package = CONNECTORS.get(sink.format.lower())
        raise PipelineError(
            "DATA_SOURCE_NOT_FOUND",
            f"{where} has the format `{sink.format}`, whose connector is missing in this session.",
            next_step=f"Add its connector to the session: spark.jars.packages={package}."
            if package
            else "Register a Python data source of that name with spark.dataSource.register.",
        ) from None
