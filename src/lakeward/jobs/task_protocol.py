"""Messages between a run and the process of a task."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.bundle import Bundle
from lakeward.jobs.definition import Task
from lakeward.jobs.model import PipelineSelection
from lakeward.jobs.task_state import AttemptResult

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from lakeward.session import Settings


@dataclass(frozen=True)
class TaskRequest:
    """A task with all that it needs.

    `secrets` are those that the run knows: task values may pass them to this task.
    """

    bundle: Bundle
    settings: Settings
    job: Mapping[str, Any]
    task: Task
    parameters: Mapping[str, str]
    selection: PipelineSelection
    job_id: str | None
    run_id: str | None
    values: Mapping[tuple[str, str], str]
    wheels: Mapping[str, Path]
    secrets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TaskStarted:
    """The task's code begins."""


@dataclass(frozen=True)
class PipelineEvent:
    """Something happened in the task's pipeline."""

    event: Any


@dataclass(frozen=True)
class JvmRequested:
    """The task needs Spark; the answer is a `Shared`, or None for a JVM of its own."""


@dataclass(frozen=True)
class SecretRead:
    """The task is about to be given a secret, which is not to be shown."""

    text: str


@dataclass(frozen=True)
class TaskValueSet:
    """The task has set a value."""

    name: tuple[str, str]
    text: str


@dataclass(frozen=True)
class TaskFinished:
    """The task is done."""

    end: AttemptResult


class MessageChannel:
    """The way back to the run; threads of the task's code may speak at the same time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, message: object) -> None:
        """Say something."""
        with self._lock:
            self._connection.send(message)


class ReportedTaskValues(MutableMapping[tuple[str, str], str]):
    """The values of a run in the process of a task: what is set is sent at once, lest a crash lose it."""

    def __init__(self, values: Mapping[tuple[str, str], str], line: MessageChannel) -> None:
        self._values = dict(values)
        self._line = line

    def __getitem__(self, name: tuple[str, str]) -> str:
        return self._values[name]

    def __setitem__(self, name: tuple[str, str], text: str) -> None:
        self._values[name] = text
        self._line.send(TaskValueSet(name, text))

    def __delitem__(self, name: tuple[str, str]) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
