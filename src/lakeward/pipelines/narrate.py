"""Tells what an update does: to the event log, and to whoever watches (`on_event`)."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

from lakeward.pipelines.elements import Dataset, Hook
from lakeward.pipelines.event_log import EventLog
from lakeward.pipelines.hooks import Hooks
from lakeward.pipelines.model import DatasetResult, Progress
from lakeward.pipelines.outcome import FlowOutcome
from lakeward.pipelines.resolve import Planned, Resolution

__all__ = ["Narrator"]

log = logging.getLogger("lakeward.pipelines")

_FLOW_TYPES = {
    "streaming_table": "STREAMING",
    "materialized_view": "COMPLETE",
    "view": "VIEW",
    "sink": "STREAMING",
}


class Narrator:
    """One voice for two listeners. A listener that raises is told of in the log and never stops a run.

    While `quiet`, in the passes of continuous mode, flows that found nothing new are not spoken of.
    """

    def __init__(self, events: EventLog, on_event: Callable[[Progress], None] | None) -> None:
        self.events = events
        self.quiet = False
        self.hooks = Hooks(self._hook)
        events.told = self.hooks.tell
        self._on_event = on_event

    def tell(self, progress: Progress) -> None:
        if self._on_event is None or (self.quiet and progress.state == "RUNNING"):
            return
        try:
            self._on_event(progress)
        except Exception:
            log.exception("The listener on progress failed.")

    def _hook(self, hook: Hook, status: str, error: str) -> None:
        text = f"Event hook `{hook.name}` {'is disabled' if status == 'DISABLED' else 'failed'}: {error}"
        details = {"name": hook.name, "status": status}
        self.events.add("hook_progress", text, details, level="WARN", error=error)

    def update(self, state: str, message: str = "", *, error: str | None = None) -> None:
        """A state of the whole update (spec §5.2, update_progress)."""
        text = message or f"Update {self.events.origin.update_id[:8]} is {state}."
        level = "ERROR" if state == "FAILED" else "INFO"
        self.events.add("update_progress", text, {"state": state}, level=level, error=error)

    def created(self, configuration: dict[str, Any], spark_version: str, cause: str) -> None:
        details = {
            "cause": cause,
            "configuration": configuration,
            "runtime_version": {"spark_version": spark_version},
        }
        self.events.add("create_update", f"Update {self.events.origin.update_id[:8]} started.", details)
        user = self.events.origin.user
        action = {"action": "START", "user_name": user, "cause": cause}
        self.events.add("user_action", f"User {user} started the update.", action)

    def defined(self, resolution: Resolution) -> None:
        """Datasets and flows with their lineage."""
        for planned in resolution.plans.values():
            dataset = planned.dataset
            full = ".".join(dataset.key)
            details = {"dataset_type": planned.kind.upper(), "num_flows": len(dataset.flows)}
            details["schema"] = planned.schema.jsonValue()["fields"]
            self.events.add("dataset_definition", f"Dataset {full} is defined.", details, dataset=full)
            for flow in dataset.flows:
                details = {
                    "output_dataset": full,
                    "input_datasets": [{"name": name} for name in planned.direct.get(flow.name, ())],
                    "flow_type": _FLOW_TYPES[planned.kind],
                    "schema": planned.schema.jsonValue()["fields"],
                    "explain_text": planned.explained.get(flow.name, ""),
                }
                name = _flow_name(dataset, flow.name)
                self.events.add(
                    "flow_definition", f"Flow {name} is defined.", details, dataset=full, flow=name
                )

    def flow(self, dataset: Dataset, flow: str, status: str, *, error: str | None = None) -> None:
        if self.quiet and status in ("RUNNING", "COMPLETED"):
            return
        name = _flow_name(dataset, flow)
        level = "ERROR" if status == "FAILED" else "INFO"
        text = f"Flow '{name}' is {status}." if error is None else f"Flow '{name}' has FAILED.\n{error}"
        full = ".".join(dataset.key)
        self.events.add(
            "flow_progress", text, {"status": status}, dataset=full, flow=name, level=level, error=error
        )

    def flow_done(self, dataset: Dataset, outcome: FlowOutcome) -> None:
        """The numbers of a flow (a RUNNING event, as on the platform), then COMPLETED."""
        if self.quiet and not outcome.rows_written:
            return
        metrics = {"num_output_rows": outcome.rows_written}
        if outcome.deleted is not None:
            metrics = {"num_upserted_rows": outcome.rows_written, "num_deleted_rows": outcome.deleted}
        details: dict[str, Any] = {"status": "RUNNING", "metrics": metrics}
        counted = [each for each in outcome.counted if each.counts is not None]
        if counted and not outcome.unchanged:
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
                    for result in each.counts.results(each.rules)
                ],
            }
        name, full = _flow_name(dataset, outcome.flow), ".".join(dataset.key)
        for batch in outcome.progress:
            told = f"Flow '{name}' ended a micro-batch."
            self.events.add(
                "stream_progress",
                told,
                {"progress": json.loads(batch)},
                dataset=full,
                flow=name,
                level="METRICS",
            )
        text = f"Flow '{name}' wrote {outcome.rows_written} rows."
        self.events.add("flow_progress", text, details, dataset=full, flow=name, level="METRICS")
        self.flow(dataset, outcome.flow, "COMPLETED")

    def retried(self, dataset: Dataset, flow: str, attempt: int, error: str) -> None:
        """A flow failed for a passing reason and is tried again."""
        name, full = _flow_name(dataset, flow), ".".join(dataset.key)
        text = f"Flow '{name}' failed and is tried again ({attempt}).\n{error}"
        details = {"status": "RETRYING", "attempt": attempt}
        self.events.add("flow_progress", text, details, dataset=full, flow=name, level="WARN", error=error)

    def dataset(self, planned: Planned, result: DatasetResult, message: str = "") -> None:
        if self.quiet and result.state == "COMPLETED" and not result.rows_written:
            return
        self.tell(
            Progress(
                result.name,
                planned.kind,
                result.state,
                result.rows_written,
                message or result.error or "",
                result.seconds,
            )
        )
        self.events.flush_if_due()


def _flow_name(dataset: Dataset, flow: str) -> str:
    return ".".join((*dataset.key[:-1], flow.lower()))
