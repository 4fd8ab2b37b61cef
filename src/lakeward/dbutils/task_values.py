"""Storage of `dbutils.jobs.taskValues`; the job's runner provides it."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from typing import Any, Protocol

LARGEST = 48 * 1024
"""Maximum size of a value's JSON in bytes, as on Databricks."""


class TaskValues(Protocol):
    """The store that a runner provides. `get` raises KeyError for a value that was not set."""

    @property
    def in_job(self) -> bool:
        """Return whether a job is running."""
        ...

    def get(self, task_key: str, key: str) -> Any:
        """Return the value that the task set."""
        ...

    def set(self, key: str, value: Any) -> None:
        """Set a value of the current task."""
        ...


class NoJob:
    """The store outside of a job: keeps nothing."""

    in_job = False

    def get(self, task_key: str, key: str) -> Any:
        raise KeyError((task_key, key))

    def set(self, key: str, value: Any) -> None:
        """Discard the value, as on the platform, after the same checks as in a job."""
        as_json(key, value)


class JobValues:
    """The values of one job run, as JSON by (task, key) in `values`; `task_key` is the current task."""

    in_job = True

    def __init__(self, values: MutableMapping[tuple[str, str], str], task_key: str) -> None:
        self._values, self._task_key = values, task_key

    def get(self, task_key: str, key: str) -> Any:
        return json.loads(self._values[task_key, key])

    def set(self, key: str, value: Any) -> None:
        self._values[self._task_key, key] = as_json(key, value)


def as_json(key: str, value: Any) -> str:
    """Return the value's JSON. Raises TypeError for a type that JSON lacks, ValueError if it is too large."""
    if not key:
        raise TypeError("a task value needs a key")
    text = json.dumps(value)
    if len(text.encode()) > LARGEST:
        raise ValueError(f"the task value {key!r} has more than {LARGEST} bytes as JSON")
    return text
