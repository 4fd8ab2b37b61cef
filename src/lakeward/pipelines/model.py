"""What an update reports: while it goes (`Progress`) and at its end (`Update`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["DatasetResult", "ExpectationResult", "Kind", "Progress", "State", "Update"]

Kind = Literal["streaming_table", "materialized_view", "view", "sink"]
State = Literal["COMPLETED", "FAILED", "SKIPPED", "EXCLUDED"]


@dataclass(frozen=True)
class ExpectationResult:
    """How many records satisfied one expectation in this update, and how many did not."""

    name: str
    passed: int
    failed: int


@dataclass(frozen=True)
class DatasetResult:
    """What one update did to one dataset.

    A number that is not known is None, and an expectation without counts is absent: neither is ever
    shown as zero (spec pipelines.md §2.1.10).
    """

    name: str
    kind: Kind
    state: State
    rows_written: int | None
    dropped: int | None
    expectations: tuple[ExpectationResult, ...]
    error: str | None
    seconds: float


@dataclass(frozen=True)
class Update:
    """One run of a pipeline, finished."""

    update_id: str
    state: Literal["COMPLETED", "FAILED", "CANCELED"]
    datasets: tuple[DatasetResult, ...]
    seconds: float
    error: str | None

    def as_json(self) -> dict[str, Any]:
        """The object that `--json` prints; `error` is there when one belongs to no dataset alone."""
        told = {
            "state": self.state,
            "update_id": self.update_id,
            "datasets": [_dataset_json(dataset) for dataset in self.datasets],
            "tasks": [],
            "seconds": round(self.seconds, 3),
        }
        return {**told, "error": self.error} if self.error else told


def _dataset_json(dataset: DatasetResult) -> dict[str, Any]:
    return {
        "name": dataset.name,
        "kind": dataset.kind,
        "state": dataset.state,
        "rows_written": dataset.rows_written,
        "dropped": dataset.dropped,
        "expectations": [
            {"name": rule.name, "passed": rule.passed, "failed": rule.failed} for rule in dataset.expectations
        ],
        "error": dataset.error,
    }


@dataclass(frozen=True)
class Progress:
    """One step of a running update; `dataset` is empty when the whole update is meant.

    `inputs` are the datasets that it reads, told when it is QUEUED.
    """

    dataset: str
    kind: str
    state: Literal["QUEUED", "PLANNING", "RUNNING", "COMPLETED", "FAILED", "SKIPPED", "EXCLUDED"]
    rows_written: int | None = None
    message: str = ""
    seconds: float = 0
    inputs: tuple[str, ...] = ()
