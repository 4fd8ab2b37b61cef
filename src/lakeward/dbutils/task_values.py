"""Where `dbutils.jobs.taskValues` keeps what tasks hand on: a job's runner brings the store."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from typing import Any, Protocol

LARGEST = 48 * 1024
"""Bytes of a value's JSON, as on Databricks."""


class TaskValues(Protocol):
    """What a runner brings. `get` raises KeyError for a value that was not set."""

    @property
    def in_job(self) -> bool:
        """Whether a job is running."""
        ...

    def get(self, task_key: str, key: str) -> Any:
        """What the task has set."""
        ...

    def set(self, key: str, value: Any) -> None:
        """Set a value of the current task."""
        ...


class NoJob:
    """Outside of a job nothing is kept."""

    in_job = False

    def get(self, task_key: str, key: str) -> Any:
        raise KeyError((task_key, key))

    def set(self, key: str, value: Any) -> None:
        """Nothing, as on the platform; a value that a job would refuse is refused here, too."""
        as_json(key, value)


class JobValues:
    """The values of one job run, in `values` by (task, key) as JSON; `task_key` is the one that runs."""

    in_job = True

    def __init__(self, values: MutableMapping[tuple[str, str], str], task_key: str) -> None:
        self._values, self._task_key = values, task_key

    def get(self, task_key: str, key: str) -> Any:
        return json.loads(self._values[task_key, key])

    def set(self, key: str, value: Any) -> None:
        self._values[self._task_key, key] = as_json(key, value)


def as_json(key: str, value: Any) -> str:
    """The value as it is kept. Raises TypeError for what JSON does not have, ValueError for too much."""
    if not key:
        raise TypeError("a task value needs a key")
    text = json.dumps(value)
    if len(text.encode()) > LARGEST:
        raise ValueError(f"the task value {key!r} has more than {LARGEST} bytes as JSON")
    return text
