"""The tasks of a run with their references filled in, as far as the run has come."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lakeward.jobs.definition import Task
from lakeward.jobs.references import of_task, of_values, substituted
from lakeward.jobs.schedule import Record

__all__ = ["Filling"]

# Source: https://docs.databricks.com/aws/en/jobs/dynamic-value-references
_STATES = {"SKIPPED": "UPSTREAM_FAILED", "UNTAKEN": "EXCLUDED"}


@dataclass
class Filling:
    """What is known of a run: before it began, from the `values` of its tasks, by how they ended.

    `task_runs` are the ids of its tasks' runs; those that are missing are made up.
    """

    known: Mapping[str, str]
    tasks: Sequence[Task]
    values: Mapping[tuple[str, str], str]
    task_runs: Mapping[str, str]
    records: Callable[[], Mapping[str, Record]]
    _made_up: dict[str, str] = field(default_factory=dict)

    def filled(self, task: Task, *, number: int = 1, late: bool) -> Task:
        """Return `task` for its `number`-th attempt; what is known only later stays with `late`.

        Raises ConfigurationError(REFERENCE_UNKNOWN) at a reference that has no value.
        """
        execution = number + int(self.known["job.repair_count"])
        own = of_task(task.key, task.spec, run_id=self._run_of(task.key), execution=execution)
        known = {**self.references(), **own}
        return replace(task, spec=substituted(task.spec, known, where=f"the task `{task.key}`", late=late))

    def references(self) -> dict[str, str]:
        """Return the value of everything that is known by now."""
        known = {**self.known, **of_values(self.values)}
        for task in self.tasks:
            known[f"tasks.{task.key}.run_id"] = self._run_of(task.key)
            known[f"tasks.{task.key}.notebook_path"] = str(task.spec.get("notebook_path") or "")
        for key, record in self.records().items():
            if record.end is not None:
                known[f"tasks.{key}.result_state"] = _STATES.get(record.end.state, record.end.state).lower()
                known[f"tasks.{key}.error_code"] = "RunExecutionError" if record.end.state == "FAILED" else ""
                known[f"tasks.{key}.execution_count"] = str(record.attempt)
        return known

    def _run_of(self, key: str) -> str:
        # A pass of a loop has the loop's.
        name = key.partition("[")[0]
        return self.task_runs.get(name) or self._made_up.setdefault(name, str(uuid.uuid4().int % 10**15))
