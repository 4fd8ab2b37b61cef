"""Phase 1: evaluates every flow against empty resolved tables, and reports all errors together.

Nothing is written. The order follows from reads: a function that reads a dataset without a plan causes that
dataset to be resolved first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader import merge_new_fields
from lakeward.errors import PipelineError
from lakeward.pipelines.analysis.dataset_selection import validate_resettable_inputs
from lakeward.pipelines.analysis.flow_evaluation import (
    EvaluatedFlow,
    FlowEvaluator,
    GraphCycle,
    InputNotReady,
)
from lakeward.pipelines.analysis.read_interception import intercept_reads
from lakeward.pipelines.analysis.schema_enforcement import (
    align_to_schema,
    declared_schema,
    nullable_schema,
    require_common_shapes,
)
from lakeward.pipelines.analysis.validation import (
    dataset_kind,
    explain_unknown_table,
    require_replace_columns,
    require_sink_format,
    validate_complete_mode,
    validate_declaration,
    validate_location,
    validate_stored_table,
    with_target_columns,
)
from lakeward.pipelines.autocdc.snapshots import with_declared_versions
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph, ResolvedDataset, ResolvedGraph
from lakeward.pipelines.graph.elements import Dataset, DatasetKind, Flow, Key
from lakeward.pipelines.graph.error_location import place_of, with_source_location
from lakeward.pipelines.graph.expectations import invalid_expectations
from lakeward.pipelines.graph.query_plans import (
    aggregates_without_watermark,
    column_lineage,
    plan_text,
    require_output_mode,
)
from lakeward.pipelines.storage.delta_tables import load_table, load_table_at
from lakeward.session import condition_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lakeward.session import SchemaOnlyTables


_UNKNOWN_FIELD = ("FIELD_NOT_FOUND", "UNRESOLVED_COLUMN", "UNRESOLVED_FIELD")


@dataclass(kw_only=True)
class GraphResolver:
    """Resolves the datasets of a graph: calls their functions with tables that have a schema and no rows.

    Attributes:
        spark: The session.
        graph: The collected graph.
        planning: Receives the schemas of resolved tables.
        owner: Name of the pipeline.
        schema_location: Schema location of a reader of a flow (`SchemaLocations`).
        bind: Returns the flow to evaluate in place of a declared one.
        resets: Tables that will be truncated: their stored columns are ignored.
        folders: Folders of the user's files, for error locations.
        resolved_graph: The resolved datasets and the errors of all others.
    """

    spark: SparkSession
    graph: DataflowGraph
    planning: SchemaOnlyTables
    owner: str
    schema_location: Callable[[Flow, int | str], str]
    bind: Callable[[Flow], Flow]
    resets: frozenset[Key]
    folders: tuple[Path, ...]
    resolved_graph: ResolvedGraph = field(init=False, default_factory=ResolvedGraph)
    evaluator: FlowEvaluator = field(init=False)
    _open: list[Dataset] = field(init=False, default_factory=list)
    # Datasets whose fields of JSON texts are not known yet, and their readers.
    _unknown_json: set[Key] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.evaluator = FlowEvaluator(self.spark, self.graph, self.plan, self.schema_location)

    def resolve(self) -> ResolvedGraph:
        """Resolve all datasets."""
        for catalog, schema in {dataset.key[:2] for dataset in self.graph if dataset.is_table}:
            self.planning.add_schema(f"{catalog}.{schema}")
        with intercept_reads(self.evaluator):
            try:
                for dataset in self.graph:
                    try:
                        self.plan(dataset)
                    except (InputNotReady, GraphCycle):
                        continue
            finally:
                self.evaluator.drop_views()
        return self.resolved_graph

    def plan(self, dataset: Dataset) -> None:
        """Resolve one dataset, once. Raises InputNotReady if it cannot be, GraphCycle in a cycle."""
        done = self.resolved_graph
        if dataset.key in done.datasets:
            return
        if dataset.key in done.errors or dataset.key in done.blocked:
            raise InputNotReady(dataset)
        if dataset in self._open:
            raise GraphCycle([*self._open[self._open.index(dataset) :], dataset])
        self._open.append(dataset)
        try:
            resolved, errors = self._resolve_dataset(dataset)
        except InputNotReady as upstream:
            done.blocked[dataset.key] = upstream.dataset
            raise InputNotReady(dataset) from None
        except GraphCycle as cycle:
            done.blocked[dataset.key] = cycle.path[0]
            if dataset is not cycle.path[0]:
                raise
            del done.blocked[dataset.key]
            done.errors[dataset.key] = [_cycle_error(cycle)]
            raise InputNotReady(dataset) from None
        finally:
            self._open.pop()
        if errors or resolved is None:
            done.errors[dataset.key] = errors
            raise InputNotReady(dataset)
        done.datasets[dataset.key] = resolved
        if dataset.is_table:
            self.planning.add(".".join(dataset.key), nullable_schema(resolved.schema))

    def _resolve_dataset(self, dataset: Dataset) -> tuple[ResolvedDataset | None, list[PipelineError]]:
        errors = validate_declaration(dataset)
        if errors:
            return None, errors
        evaluated: list[EvaluatedFlow] = []
        for flow in dataset.flows:
            try:
                evaluated.append(with_target_columns(self.evaluator.evaluate(self.bind(flow))))
            except Exception as error:  # noqa: BLE001  # a user's function may raise anything
                self._require_known_json(error)
                errors.append(self._explain_error(error, dataset))
        if errors:
            return None, errors
        kind = dataset_kind(dataset, evaluated, errors)
        if errors:
            return None, errors
        try:
            return self._fit_schema(dataset, kind, evaluated, errors), errors
        except Exception as error:  # noqa: BLE001  # a user's function may raise anything
            return None, [*errors, self._explain_error(error, dataset)]

    def _require_known_json(self, error: Exception) -> None:
        """Raise InputNotReady for a field of JSON texts that `from_json` infers when it runs first.

        The analysis of such queries is skipped until then.
        Source: https://docs.databricks.com/aws/en/ldp/from-json-schema-evolution
        """
        inputs = self._unknown_json.intersection(self.evaluator.failed_inputs)
        if inputs and (condition_of(error) or "").startswith(_UNKNOWN_FIELD):
            dataset = self.graph.find(min(inputs))
            assert dataset is not None
            raise InputNotReady(dataset)

    def _fit_schema(
        self, dataset: Dataset, kind: DatasetKind, evaluated: list[EvaluatedFlow], errors: list[PipelineError]
    ) -> ResolvedDataset:
        schema: Any = declared_schema(dataset)
        if dataset.sink is not None:
            require_sink_format(self.spark, dataset)
        for each in evaluated:
            self._fit_query(dataset, kind, each, errors)
            found = nullable_schema(each.query.schema)
            if schema is not None and dataset.is_table:
                require_common_shapes(schema, found, dataset, each.flow)
            schema = found if schema is None else merge_new_fields(schema, found)
        whole = {
            each.flow.name
            for each in evaluated
            if kind == "streaming_table"
            and each.query.isStreaming
            and aggregates_without_watermark(each.query)
        }
        errors += validate_complete_mode(dataset, whole)
        if dataset.is_table:
            schema = self._fit_stored_table(dataset, kind, schema, errors)
        needs = {key for each in evaluated for key in each.inputs}
        if kind == "streaming_table":
            upstream = [done for key, done in self.resolved_graph.datasets.items() if key in needs]
            streams = [done.dataset for done in upstream if done.kind == "streaming_table"]
            errors += validate_resettable_inputs(dataset, streams)
        direct = {
            each.flow.name: tuple(found.name for found in each.direct_inputs.values()) for each in evaluated
        }
        explained = {each.flow.name: plan_text(each.query) for each in evaluated}
        lineage = {each.flow.name: column_lineage(each.query) for each in evaluated}
        unknown = any(each.unknown_json for each in evaluated)
        if unknown or not self._unknown_json.isdisjoint(needs):
            self._unknown_json.add(dataset.key)
        return ResolvedDataset(
            dataset, kind, schema, frozenset(needs), direct, frozenset(whole), explained, lineage, unknown
        )

    def _fit_query(
        self, dataset: Dataset, kind: DatasetKind, evaluated: EvaluatedFlow, errors: list[PipelineError]
    ) -> None:
        """Align a query with the declared columns, and check what depends on its own."""
        flow, declared = evaluated.flow, declared_schema(dataset)
        query = evaluated.query
        if flow.snapshot_source is not None:
            query = with_declared_versions(query, declared)
        query = align_to_schema(query, declared, dataset, complete=kind == "materialized_view")
        errors += [
            error for error in invalid_expectations(query, dataset) if str(error) not in map(str, errors)
        ]
        if flow.replaces is not None:
            require_replace_columns(query, flow.replaces)
        if kind == "sink":
            require_output_mode(query, flow.mode)
        evaluated.query = query

    def _fit_stored_table(
        self, dataset: Dataset, kind: DatasetKind, schema: Any, errors: list[PipelineError]
    ) -> Any:
        """Return the schema of the table after the update, and check the table that is there."""
        stored, path = load_table(self.spark, dataset.key), dataset.options.path
        if stored is None and path is not None:
            errors += validate_location(dataset, load_table_at(self.spark, path), self.owner)
        errors += validate_stored_table(dataset, stored, self.owner)
        if stored is None or kind != "streaming_table" or dataset.key in self.resets:
            return schema
        return merge_new_fields(stored.schema, schema)

    def _explain_error(self, error: Exception, dataset: Dataset) -> PipelineError:
        where = with_source_location(
            error, what=f"dataset `{dataset.name}`", folders=self.folders, declared=place_of(dataset)
        )
        return explain_unknown_table(self.spark, self.graph, error, where)


def _cycle_error(cycle: GraphCycle) -> PipelineError:
    places = "; ".join(f"`{dataset.name}` at {dataset.location}" for dataset in cycle.path[:-1])
    return PipelineError(
        "PIPELINE_GRAPH_CYCLE",
        f"Datasets read each other in a cycle: {cycle} ({places}).",
        next_step="Remove one of these reads.",
    )
