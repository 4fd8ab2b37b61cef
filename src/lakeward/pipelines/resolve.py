"""Phase 1: evaluates every dataset function against empty planned tables and reports all mistakes at once.

Nothing is written. Order is found by need: a function that reads a dataset which has no plan yet makes that
one be planned first (spec §7.4, invariant 10).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines import checks, reads
from lakeward.pipelines.blame import blame
from lakeward.pipelines.changes import applied
from lakeward.pipelines.declared import declared_schema, fit, merged, nullable
from lakeward.pipelines.elements import Dataset, Flow
from lakeward.pipelines.evaluate import Cycle, Evaluated, Evaluator, NotReady
from lakeward.pipelines.expectations import invalid
from lakeward.pipelines.graph import Graph
from lakeward.pipelines.model import Kind
from lakeward.pipelines.plans import aggregates_without_watermark, require_mode, text_of
from lakeward.pipelines.refresh import not_resettable
from lakeward.pipelines.replacing import require_columns
from lakeward.pipelines.sinks import require_format
from lakeward.pipelines.tables import look_at, look_up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from lakeward.session import Planning

__all__ = ["Planned", "Resolution", "resolve"]

Key = tuple[str, ...]


@dataclass(frozen=True)
class Planned:
    """What phase 1 found out about one dataset. `whole` names flows that are written as a whole."""

    dataset: Dataset
    kind: Kind
    schema: StructType
    needs: frozenset[Key]
    direct: dict[str, tuple[str, ...]]
    whole: frozenset[str]
    explained: dict[str, str] = field(default_factory=dict)


@dataclass
class Resolution:
    """The plans, upstream first, and the mistakes by dataset."""

    plans: dict[Key, Planned] = field(default_factory=dict)
    errors: dict[Key, list[PipelineError]] = field(default_factory=dict)
    blocked: dict[Key, Dataset] = field(default_factory=dict)


def resolve(
    spark: SparkSession,
    graph: Graph,
    planning: Planning,
    *,
    owner: str,
    schema_place: Callable[[Flow, int], str],
    bind: Callable[[Flow], Flow] = lambda flow: flow,
    resets: frozenset[Key] = frozenset(),
    folders: tuple[Path, ...] = (),
) -> Resolution:
    """Plan all of `graph`. `resets` are tables that will be emptied: their stored columns do not count.

    `bind` gives a flow the function that phase 1 evaluates.
    """
    planner = _Planner(spark, graph, planning, owner, resets, folders, schema_place, bind)
    for catalog, schema in {dataset.key[:2] for dataset in graph if dataset.is_table}:
        planning.add_schema(f"{catalog}.{schema}")
    with reads.intercepting(planner.evaluator):
        try:
            for dataset in graph:
                try:
                    planner.plan(dataset)
                except (NotReady, Cycle):
                    continue
        finally:
            planner.evaluator.drop_views()
    return planner.resolution


class _Planner:
    def __init__(
        self,
        spark: SparkSession,
        graph: Graph,
        planning: Planning,
        owner: str,
        resets: frozenset[Key],
        folders: tuple[Path, ...],
        schema_place: Callable[[Flow, int], str],
        bind: Callable[[Flow], Flow],
    ) -> None:
        self.spark, self.graph, self.planning, self._bind = spark, graph, planning, bind
        self.owner, self.resets, self.folders = owner, resets, folders
        self.evaluator = Evaluator(spark, graph, self.plan, schema_place)
        self.resolution = Resolution()
        self._open: list[Dataset] = []

    def plan(self, dataset: Dataset) -> None:
        """Plan one dataset unless that is done. Raises NotReady when it cannot be, Cycle in a circle."""
        done = self.resolution
        if dataset.key in done.plans:
            return
        if dataset.key in done.errors or dataset.key in done.blocked:
            raise NotReady(dataset)
        if dataset in self._open:
            raise Cycle([*self._open[self._open.index(dataset) :], dataset])
        self._open.append(dataset)
        try:
            planned, errors = self._planned(dataset)
        except NotReady as upstream:
            done.blocked[dataset.key] = upstream.dataset
            raise NotReady(dataset) from None
        except Cycle as cycle:
            done.blocked[dataset.key] = cycle.path[0]
            if dataset is not cycle.path[0]:
                raise
            del done.blocked[dataset.key]
            done.errors[dataset.key] = [_cycle(cycle)]
            raise NotReady(dataset) from None
        finally:
            self._open.pop()
        if errors or planned is None:
            done.errors[dataset.key] = errors
            raise NotReady(dataset)
        done.plans[dataset.key] = planned
        if dataset.is_table:
            self.planning.add(".".join(dataset.key), nullable(planned.schema))

    def _planned(self, dataset: Dataset) -> tuple[Planned | None, list[PipelineError]]:
        errors = checks.before_evaluation(dataset)
        if errors:
            return None, errors
        evaluated: list[Evaluated] = []
        for flow in dataset.flows:
            try:
                evaluated.append(applied(self.evaluator.evaluate(self._bind(flow))))
            except Exception as error:  # noqa: BLE001  # a user's function may raise anything
                errors.append(self._explained(error, dataset))
        if errors:
            return None, errors
        kind = checks.kind_of(dataset, evaluated, errors)
        if errors:
            return None, errors
        try:
            return self._fitted(dataset, kind, evaluated, errors), errors
        except Exception as error:  # noqa: BLE001  # a user's function may raise anything
            return None, [*errors, self._explained(error, dataset)]

    def _fitted(
        self, dataset: Dataset, kind: Kind, evaluated: list[Evaluated], errors: list[PipelineError]
    ) -> Planned:
        declared = declared_schema(dataset)
        schema: Any = declared
        whole = set()
        if dataset.sink is not None:
            require_format(self.spark, dataset)
        for each in evaluated:
            each.query = fit(each.query, declared, dataset, complete=kind == "materialized_view")
            errors += [
                error
                for error in invalid(each.query, dataset.rules, dataset.name)
                if str(error) not in map(str, errors)
            ]
            if each.flow.replaces is not None:
                require_columns(each.query, each.flow.replaces)
            if (
                kind == "streaming_table"
                and each.query.isStreaming
                and aggregates_without_watermark(each.query)
            ):
                whole.add(each.flow.name)
            if kind == "sink":
                require_mode(each.query, each.flow.mode)
            found = nullable(each.query.schema)
            schema = found if schema is None else merged(schema, found)
        errors += checks.whole_alone(dataset, whole)
        if dataset.is_table:
            stored, path = look_up(self.spark, dataset.key), dataset.options.path
            if stored is None and path is not None:
                errors += checks.in_folder(dataset, look_at(self.spark, path), self.owner)
            errors += checks.stored(dataset, stored, self.owner)
            if stored is not None and kind == "streaming_table" and dataset.key not in self.resets:
                schema = merged(stored.schema, schema)
        needs = {key for each in evaluated for key in each.inputs}
        if kind == "streaming_table":
            upstream = [done for key, done in self.resolution.plans.items() if key in needs]
            streams = [done.dataset for done in upstream if done.kind == "streaming_table"]
            errors += not_resettable(dataset, streams)
        direct = {each.flow.name: tuple(found.name for found in each.direct.values()) for each in evaluated}
        explained = {each.flow.name: text_of(each.query) for each in evaluated}
        return Planned(dataset, kind, schema, frozenset(needs), direct, frozenset(whole), explained)

    def _explained(self, error: Exception, dataset: Dataset) -> PipelineError:
        where = blame(error, what=f"dataset `{dataset.name}`", folders=self.folders)
        return checks.unknown_table(self.spark, self.graph, error, where)


def _cycle(cycle: Cycle) -> PipelineError:
    places = "; ".join(f"`{dataset.name}` at {dataset.place}" for dataset in cycle.path[:-1])
    return PipelineError(
        "PIPELINE_GRAPH_CYCLE",
        f"Datasets read each other in a circle: {cycle} ({places}).",
        next_step="Let one of them read something else.",
    )
