"""`dbutils.jobs`: values between the tasks of a job run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.dbutils.environment import Environment
from lakeward.dbutils.utility import Utility


class TaskValuesGroup(Utility):
    """`dbutils.jobs.taskValues`."""

    _group = "jobs.taskValues"

    def get(self, taskKey: str, key: str, default: Any = None, debugValue: Any = None) -> Any:
        """Return the value that the task `taskKey` set under `key`, else `default`.

        Outside of a job, return `debugValue`; raise TypeError without one. Raises ValueError in a job if the
        value was not set and there is no default.
        """
        store = self._environment().task_values
        if not store.in_job:
            if debugValue is None:
                raise TypeError(
                    "Must pass debugValue when calling get outside of a job context. "
                    "debugValue cannot be None."
                )
            return debugValue
        try:
            return store.get(taskKey, key)
        except KeyError:
            if default is None:
                raise ValueError(
                    f"The task {taskKey!r} has set no value {key!r} in this run, and there is no default."
                ) from None
            return default

    def set(self, key: str, value: Any) -> None:
        """Set a value of the current task; no effect outside of a job."""
        self._environment().task_values.set(key, value)


class Jobs(Utility):
    """`dbutils.jobs`."""

    _group = "jobs"

    def __init__(self, environment: Callable[[], Environment]) -> None:
        super().__init__(environment)
        self.taskValues = TaskValuesGroup(environment)
