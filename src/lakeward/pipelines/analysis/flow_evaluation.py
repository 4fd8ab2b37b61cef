"""Evaluates flow functions; the two phases differ only in how an input becomes ready.

A function reads other datasets by name (`spark.table`, `dp.read`, SQL text …); each such read first calls
`ready`. Views are evaluated again for every consumer, and their expectations are counted for it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lakeward.autoloader import JsonColumn
from lakeward.errors import PipelineError
from lakeward.pipelines.analysis.dataset_names import with_temporary_names
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph
from lakeward.pipelines.graph.elements import Dataset, DefaultSchema, Flow, Key, split_name, without_live
from lakeward.pipelines.graph.expectations import ObservedExpectations, apply_expectations
from lakeward.pipelines.graph.query_plans import observed_names, referenced_tables
from lakeward.pipelines.graph.session_scope import current_default_schema
from lakeward.quoting import quote_name
from lakeward.session import temporary_conf
from lakeward.spark_internals import java_thread_id
from lakeward.suggestions import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
_metrics = itertools.count(1)


class InputNotReady(BaseException):
    """An input failed or could not be planned. User code that catches Exception lets it pass."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset.name)
        self.dataset = dataset


class GraphCycle(BaseException):
    """Datasets read each other in a cycle; `path` starts and ends with the same one."""

    def __init__(self, path: list[Dataset]) -> None:
        super().__init__(" → ".join(dataset.name for dataset in path))
        self.path = path


@dataclass
class EvaluatedFlow:
    """A flow's query before its own expectations, its inputs, and the observed expectations of views.

    `inputs` are all datasets that it needs, `direct_inputs` those that its own text names (lineage).
    `unknown_json` are its columns of `from_json` whose schema is not inferred yet; `infers_json` is True for
    a query that only infers it. `views` are the queries of the views that it reads.
    """

    flow: Flow
    query: Any = None
    inputs: dict[tuple[str, ...], Dataset] = field(default_factory=dict)
    direct_inputs: dict[tuple[str, ...], Dataset] = field(default_factory=dict)
    observed: list[ObservedExpectations] = field(default_factory=list)
    reader_count: int = 0
    infers_json: bool = False
    unknown_json: list[JsonColumn] = field(default_factory=list)
    views: dict[Key, Flow] = field(default_factory=dict)


def _reached(evaluated: EvaluatedFlow) -> list[ObservedExpectations]:
    """Return the expectations on rows of the query: a function may read a view for its columns alone."""
    if not evaluated.observed:
        return []
    names = observed_names(evaluated.query)
    return [each for each in evaluated.observed if each.metric in names]


def _require_one_value(evaluated: EvaluatedFlow, dataset: str) -> None:
    """Raise PipelineError if the flow and the views that it reads differ in a setting of `spark_conf`.

    Source: the condition of Spark's pipelines. There, flows have the settings of the views that they read.
    """
    given: dict[str, tuple[str, Flow]] = {}
    for flow in (*evaluated.views.values(), evaluated.flow):
        for key, value in flow.spark_conf.items():
            known, first = given.setdefault(key, (value, flow))
            if known != value:
                raise PipelineError(
                    "DUPLICATE_FLOW_SQL_CONF",
                    f"{flow.location}: Found duplicate sql conf for dataset '{dataset}': '{key}' is defined "
                    f"by both '{first.name}' ({known}) and '{flow.name}' ({value}).",
                    next_step="Give the setting one value in the flow and the views that it reads.",
                )


@dataclass
class _Evaluation:
    """The flows that a thread evaluates, and the views whose functions it calls, the innermost last."""

    flows: list[EvaluatedFlow] = field(default_factory=list)
    views: list[Dataset] = field(default_factory=list)


class _Threads(threading.local):
    """Background tasks and batch functions of streams read in other threads."""

    def __init__(self) -> None:
        self.evaluation = _Evaluation()


class FlowEvaluator:
    """Calls dataset functions and resolves their reads by name against the graph."""

    def __init__(
        self,
        spark: SparkSession,
        graph: DataflowGraph,
        ready: Callable[[Dataset], None],
        schema_location: Callable[[Flow, int | str], str],
    ) -> None:
        self.spark = spark
        self.graph = graph
        self.ready = ready
        self._schema_place = schema_location
        self._threads = _Threads()
        self._of_java_threads: dict[int, _Evaluation] = {}
        self.temp_views: set[str] = set()
        self.failed_inputs: Collection[Key] = ()

    @property
    def _state(self) -> _Evaluation:
        return self._threads.evaluation

    def evaluate(self, flow: Flow, *, infers_json: bool = False) -> EvaluatedFlow:
        """Call a flow's function. Its errors propagate; PipelineError if it returns no DataFrame.

        `failed_inputs` are the datasets that the last function has read which raised an error.
        """
        evaluated = EvaluatedFlow(flow, infers_json=infers_json)
        self._of_java_threads[java_thread_id(self.spark)] = self._state
        self._state.flows.append(evaluated)
        views, self._state.views = self._state.views, []
        try:
            for name in flow.depends_on:
                self.read(name, stream=False, strict=True)
            evaluated.query = self._call(flow)
            evaluated.observed = _reached(evaluated)
            _require_one_value(evaluated, ".".join(flow.target))
        except Exception:
            self.failed_inputs = evaluated.inputs.keys()
            raise
        finally:
            self._state.flows.pop()
            self._state.views = views
        return evaluated

    def open(self, name: str, *, stream: bool) -> DataFrame:
        return self.spark.readStream.table(name) if stream else self.spark.read.table(name)

    def read(self, name: str, *, stream: bool, strict: bool = False) -> DataFrame | str:
        try:
            parts = without_live(split_name(name))
        except ValueError:
            return name
        dataset = self._readable(parts)
        if dataset is None:
            if strict and not self.graph.is_reduced:
                raise self._unknown(name)
            return quote_name(parts)
        self._note(dataset)
        if dataset.is_view:
            return self._view(dataset, stream=stream)
        self._make_ready(dataset)
        return quote_name(dataset.key)

    def before_sql(self, text: str) -> str:
        if not self._state.flows:
            return text
        default_schema = current_default_schema(self.spark)
        named = referenced_tables(self.spark, text)
        used = [(self._readable(name, default_schema), stream) for name, stream in named]
        datasets = {dataset.key: (dataset, stream) for dataset, stream in used if dataset is not None}
        for dataset, _ in datasets.values():
            self._note(dataset)
            if not dataset.is_view:
                self._make_ready(dataset)
        # Views after tables: evaluating a table registers views of its own.
        made = {
            dataset.name: self._view(dataset, stream=stream)
            for dataset, stream in datasets.values()
            if dataset.is_view
        }
        for name, df in made.items():
            df.createOrReplaceTempView(quote_name([name]))
            self.temp_views.add(name)
        return with_temporary_names(
            text,
            {
                name: dataset.name
                for (name, _), (dataset, _) in zip(named, used, strict=True)
                if dataset is not None and dataset.is_view and (len(name) > 1 or "." in dataset.name)
            },
        )

    def schema_location(self) -> str | None:
        consumer = self._consumer()
        if consumer is None:
            return None
        consumer.reader_count += 1
        return self._schema_place(consumer.flow, consumer.reader_count - 1)

    def json_column(self, key: str, options: Mapping[str, str]) -> JsonColumn | None:
        consumer = self._consumer()
        if consumer is None:
            return None
        location = self._schema_place(consumer.flow, f"json {quote(key, safe=' ')}")
        time_zone = str(self.spark.conf.get("spark.sql.session.timeZone"))
        column = JsonColumn.of(location, options, time_zone, only_infers=consumer.infers_json)
        if not column.is_inferred:
            consumer.unknown_json.append(column)
        return column

    def _consumer(self) -> EvaluatedFlow | None:
        """Return the flow that is being evaluated."""
        flows = self._state.flows
        if not flows:
            # Spark resolves functions of SQL text by a call to Python, which is another thread here. The
            # thread that evaluates the flow waits for the same thread of the JVM.
            flows = self._of_java_threads.get(java_thread_id(self.spark), _Evaluation()).flows
        return flows[-1] if flows else None

    def drop_views(self) -> None:
        """Drop the temporary views created for SQL text."""
        for name in self.temp_views:
            self.spark.catalog.dropTempView(name)
        self.temp_views.clear()

    def _readable(
        self, name: str | tuple[str, ...], default_schema: DefaultSchema | None = None
    ) -> Dataset | None:
        dataset = self.graph.find(name, default_schema)
        return None if dataset is None or dataset.dataset_type == "sink" else dataset

    def _make_ready(self, dataset: Dataset) -> None:
        """Call `ready`; reads in it are not inputs of the function that is being evaluated."""
        running, self._state.flows = self._state.flows, []
        try:
            self.ready(dataset)
        finally:
            self._state.flows = running

    def _note(self, dataset: Dataset) -> None:
        if self._state.flows:
            self._state.flows[-1].inputs.setdefault(dataset.key, dataset)
            if not self._state.views:
                self._state.flows[-1].direct_inputs.setdefault(dataset.key, dataset)

    def _view(self, view: Dataset, *, stream: bool) -> DataFrame:
        if view in self._state.views:
            raise GraphCycle([*self._state.views[self._state.views.index(view) :], view])
        self._make_ready(view)
        self._state.views.append(view)
        try:
            df = self._call(view.flows[0])
        finally:
            self._state.views.pop()
        if df.isStreaming and not stream and self._checks_views():
            raise PipelineError(
                "INCOMPATIBLE_VIEW_CHECK",
                f"The view `{view.name}` is a stream and was read as a batch.",
                next_step=f'Read it with spark.readStream.table("{view.name}") or STREAM({view.name}).',
            )
        consumer = self._state.flows[-1] if self._state.flows else None
        if consumer is not None:
            consumer.views[view.key] = view.flows[0]
        if not view.expectations or consumer is None:
            return df
        seen = ObservedExpectations(f"lakeward_{next(_metrics)}", view.name, view.expectations, df)
        consumer.observed.append(seen)
        return apply_expectations(df, view.expectations, metric=seen.metric, flow=consumer.flow.name)

    def _checks_views(self) -> bool:
        return str(self.spark.conf.get("pipelines.incompatibleViewCheck.enabled", "true")).lower() != "false"

    def _call(self, flow: Flow) -> DataFrame:
        from pyspark.sql import DataFrame

        with temporary_conf(self.spark, flow.spark_conf):
            result = self._until_found(flow)
        if not isinstance(result, DataFrame):
            raise PipelineError(
                "INVALID_FLOW_QUERY",
                f"{flow.location}: `{flow.name}` returned {_describe(result)}.",
                next_step="A dataset function returns a DataFrame.",
            )
        return result

    def _until_found(self, flow: Flow) -> Any:
        """Call the function; prepare a dataset that Spark does not find (in `F.expr`, say), and retry."""
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
            f"`{name}` is not a dataset of this pipeline.",
            next_step=near or "Read other tables with spark.read.table.",
        )


def missing_table(error: Any) -> str | None:
    """Return the name that Spark did not find, None for other errors."""
    if error.getCondition() not in ("TABLE_OR_VIEW_NOT_FOUND", "TABLE_OR_VIEW_NOT_FOUND.WITHOUT_SUGGESTION"):
        return None
    return (error.getMessageParameters() or {}).get("relationName")


def _describe(result: object) -> str:
    return "nothing" if result is None else f"a {type(result).__name__}"
