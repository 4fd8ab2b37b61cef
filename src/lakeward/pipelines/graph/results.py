"""Results of flows, datasets and updates."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any, Literal

from lakeward.pipelines.graph.dataflow_graph import ResolvedDataset, ResolvedGraph
from lakeward.pipelines.graph.elements import Dataset, DatasetKind
from lakeward.pipelines.graph.expectations import CountedExpectations, ExpectationCounts, ExpectationResult
from lakeward.update_states import UpdateState

DatasetState = Literal["COMPLETED", "FAILED", "SKIPPED", "EXCLUDED"]
_STREAM_READERS = frozenset(("readStream", "read_stream"))
_STREAM_IN_SQL = re.compile(r"\bFROM\s+STREAM\b", re.IGNORECASE)


@dataclass(frozen=True)
class DatasetResult:
    """The result of one update for one dataset.

    Unknown numbers are None, and expectations without counts are absent; neither is shown as zero.
    """

    name: str
    kind: DatasetKind
    state: DatasetState
    rows_written: int | None
    dropped: int | None
    expectations: tuple[ExpectationResult, ...]
    error: str | None
    seconds: float


@dataclass(frozen=True)
class Update:
    """The result of one update of a pipeline."""

    update_id: str
    state: UpdateState
    datasets: tuple[DatasetResult, ...]
    seconds: float
    error: str | None

    def as_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints; `error` is present if it belongs to no single dataset."""
        document = {
            "state": self.state,
            "update_id": self.update_id,
            "datasets": [_dataset_json(dataset) for dataset in self.datasets],
            "tasks": [],
            "seconds": round(self.seconds, 3),
        }
        return {**document, "error": self.error} if self.error else document


def _dataset_json(dataset: DatasetResult) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "kind": dataset.kind,
        "state": dataset.state,
        "rows_written": dataset.rows_written,
        "dropped": dataset.dropped,
        "expectations": [
            {"name": expectation.name, "passed": expectation.passed, "failed": expectation.failed}
            for expectation in dataset.expectations
        ],
        "error": dataset.error,
    }


@dataclass(frozen=True)
class Progress:
    """One step of a running update; `dataset` is empty for steps of the whole update.

    `inputs` are the datasets that it reads, reported with the state QUEUED.
    """

    dataset: str
    kind: str
    state: Literal["QUEUED", "PLANNING", "RUNNING", "COMPLETED", "FAILED", "SKIPPED", "EXCLUDED"]
    rows_written: int | None = None
    message: str = ""
    seconds: float = 0
    inputs: tuple[str, ...] = ()


@dataclass
class FlowResult:
    """The result of one flow: rows written (None: unknown) and the counts of all evaluated expectations.

    `deleted` counts the rows that a change feed or an incremental refresh deleted; None for other flows.
    `progress` holds Spark's progress of each micro-batch as JSON. `note` is shown in the run's table.
    """

    flow: str
    rows_written: int | None = 0
    counted: list[CountedExpectations] = field(default_factory=list)
    unchanged: bool = False
    deleted: int | None = None
    progress: list[str] = field(default_factory=list)
    note: str = ""


def total_rows(counts: Iterable[int | None]) -> int | None:
    """Return the sum; None if one of the counts is unknown."""
    known = list(counts)
    return None if None in known else sum(filter(None, known))


def completed_result(
    resolved: ResolvedDataset, flow_results: Sequence[FlowResult], seconds: float
) -> DatasetResult:
    """Combine the results of flows that all succeeded."""
    dataset = resolved.dataset
    counts = _total_counts(dataset, flow_results)
    return DatasetResult(
        dataset.name,
        resolved.kind,
        "COMPLETED",
        total_rows(flow_result.rows_written for flow_result in flow_results),
        counts.dropped if counts is not None else None,
        counts.results(dataset.expectations) if counts is not None else (),
        None,
        seconds,
    )


def failed_result(resolved: ResolvedDataset, errors: Sequence[str], seconds: float) -> DatasetResult:
    """Return the result of a dataset with a failed flow. Rows of its earlier batches are unknown."""
    return DatasetResult(
        resolved.dataset.name, resolved.kind, "FAILED", None, None, (), "\n".join(errors), seconds
    )


def merge_results(first: DatasetResult, second: DatasetResult) -> DatasetResult:
    """Add up the results of two passes; the second one determines the state."""
    pairs = zip(first.expectations, second.expectations, strict=False)
    expectations = [ExpectationResult(a.name, a.passed + b.passed, a.failed + b.failed) for a, b in pairs]
    return replace(
        second,
        rows_written=_sum_known(first.rows_written, second.rows_written),
        dropped=_sum_known(first.dropped, second.dropped),
        expectations=tuple(expectations),
        seconds=first.seconds + second.seconds,
    )


def _sum_known(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def unexecuted_result(
    resolved: ResolvedDataset, state: Literal["SKIPPED", "EXCLUDED"], why: str | None = None
) -> DatasetResult:
    """Return the result of a dataset whose flows were not run."""
    return DatasetResult(resolved.dataset.name, resolved.kind, state, None, None, (), why, 0.0)


def unreached_result(dataset: Dataset, resolved_graph: ResolvedGraph, *, dry_run: bool) -> DatasetResult:
    """Return the result of a dataset that was not executed; one resolved in a dry run is COMPLETED."""
    resolved = resolved_graph.datasets.get(dataset.key)
    errors = resolved_graph.errors.get(dataset.key)
    kind = resolved.kind if resolved else _expected_kind(dataset)
    state: DatasetState = "FAILED" if errors else "COMPLETED" if resolved and dry_run else "SKIPPED"
    error = "\n".join(map(str, errors)) if errors else None
    return DatasetResult(dataset.name, kind, state, None, None, (), error, 0.0)


def _expected_kind(dataset: Dataset) -> DatasetKind:
    """Return the kind of a dataset whose query is unknown; the functions of a `table` show it."""
    if dataset.dataset_type != "table":
        return dataset.dataset_type
    is_stream = any(_reads_stream(inspect.unwrap(flow.function)) for flow in dataset.flows)
    return "streaming_table" if is_stream else "materialized_view"


def _reads_stream(function: Callable[[], Any]) -> bool:
    """Return whether a function calls `readStream` or has SQL that reads a stream."""
    codes: list[object] = [getattr(function, "__code__", None)]
    for code in codes:
        if isinstance(code, str):
            if _STREAM_IN_SQL.search(code):
                return True
        elif isinstance(code, CodeType):
            if not _STREAM_READERS.isdisjoint(code.co_names):
                return True
            codes += code.co_consts
    return False


def view_result(resolved: ResolvedDataset, flow_results: Iterable[FlowResult], ran: bool) -> DatasetResult:
    """Return the result of a view: the sum of its counts in all flows that read it."""
    if not ran:
        return unexecuted_result(resolved, "EXCLUDED")
    dataset = resolved.dataset
    counts = _total_counts(dataset, flow_results)
    return DatasetResult(
        dataset.name,
        "view",
        "COMPLETED",
        None,
        counts.dropped if counts and dataset.expectations else None,
        counts.results(dataset.expectations) if counts else (),
        None,
        0.0,
    )


def _total_counts(dataset: Dataset, flow_results: Iterable[FlowResult]) -> ExpectationCounts | None:
    """Sum the counts of a dataset's expectations; None if any count is unknown."""
    total = ExpectationCounts.none(dataset.expectations)
    for flow_result in flow_results:
        for each in flow_result.counted:
            if each.dataset == dataset.name:
                if each.counts is None:
                    return None
                total = total + each.counts
    return total
