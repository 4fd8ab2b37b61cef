"""Evaluates dataset functions: the same way in both phases, which differ in what makes an input ready.

A function reads other datasets by name (`spark.table`, `dp.read`, SQL text …); each such read first calls
`ready`. Phase 1 plans the dataset there, phase 2 brings it up to date, so the order of the files plays no
part. Views are evaluated anew for every consumer, their expectations counted for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines import expectations
from lakeward.pipelines.elements import Dataset, Flow
from lakeward.pipelines.entering import current_home
from lakeward.pipelines.expectations import Observed
from lakeward.pipelines.graph import Graph
from lakeward.pipelines.names import Home, did_you_mean, parts, quoted, without_live
from lakeward.pipelines.plans import relations_in
from lakeward.pipelines.spark_settings import settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Cycle", "Evaluated", "Evaluator", "NotReady"]

_metrics = itertools.count(1)


class NotReady(BaseException):
    """An input cannot be had: it failed, or did not plan. User code that catches Exception lets it pass."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset.name)
        self.dataset = dataset


class Cycle(BaseException):
    """Datasets read each other in a circle; `path` starts and ends with the same one."""

    def __init__(self, path: list[Dataset]) -> None:
        super().__init__(" → ".join(dataset.name for dataset in path))
        self.path = path


@dataclass
class Evaluated:
    """A flow's query before its own expectations, what it read, the views' expectations counted in it.

    `inputs` are all datasets that it needs, `direct` those that its own text names (lineage).
    """

    flow: Flow
    query: Any = None
    inputs: dict[tuple[str, ...], Dataset] = field(default_factory=dict)
    direct: dict[tuple[str, ...], Dataset] = field(default_factory=dict)
    observed: list[Observed] = field(default_factory=list)
    readers: int = 0


class Evaluator:
    """Calls dataset functions with reads by name answered from the graph."""

    def __init__(
        self,
        spark: SparkSession,
        graph: Graph,
        ready: Callable[[Dataset], None],
        schema_place: Callable[[Flow, int], str],
    ) -> None:
        self.spark = spark
        self.graph = graph
        self.ready = ready
        self._schema_place = schema_place
        self._running: list[Evaluated] = []
        self._views: list[Dataset] = []
        self.temp_views: set[str] = set()

    def evaluate(self, flow: Flow) -> Evaluated:
        """Call a flow's function. What it raises goes through; PipelineError when it gives no DataFrame."""
        evaluated = Evaluated(flow)
        self._running.append(evaluated)
        views, self._views = self._views, []
        try:
            for name in flow.depends_on:
                self.read(name, stream=False, strict=True)
            evaluated.query = self._call(flow)
        finally:
            self._running.pop()
            self._views = views
        return evaluated

    def open(self, name: str, *, stream: bool) -> DataFrame:
        return self.spark.readStream.table(name) if stream else self.spark.read.table(name)

    def read(self, name: str, *, stream: bool, strict: bool = False) -> DataFrame | str:
        try:
            asked = without_live(parts(name))
        except ValueError:
            return name
        dataset = self._readable(asked)
        if dataset is None:
            if strict:
                raise self._unknown(name)
            return quoted(asked)
        self._note(dataset)
        if dataset.is_view:
            return self._view(dataset, stream=stream)
        self._make_ready(dataset)
        return quoted(dataset.key)

    def before_sql(self, text: str) -> None:
        if not self._running:
            return
        home = current_home(self.spark)
        used = [(self._readable(name, home), stream) for name, stream in relations_in(self.spark, text)]
        datasets = {dataset.key: (dataset, stream) for dataset, stream in used if dataset is not None}
        for dataset, _ in datasets.values():
            self._note(dataset)
            if not dataset.is_view:
                self._make_ready(dataset)
        # All views after all tables: a table's own evaluation registers views for itself.
        made = {
            dataset.name: self._view(dataset, stream=stream)
            for dataset, stream in datasets.values()
            if dataset.is_view
        }
        for name, df in made.items():
            df.createOrReplaceTempView(quoted([name]))
            self.temp_views.add(name)

    def schema_place(self) -> str | None:
        if not self._running:
            return None
        consumer = self._running[-1]
        consumer.readers += 1
        return self._schema_place(consumer.flow, consumer.readers - 1)

    def drop_views(self) -> None:
        """Forget the temporary views that SQL needed."""
        for name in self.temp_views:
            self.spark.catalog.dropTempView(name)
        self.temp_views.clear()

    def _readable(self, name: str | tuple[str, ...], home: Home | None = None) -> Dataset | None:
        dataset = self.graph.find(name, home)
        return None if dataset is None or dataset.declared == "sink" else dataset

    def _make_ready(self, dataset: Dataset) -> None:
        """What `ready` itself reads is no input of the function that is being evaluated."""
        running, self._running = self._running, []
        try:
            self.ready(dataset)
        finally:
            self._running = running

    def _note(self, dataset: Dataset) -> None:
        if self._running:
            self._running[-1].inputs.setdefault(dataset.key, dataset)
            if not self._views:
                self._running[-1].direct.setdefault(dataset.key, dataset)

    def _view(self, view: Dataset, *, stream: bool) -> DataFrame:
        if view in self._views:
            raise Cycle([*self._views[self._views.index(view) :], view])
        self._make_ready(view)
        self._views.append(view)
        try:
            df = self._call(view.flows[0])
        finally:
            self._views.pop()
        if df.isStreaming and not stream and self._checks_views():
            raise PipelineError(
                "INCOMPATIBLE_VIEW_CHECK",
                f"The view `{view.name}` is a stream and was read as a batch.",
                next_step=f'Read it with spark.readStream.table("{view.name}") or STREAM({view.name}).',
            )
        consumer = self._running[-1] if self._running else None
        if not view.rules or consumer is None:
            return df
        seen = Observed(f"lakeward_{next(_metrics)}", view.name, view.rules, df)
        consumer.observed.append(seen)
        return expectations.apply(df, view.rules, metric=seen.metric, flow=consumer.flow.name)

    def _checks_views(self) -> bool:
        return str(self.spark.conf.get("pipelines.incompatibleViewCheck.enabled", "true")).lower() != "false"

    def _call(self, flow: Flow) -> DataFrame:
        from pyspark.sql import DataFrame

        with settings(self.spark, flow.spark_conf):
            result = self._until_found(flow)
        if not isinstance(result, DataFrame):
            raise PipelineError(
                "INVALID_FLOW_QUERY",
                f"{flow.place}: `{flow.name}` returned {_described(result)}.",
                next_step="A dataset function returns a DataFrame.",
            )
        return result

    def _until_found(self, flow: Flow) -> Any:
        """Names that reach Spark unseen (in `F.expr`, say) come back as not found: make ready, try again."""
        from pyspark.errors import AnalysisException

        tried: set[tuple[str, ...]] = set()
        while True:
            try:
                return flow.function()
            except AnalysisException as error:
                name = missing_table(error)
                dataset = self._readable(name) if name else None
                if dataset is None or dataset.key in tried:
                    raise
                tried.add(dataset.key)
                self.before_sql(f"TABLE {name}")

    def _unknown(self, name: str) -> PipelineError:
        near = did_you_mean(name, self.graph.names())
        return PipelineError(
            "DATASET_NOT_FOUND",
            f"`{name}` is read as a dataset of this pipeline, which declares no such name.",
            next_step=near or "Read tables from outside of the pipeline with spark.read.table.",
        )


def missing_table(error: Any) -> str | None:
    """The name that Spark did not find, None for other errors."""
    if error.getCondition() not in ("TABLE_OR_VIEW_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND.WITHOUT_SUGGESTION"):
        return None
    return (error.getMessageParameters() or {}).get("relationName")


def _described(result: object) -> str:
    return "nothing" if result is None else f"a {type(result).__name__}"
