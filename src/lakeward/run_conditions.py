"""Dependencies of tasks: the conditions of `run_if`, and cycles.

Source: https://docs.databricks.com/aws/en/jobs/run-if
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Literal

ALL_SUCCESS = "ALL_SUCCESS"

RunDecision = Literal["RUN", "SKIPPED", "UNTAKEN", "EXCLUDED"]
"""SKIPPED: a dependency failed. UNTAKEN: a condition had the other outcome. EXCLUDED: not selected."""

Upstream = Literal["succeeded", "failed", "untaken"]
"""The result of a dependency for `run_if`; a task excluded by `--only` counts as succeeded."""


@dataclass(frozen=True)
class _Counts:
    succeeded: int
    failed: int
    untaken: int

    @property
    def all(self) -> int:
        return self.succeeded + self.failed + self.untaken


def _all_success(of: _Counts) -> RunDecision:
    return "SKIPPED" if of.failed else "UNTAKEN" if of.untaken else "RUN"


def _all_done(of: _Counts) -> RunDecision:
    return "UNTAKEN" if of.untaken == of.all else "RUN"


def _none_failed(of: _Counts) -> RunDecision:
    return "SKIPPED" if of.failed else "RUN" if of.succeeded else "UNTAKEN"


def _one_success(of: _Counts) -> RunDecision:
    return "RUN" if of.succeeded else "SKIPPED" if of.failed else "UNTAKEN"


def _all_failed(of: _Counts) -> RunDecision:
    return "RUN" if of.failed == of.all else "EXCLUDED"


def _one_failed(of: _Counts) -> RunDecision:
    return "RUN" if of.failed else "EXCLUDED"


RUN_IF: dict[str, Callable[[_Counts], RunDecision]] = {
    ALL_SUCCESS: _all_success,
    "ALL_DONE": _all_done,
    "NONE_FAILED": _none_failed,
    "AT_LEAST_ONE_SUCCESS": _one_success,
    "ALL_FAILED": _all_failed,
    "AT_LEAST_ONE_FAILED": _one_failed,
}
"""The values of `run_if`, each with its predicate."""


def evaluate_run_if(run_if: str, upstream: Sequence[Upstream]) -> RunDecision:
    """Return the state of a task with condition `run_if` whose dependencies ended as `upstream`.

    >>> evaluate_run_if("NONE_FAILED", ["succeeded", "untaken"])
    'RUN'
    """
    if not upstream:
        return "RUN"
    counts = _Counts(*(upstream.count(kind) for kind in ("succeeded", "failed", "untaken")))
    return RUN_IF[run_if](counts)


def find_cycle(upstream: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the tasks of a cycle, each before one that it depends on, from the first to itself; or [].

    >>> find_cycle({"z": ["a"], "b": ["a"], "a": ["c"], "c": ["b"]})
    ['a', 'c', 'b', 'a']
    """
    try:
        TopologicalSorter(upstream).prepare()
    except CycleError as error:
        ring = error.args[1][:0:-1]
        start = ring.index(min(ring))
        return [*ring[start:], *ring[: start + 1]]
    return []
