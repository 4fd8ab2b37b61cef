"""Phase 2: refreshes the selected datasets, upstream first; a failure skips its dependants.

Datasets run concurrently in one thread: while one awaits its query, others run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lakeward.pipelines.analysis.flow_evaluation import FlowEvaluator, InputNotReady
from lakeward.pipelines.analysis.read_interception import intercept_reads
from lakeward.pipelines.events.progress_reporter import ProgressReporter, StreamMonitor
from lakeward.pipelines.execution.flow_execution import (
    ExecutionContext,
    FlowExecution,
    max_retries,
    with_retries,
)
from lakeward.pipelines.execution.pending_inputs import UNSUCCESSFUL, InputPending, PendingInputs
from lakeward.pipelines.execution.scheduler import DatasetTask, run_concurrently
from lakeward.pipelines.graph.dataflow_graph import (
    DataflowGraph,
    RefreshSelection,
    ResolvedDataset,
    ResolvedGraph,
)
from lakeward.pipelines.graph.elements import Dataset, Flow, Key
from lakeward.pipelines.graph.error_location import place_of, with_source_location
from lakeward.pipelines.graph.expectations import CountedExpectations, find_violation
from lakeward.pipelines.graph.query_plans import OperatorTimes
from lakeward.pipelines.graph.results import (
    DatasetResult,
    FlowResult,
    Progress,
    completed_result,
    failed_result,
    merge_results,
    unexecuted_result,
    view_result,
)
from lakeward.pipelines.storage.dataset_manager import prepare_sink, prepare_streaming_table
from lakeward.pipelines.storage.streaming_query_task import QueryTask, run_to_completion
from lakeward.session import condition_of, count_interrupts, keep_interrupts

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

T = TypeVar("T")
_NEW_COLUMNS = "UNKNOWN_FIELD_EXCEPTION"
# In its text where the mode of the stream, `failOnNewColumns`, adds no columns.
_NO_RETRY = "automatic retry: false"
# Datasets that are refreshed concurrently.
_MAX_PARALLELISM = max(2, os.cpu_count() or 1)


class GraphExecution:
    """Runs a resolved graph.

    The scheduler starts a dataset when all inputs that phase 1 found are done. A flow that reads a further
    dataset in this phase is suspended: its evaluation is abandoned, and repeated when that dataset is done.
    Evaluation never starts the execution of another dataset.

    `results` holds the datasets that have ended in this pass; every result is also stored in the `totals` of
    the update.
    """

    def __init__(
        self,
        graph: DataflowGraph,
        resolved_graph: ResolvedGraph,
        selection: RefreshSelection,
        context: ExecutionContext,
        reporter: ProgressReporter,
        totals: dict[Key, DatasetResult],
    ) -> None:
        self.graph, self.resolved_graph = graph, resolved_graph
        self.context, self.reporter, self.totals = context, reporter, totals
        self._start_pass(selection)
        self.schema_changed = False
        self._is_first_pass = True
        self._evaluator = FlowEvaluator(context.spark, graph, self._require_ready, context.schema_location)
        self._queries: list[StreamingQuery] = []
        self._streams = StreamMonitor(reporter.stream_batch)
        self._flow_execution = FlowExecution(
            context, self._evaluator, self._query_started, reporter.flow_planned
        )
        self._interrupts = count_interrupts()
        self._operators = OperatorTimes(context.spark, context.update_id)

    def run(self) -> None:
        """Run everything selected. Only interrupts propagate; failures are in the results."""
        tables = [each for each in self.resolved_graph.datasets.values() if not each.dataset.is_view]
        with intercept_reads(self._evaluator):
            try:
                run_concurrently(
                    tables,
                    start=self._start,
                    is_ready=self._inputs.are_done,
                    advance=self._advance,
                    poll=self._streams.poll,
                    max_parallelism=_MAX_PARALLELISM,
                )
            except KeyboardInterrupt:
                self._stop_queries()
                raise
            finally:
                self._operators.leave()
                self._evaluator.drop_views()
        for resolved in self.resolved_graph.datasets.values():
            if resolved.dataset.is_view:
                has_run = _has_run(resolved, self.resolved_graph, self.selection)
                self._end(resolved, view_result(resolved, self.flow_results, has_run))

    def run_again(self) -> None:
        """Run one more pass without resets. The row counts of all passes are added up."""
        self._start_pass(RefreshSelection(self.selection.refresh, frozenset()))
        self._is_first_pass = False
        self._queries.clear()
        self.run()

    def _start_pass(self, selection: RefreshSelection) -> None:
        self.selection = selection
        self.results: dict[Key, DatasetResult] = {}
        self.flow_results: list[FlowResult] = []
        self._inputs = PendingInputs(self.resolved_graph, selection, self.results)

    def _require_ready(self, dataset: Dataset) -> None:
        # The inputs are those of the pass, and the evaluator that of all passes.
        self._inputs.require_ready(dataset)

    def slowest_operators(self) -> list[dict[str, Any]]:
        """Return the operators that took the most time in the queries of the datasets."""
        return self._operators.slowest()

    @property
    def has_failed(self) -> bool:
        return any(result.state == "FAILED" for result in self.results.values())

    @property
    def errors(self) -> list[str]:
        """Return the errors of the failed datasets, in the order in which they failed."""
        return [each.error for each in self.results.values() if each.state == "FAILED" and each.error]

    def _query_started(self, dataset: Dataset, flow: str, query: StreamingQuery) -> None:
        self._queries.append(query)
        self._streams.watch(dataset, flow, query)

    def _stop_queries(self) -> None:
        for query in self._queries:
            if query.isActive:
                query.stop()

    def _start(self, resolved: ResolvedDataset) -> DatasetTask:
        task = DatasetTask(self._refresh(resolved), resolved.dataset.key)
        self._advance(task)
        return task

    def _advance(self, task: DatasetTask) -> None:
        self._operators.enter(task.key)
        with self._inputs.reading(task.key):
            task.advance()

    def _refresh(self, resolved: ResolvedDataset) -> QueryTask[None]:
        dataset = resolved.dataset
        if dataset.key not in self.selection.refresh:
            self._end(resolved, unexecuted_result(resolved, "EXCLUDED"))
            return
        done = [key for key in resolved.inputs if key in self.results]
        failed = [self.graph.find(key) for key in done if self.results[key].state in UNSUCCESSFUL]
        if failed:
            self._skip(resolved, failed[0])
            return
        try:
            yield from self._run_flows(resolved)
        except InputNotReady as upstream:
            self._skip(resolved, upstream.dataset)

    def _run_flows(self, resolved: ResolvedDataset) -> QueryTask[None]:
        dataset = resolved.dataset
        started = time.monotonic()
        self.reporter.emit(Progress(dataset.name, resolved.kind, "RUNNING"))
        flow_results: list[FlowResult] = []
        errors = (yield from self._infer_json(resolved)) if resolved.has_unknown_json else []
        if not errors and resolved.kind in ("streaming_table", "sink"):
            errors = self._prepare(resolved)
        for flow in dataset.flows if not errors else ():
            self.reporter.flow_state(dataset, flow.name, "RUNNING")
            try:
                with keep_interrupts(self._interrupts):
                    flow_result = yield from self._when_ready(
                        resolved, flow, partial(self._run_with_retries, resolved, flow)
                    )
            except Exception as error:  # noqa: BLE001  # a failure of one flow does not end the others
                errors.append(self._failed(dataset, flow, error))
                continue
            flow_results.append(flow_result)
            self._streams.complete(dataset, flow.name, flow_result.progress)
            self.reporter.flow_completed(dataset, flow_result)
        self.flow_results += flow_results
        seconds = time.monotonic() - started
        if errors:
            self._end(resolved, failed_result(resolved, errors, seconds))
            return
        is_unchanged = bool(flow_results) and all(each.unchanged for each in flow_results)
        notes = " ".join(each.note for each in flow_results if each.note)
        result = completed_result(resolved, flow_results, seconds)
        self._end(resolved, result, "unchanged" if is_unchanged else notes)

    def _failed(self, dataset: Dataset, flow: Flow, error: Exception) -> str:
        """Report the failure of a flow; return its text."""
        text = self._error_text(error, dataset)
        self.schema_changed |= (condition_of(error) or "").startswith(_NEW_COLUMNS) and _NO_RETRY not in text
        self.reporter.flow_state(dataset, flow.name, "FAILED", error=text)
        return text

    def _infer_json(self, resolved: ResolvedDataset) -> QueryTask[list[str]]:
        """Infer the schemas of `from_json` before the table gets its columns; return the errors."""
        dataset = resolved.dataset
        errors: list[str] = []
        for flow in dataset.flows if all(flow.snapshot_source is None for flow in dataset.flows) else ():
            try:
                with keep_interrupts(self._interrupts):
                    yield from self._when_ready(
                        resolved, flow, partial(self._flow_execution.infer_json, flow)
                    )
            except Exception as error:  # noqa: BLE001  # a failure of one flow does not end the others
                errors.append(self._failed(dataset, flow, error))
        return errors

    def _prepare(self, resolved: ResolvedDataset) -> list[str]:
        """Create, reset or update the table, or reset the checkpoints of the sink; return the errors."""
        dataset, checkpoints = resolved.dataset, self.context.checkpoints
        is_reset = dataset.key in self.selection.reset
        try:
            with keep_interrupts(self._interrupts):
                for flow in dataset.flows:
                    if (dataset.key, flow.name) in self.selection.restart and not is_reset:
                        checkpoints.restart(dataset.key, flow.name)
                if resolved.kind == "sink":
                    prepare_sink(dataset, checkpoints)
                else:
                    prepare_streaming_table(
                        self.context.spark, dataset, resolved.schema, checkpoints, owner=self.context.owner
                    )
        except Exception as error:  # noqa: BLE001  # a failure of one dataset does not end the others
            text = self._error_text(error, dataset)
            for flow in dataset.flows:
                self.reporter.flow_state(dataset, flow.name, "FAILED", error=text)
            return [text]
        return []

    def _when_ready(
        self, resolved: ResolvedDataset, flow: Flow, make: Callable[[], QueryTask[T]]
    ) -> QueryTask[T]:
        """Run the task of a flow; if it reads a dataset that is not done, suspend it and make it again."""
        while True:
            task = make()
            try:
                # Settings of a flow hold for the whole session: nothing else runs meanwhile.
                if flow.spark_conf:
                    return run_to_completion(task, poll=self._streams.poll)
                return (yield from task)
            except InputPending as pending:
                yield from self._inputs.await_input(resolved.dataset.key, pending.dataset.key)

    def _run_with_retries(self, resolved: ResolvedDataset, flow: Flow) -> QueryTask[FlowResult]:
        dataset, context = resolved.dataset, self.context
        retries: list[int] = []

        def note(error: Exception, attempt: int) -> None:
            retries.append(attempt)
            self.reporter.flow_retried(dataset, flow.name, attempt, self._error_text(error, dataset))

        full_refresh = dataset.key in self.selection.reset
        flow_result = yield from with_retries(
            lambda: self._flow_execution.run(resolved, flow, full_refresh=full_refresh),
            max_retries({**context.conf, **flow.spark_conf}, production=context.production),
            note=note,
        )
        if retries and resolved.kind != "materialized_view":
            # Rows written by failed attempts are unknown, so no count is reported.
            flow_result.rows_written = None
            flow_result.counted = [
                CountedExpectations(each.dataset, each.expectations, None) for each in flow_result.counted
            ]
        return flow_result

    def _error_text(self, error: Exception, dataset: Dataset) -> str:
        what, folders = f"dataset `{dataset.name}`", self.context.folders
        violation = find_violation(error)
        if violation is not None:
            return f"{violation}\n    {place_of(dataset)}"
        return str(with_source_location(error, what=what, folders=folders, declared=place_of(dataset)))

    def _skip(self, resolved: ResolvedDataset, upstream: Dataset | None) -> None:
        for flow in resolved.dataset.flows:
            self.reporter.flow_state(resolved.dataset, flow.name, "SKIPPED")
        reason = f"`{upstream.name}` failed." if upstream else "an input failed."
        self._end(resolved, unexecuted_result(resolved, "SKIPPED", f"Skipped: {reason}"))

    def _end(self, resolved: ResolvedDataset, result: DatasetResult, message: str = "") -> None:
        key = resolved.dataset.key
        self.reporter.dataset_ended(resolved, result, message)
        self.results[key] = result
        self.totals[key] = result if self._is_first_pass else merge_results(self.totals[key], result)


def _has_run(view: ResolvedDataset, graph: ResolvedGraph, selection: RefreshSelection) -> bool:
    """Return whether a table that reads the view, itself or by other views, was refreshed."""
    readers = [each for each in graph.datasets.values() if view.dataset.key in each.inputs]
    return not readers or any(
        _has_run(each, graph, selection) if each.dataset.is_view else each.dataset.key in selection.refresh
        for each in readers
    )
