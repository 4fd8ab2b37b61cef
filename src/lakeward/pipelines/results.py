"""Sums flows up into the result of a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.expectations import Counts
from lakeward.pipelines.model import DatasetResult, ExpectationResult, Kind, State
from lakeward.pipelines.outcome import FlowOutcome
from lakeward.pipelines.resolve import Planned, Resolution

__all__ = ["failed", "finished", "not_run", "not_tried", "together", "view_result"]


def finished(planned: Planned, outcomes: Sequence[FlowOutcome], seconds: float) -> DatasetResult:
    """All flows ended well."""
    dataset = planned.dataset
    rows = [outcome.rows_written for outcome in outcomes]
    counts = _total(dataset, outcomes)
    return DatasetResult(
        dataset.name,
        planned.kind,
        "COMPLETED",
        None if None in rows else sum(row for row in rows if row is not None),
        counts.dropped if counts is not None else None,
        counts.results(dataset.rules) if counts is not None else (),
        None,
        seconds,
    )


def failed(planned: Planned, errors: Sequence[str], seconds: float) -> DatasetResult:
    """Some flow failed. What its earlier micro-batches wrote is not known, so no numbers are told."""
    return DatasetResult(
        planned.dataset.name, planned.kind, "FAILED", None, None, (), "\n".join(errors), seconds
    )


def together(first: DatasetResult, second: DatasetResult) -> DatasetResult:
    """What two passes did to one dataset; the later one says how it ended."""
    pairs = zip(first.expectations, second.expectations, strict=False)
    rules = [ExpectationResult(a.name, a.passed + b.passed, a.failed + b.failed) for a, b in pairs]
    return replace(
        second,
        rows_written=_sum(first.rows_written, second.rows_written),
        dropped=_sum(first.dropped, second.dropped),
        expectations=tuple(rules),
        seconds=first.seconds + second.seconds,
    )


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second


def not_run(planned: Planned, state: Literal["SKIPPED", "EXCLUDED"], why: str | None = None) -> DatasetResult:
    """Nothing was tried."""
    return DatasetResult(planned.dataset.name, planned.kind, state, None, None, (), why, 0.0)


def not_tried(dataset: Dataset, resolution: Resolution, *, dry_run: bool) -> DatasetResult:
    """What an update says about a dataset that it did not come to; planned in a dry run is COMPLETED."""
    planned = resolution.plans.get(dataset.key)
    errors = resolution.errors.get(dataset.key)
    declared: dict[str, Kind] = {"view": "view", "streaming_table": "streaming_table", "sink": "sink"}
    kind = planned.kind if planned else declared.get(dataset.declared, "materialized_view")
    state: State = "FAILED" if errors else "COMPLETED" if planned and dry_run else "SKIPPED"
    error = "\n".join(map(str, errors)) if errors else None
    return DatasetResult(dataset.name, kind, state, None, None, (), error, 0.0)


def view_result(planned: Planned, outcomes: Iterable[FlowOutcome], ran: bool) -> DatasetResult:
    """A view's counts are those of each flow that read it, together (spec §2.1.9)."""
    if not ran:
        return not_run(planned, "EXCLUDED")
    dataset = planned.dataset
    counts = _total(dataset, outcomes)
    return DatasetResult(
        dataset.name,
        "view",
        "COMPLETED",
        None,
        counts.dropped if counts and dataset.rules else None,
        counts.results(dataset.rules) if counts else (),
        None,
        0.0,
    )


def _total(dataset: Dataset, outcomes: Iterable[FlowOutcome]) -> Counts | None:
    """The sum over all places where the rules were counted; None as soon as one place has no number."""
    total = Counts.none(dataset.rules)
    for outcome in outcomes:
        for each in outcome.counted:
            if each.dataset == dataset.name:
                if each.counts is None:
                    return None
                total = total + each.counts
    return total
