"""Reports the progress of an update and of its streams to the event log, to event hooks and to a callback."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.dbutils import redact, redactor
from lakeward.pipelines.events.event_log import EventLog
from lakeward.pipelines.graph.dataflow_graph import ResolvedDataset, ResolvedGraph
from lakeward.pipelines.graph.elements import Dataset, EventHook, Sink
from lakeward.pipelines.graph.results import DatasetResult, FlowResult, Progress
from lakeward.pipelines.incremental.refresh_plan import RefreshPlan

if TYPE_CHECKING:
    from pyspark.sql.streaming.query import StreamingQuery

Batch = dict[str, Any]
_POLL_SECONDS = 1.0


class StreamMonitor:
    """Reports the last micro-batch of each running query at most once a second.

    A look at a query costs milliseconds, so batches in between are left for `complete`, which gets all of
    them when the flow has ended.
    """

    def __init__(
        self, report: Callable[[Dataset, str, Batch], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._report, self._clock = report, clock
        self._watched: list[tuple[Dataset, str, StreamingQuery]] = []
        self._reported: set[tuple[str, Any, str]] = set()
        self._last = clock()

    def watch(self, dataset: Dataset, flow: str, query: StreamingQuery) -> None:
        """Include a started query."""
        self._watched.append((dataset, flow, query))

    def poll(self) -> None:
        """Report what is new of the running queries, if the last look was a second ago."""
        if not self._watched or self._clock() - self._last < _POLL_SECONDS:
            return
        self._watched = [each for each in self._watched if each[2].isActive]
        for dataset, flow, query in self._watched:
            progress = query.lastProgress
            if progress is not None:
                self._add(dataset, flow, json.loads(progress.json))
        self._last = self._clock()

    def complete(self, dataset: Dataset, flow: str, batches: Sequence[str]) -> None:
        """Report the batches of a flow that has ended, as JSON, without those that were reported."""
        for batch in batches:
            self._add(dataset, flow, json.loads(batch))

    def _add(self, dataset: Dataset, flow: str, batch: Batch) -> None:
        key = (str(batch.get("runId")), batch.get("batchId"), str(batch.get("timestamp")))
        if key not in self._reported:
            self._reported.add(key)
            self._report(dataset, flow, batch)


log = logging.getLogger("lakeward.pipelines")
Event = dict[str, Any]


class EventHooks:
    """The event hooks of one update. Earlier events are delivered once the hooks are set."""

    def __init__(self, note: Callable[[EventHook, str, str], None]) -> None:
        self._note = note
        self._failed: dict[int, int] = {}
        self._hooks: Sequence[EventHook] | None = None
        self._early: list[Event] = []
        self._emitting = False

    def set(self, hooks: Sequence[EventHook]) -> None:
        """Set the hooks of the pipeline."""
        self._hooks = hooks
        early, self._early = self._early, []
        for event in early:
            self.emit(event)

    def emit(self, event: Event) -> None:
        """Call every enabled hook."""
        if self._hooks is None:
            self._early.append(event)
            return
        if self._emitting:
            # Events about hooks are not delivered to hooks.
            return
        self._emitting = True
        try:
            for index, hook in enumerate(self._hooks):
                self._call(index, hook, event)
        finally:
            self._emitting = False

    def _call(self, index: int, hook: EventHook, event: Event) -> None:
        failed = self._failed.get(index, 0)
        if hook.failures_allowed is not None and failed > hook.failures_allowed:
            return
        try:
            hook.function(event)
        except Exception as error:  # noqa: BLE001  # a user's function may raise anything
            self._failed[index] = failed + 1
            disabled = hook.failures_allowed is not None and failed + 1 > hook.failures_allowed
            text = f"{type(error).__name__}: {error}"
            log.warning("The event hook `%s` failed: %s", hook.name, text)
            self._note(hook, "DISABLED" if disabled else "FAILED", text)
        else:
            self._failed[index] = 0


_FLOW_TYPES = {
    "streaming_table": "STREAMING",
    "materialized_view": "COMPLETE",
    "view": "VIEW",
    "sink": "STREAMING",
}


class ProgressReporter:
    """Reports to the event log and to a callback. An exception of the callback is logged and ignored.

    While `quiet`, in later passes of continuous mode, flows without new input are not reported.
    """

    def __init__(self, events: EventLog, on_event: Callable[[Progress], None] | None) -> None:
        self.events = events
        self.quiet = False
        self.hooks = EventHooks(self._hook)
        events.on_event = self.hooks.emit
        self._on_event = on_event

    def emit(self, progress: Progress) -> None:
        if self._on_event is None or (self.quiet and progress.state == "RUNNING"):
            return
        try:
            self._on_event(progress)
        except Exception:
            log.exception("The listener on progress failed.")

    def _hook(self, hook: EventHook, status: str, error: str) -> None:
        text = f"Event hook `{hook.name}` {'is disabled' if status == 'DISABLED' else 'failed'}: {error}"
        details = {"name": hook.name, "status": status}
        self.events.add("hook_progress", text, details, level="WARN", error=error)

    def update_state(self, state: str, *, error: str | None = None) -> None:
        """Report a state of the whole update (SDP-5.2)."""
        text = f"Update {self.events.origin.update_id[:8]} is {state}."
        level = "ERROR" if state == "FAILED" else "INFO"
        self.events.add("update_progress", text, {"state": state}, level=level, error=error)

    def update_created(self, configuration: dict[str, Any], spark_version: str, cause: str) -> None:
        details = {
            "cause": cause,
            "configuration": redactor().value(configuration),
            "runtime_version": {"spark_version": spark_version},
        }
        self.events.add("create_update", f"Update {self.events.origin.update_id[:8]} started.", details)
        user = self.events.origin.user
        action = {"action": "START", "user_name": user, "cause": cause}
        self.events.add("user_action", f"User {user} started the update.", action)

    def graph_defined(self, resolved_graph: ResolvedGraph) -> None:
        """Report datasets and flows with their lineage."""
        for resolved in resolved_graph.datasets.values():
            dataset = resolved.dataset
            full = ".".join(dataset.key)
            details = {"dataset_type": resolved.kind.upper(), "num_flows": len(dataset.flows)}
            details["schema"] = resolved.schema.jsonValue()["fields"]
            self.events.add("dataset_definition", f"Dataset {full} is defined.", details, dataset=full)
            if dataset.sink is not None:
                self._sink_defined(dataset, dataset.sink)
            for flow in dataset.flows:
                details = {
                    "output_dataset": full,
                    "input_datasets": [{"name": name} for name in resolved.direct_inputs.get(flow.name, ())],
                    "flow_type": _FLOW_TYPES[resolved.kind],
                    "schema": resolved.schema.jsonValue()["fields"],
                    "column_lineage": redactor().value(resolved.lineage.get(flow.name, {})),
                    # Plans contain the literals of the query.
                    "explain_text": redact(resolved.query_plans.get(flow.name, "")),
                }
                name = _flow_name(dataset, flow.name)
                self.events.add(
                    "flow_definition", f"Flow {name} is defined.", details, dataset=full, flow=name
                )

    def _sink_defined(self, dataset: Dataset, sink: Sink) -> None:
        """Report the format and the options of a sink (SDP-5.2)."""
        details = {"format": sink.format, "options": redactor().value(sink.options)}
        full = ".".join(dataset.key)
        self.events.add("sink_definition", f"Sink {full} is defined.", details, dataset=full)

    def operators_measured(self, operators: list[dict[str, Any]]) -> None:
        """Report the operators that took the most time in the queries of the update."""
        if operators:
            text = f"{len(operators)} operators took the most time."
            self.events.add("operator_metrics", text, {"operators": operators}, level="METRICS")

    def graph_queued(self, resolved_graph: ResolvedGraph) -> None:
        """Report every dataset and flow as queued, with the inputs of the datasets."""
        for resolved in resolved_graph.datasets.values():
            inputs = tuple(sorted({name for direct in resolved.direct_inputs.values() for name in direct}))
            self.emit(Progress(resolved.dataset.name, resolved.kind, "QUEUED", inputs=inputs))
            for flow in resolved.dataset.flows:
                self.flow_state(resolved.dataset, flow.name, "QUEUED")

    def flow_state(self, dataset: Dataset, flow: str, status: str, *, error: str | None = None) -> None:
        if self.quiet and status in ("RUNNING", "COMPLETED"):
            return
        name = _flow_name(dataset, flow)
        level = "ERROR" if status == "FAILED" else "INFO"
        text = f"Flow '{name}' is {status}." if error is None else f"Flow '{name}' has FAILED.\n{error}"
        full = ".".join(dataset.key)
        self.events.add(
            "flow_progress", text, {"status": status}, dataset=full, flow=name, level=level, error=error
        )

    def flow_completed(self, dataset: Dataset, flow_result: FlowResult) -> None:
        """Report the metrics of a flow (a RUNNING event, as on the platform), then COMPLETED."""
        if self.quiet and not flow_result.rows_written:
            return
        metrics = {"num_output_rows": flow_result.rows_written}
        if flow_result.deleted is not None:
            metrics = {"num_upserted_rows": flow_result.rows_written, "num_deleted_rows": flow_result.deleted}
        details: dict[str, Any] = {"status": "RUNNING", "metrics": metrics}
        counted = [each for each in flow_result.counted if each.counts is not None]
        if counted and not flow_result.unchanged:
            details["data_quality"] = {
                "dropped_records": sum(each.counts.dropped for each in counted if each.counts),
                "expectations": [
                    {
                        "name": result.name,
                        "dataset": each.dataset,
                        "passed_records": result.passed,
                        "failed_records": result.failed,
                    }
                    for each in counted
                    if each.counts
                    for result in each.counts.results(each.expectations)
                ],
            }
        name, full = _flow_name(dataset, flow_result.flow), ".".join(dataset.key)
        text = f"Flow '{name}' wrote {flow_result.rows_written} rows."
        self.events.add("flow_progress", text, details, dataset=full, flow=name, level="METRICS")
        self.flow_state(dataset, flow_result.flow, "COMPLETED")

    def stream_batch(self, dataset: Dataset, flow: str, progress: dict[str, Any]) -> None:
        """Report a micro-batch, as Spark describes it."""
        if self.quiet and not progress.get("numInputRows"):
            return
        name, full = _flow_name(dataset, flow), ".".join(dataset.key)
        text = f"Flow '{name}' ended a micro-batch."
        details = {"progress": progress}
        self.events.add("stream_progress", text, details, dataset=full, flow=name, level="METRICS")

    def flow_planned(self, dataset: Dataset, flow: str, plan: RefreshPlan) -> None:
        """Report how a materialized view is refreshed in this update, and why (SDP-5.2)."""
        if self.quiet and plan.chosen == "NO_OP":
            return
        name, full = _flow_name(dataset, flow), ".".join(dataset.key)
        text = f"Flow '{name}' has been planned to be executed as {plan.chosen}."
        if plan.reason:
            text += f" {plan.reason}"
        self.events.add("planning_information", text, plan.as_json(), dataset=full, flow=name)

    def flow_retried(self, dataset: Dataset, flow: str, attempt: int, error: str) -> None:
        """Report that a flow failed with a transient error and is retried."""
        name, full = _flow_name(dataset, flow), ".".join(dataset.key)
        text = f"Flow '{name}' failed and is tried again ({attempt}).\n{error}"
        details = {"status": "RETRYING", "attempt": attempt}
        self.events.add("flow_progress", text, details, dataset=full, flow=name, level="WARN", error=error)

    def dataset_ended(self, resolved: ResolvedDataset, result: DatasetResult, message: str) -> None:
        if self.quiet and result.state == "COMPLETED" and not result.rows_written:
            return
        self.emit(
            Progress(
                result.name,
                resolved.kind,
                result.state,
                result.rows_written,
                message or result.error or "",
                result.seconds,
            )
        )
        self.events.flush_if_due()


def _flow_name(dataset: Dataset, flow: str) -> str:
    return ".".join((*dataset.key[:-1], flow.lower()))
