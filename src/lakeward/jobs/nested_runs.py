"""Tasks without a process of their own: conditions, loops (`for_each_task`) and runs of other jobs.

Sources: https://docs.databricks.com/aws/en/jobs/if-else and https://docs.databricks.com/aws/en/jobs/for-each
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from operator import ge, gt, le, lt
from typing import Any

from lakeward.errors import ConfigurationError, JobError
from lakeward.jobs.definition import Task, nested_task
from lakeward.jobs.dynamic_values import loop_input_references, resolve_references
from lakeward.jobs.run_loop import Launch, RunLoop, TaskAttempt
from lakeward.jobs.run_results import first_failure
from lakeward.jobs.task_graph import AttemptResult, TaskGraphState
from lakeward.suggestions import unknown_name_hint

_ORDER: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "GREATER_THAN": gt,
    "GREATER_THAN_OR_EQUAL": ge,
    "LESS_THAN": lt,
    "LESS_THAN_OR_EQUAL": le,
}

_KNOWN = ("EQUAL_TO", "NOT_EQUAL", *_ORDER)


def require_condition(key: str, spec: Mapping[str, Any]) -> None:
    """Raise ConfigurationError(TASK_INVALID) for an operator that does not exist."""
    operator = str(spec.get("op") or "")
    if operator not in _KNOWN:
        message = f"The condition `{key}` compares by `{operator}`."
        raise ConfigurationError(
            "TASK_INVALID", message, next_step=unknown_name_hint(operator, _KNOWN, what="operators")
        )


def evaluate_condition(key: str, spec: Mapping[str, Any]) -> bool:
    """Return whether the condition holds: equality compares text, ordering compares numbers.

    Raises JobError(CONDITION_INVALID) when an ordering compares a value that is not a number.

    >>> evaluate_condition("c", {"op": "GREATER_THAN", "left": "10", "right": "9"})
    True
    """
    operator, left, right = str(spec.get("op")), str(spec.get("left", "")), str(spec.get("right", ""))
    if operator in ("EQUAL_TO", "NOT_EQUAL"):
        return (left == right) == (operator == "EQUAL_TO")
    try:
        return _ORDER[operator](Decimal(left), Decimal(right))
    except InvalidOperation:
        message = f"The condition `{key}` orders `{left}` and `{right}`, which are not both numbers."
        raise JobError("CONDITION_INVALID", message) from None


class NestedRun:
    """A task that consists of a run; its result is that of the run."""

    has_started = True

    def __init__(self, run_loop: RunLoop) -> None:
        self._run_loop = run_loop

    def poll(self) -> AttemptResult | None:
        """Advance the nested run."""
        self._run_loop.tick()
        if not self._run_loop.state.is_done:
            return None
        state = self._run_loop.state.result
        if state == "COMPLETED":
            return AttemptResult("SUCCESS")
        return AttemptResult(
            "FAILED" if state == "FAILED" else "CANCELED", first_failure(self._run_loop.results())
        )

    def stop(self) -> None:
        """Cancel the nested run."""
        self._run_loop.cancel("The task around it was stopped.")


def start_loop(
    task: Task,
    launch: Launch,
    *,
    job_key: str,
    clock: Callable[[], float],
    has_capacity: Callable[[Task], bool],
) -> TaskAttempt:
    """Return the run of all iterations of a `for_each_task`, up to `concurrency` at once.

    A failed iteration fails the loop; the others still run.

    Args:
        task: The loop.
        launch: Starts one iteration.
        job_key: The key of the job, for messages.
        clock: Monotonic seconds.
        has_capacity: Whether another iteration may start now.
    """
    inner = nested_task(job_key, task)
    passes = [
        replace(
            inner,
            key=f"{task.key}[{number}]",
            spec=resolve_references(
                inner.spec, {**loop_input_references(value)}, where=f"the task `{inner.key}`", late=True
            ),
        )
        for number, value in enumerate(loop_inputs(task))
    ]
    limit = int(task.spec.get("concurrency") or 1)
    state = TaskGraphState.of(passes, limit=limit, began=clock())
    return NestedRun(RunLoop(state, launch, clock=clock, has_capacity=has_capacity))


def loop_inputs(task: Task) -> list[Any]:
    """Return the inputs of the loop `task`. Raises ConfigurationError if they are not a list."""
    given = task.spec.get("inputs")
    try:
        values = json.loads(given) if isinstance(given, str) else given
    except (json.JSONDecodeError, RecursionError):
        values = None
    if not isinstance(values, list):
        message = f"The inputs of the loop `{task.key}` are `{given!s:.200}`, which is not a JSON list."
        raise ConfigurationError("TASK_INVALID", message, next_step='For example inputs: "[1, 2, 3]".')
    return values
