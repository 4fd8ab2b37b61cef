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
    """A task with all data that its process needs."""

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
    """The task's code starts."""


@dataclass(frozen=True)
class PipelineEvent:
    """An event of the task's pipeline."""

    event: Any


@dataclass(frozen=True)
class JvmRequested:
    """The task needs Spark; the answer is a `GatewayAddress`, or None if it must start its own JVM."""


@dataclass(frozen=True)
class SecretRead:
    """The task is about to read a secret, which must be redacted."""

    text: str


@dataclass(frozen=True)
class TaskValueSet:
    """The task has set a value."""

    name: tuple[str, str]
    text: str


@dataclass(frozen=True)
class TaskFinished:
    """The task has ended."""

    end: AttemptResult


class MessageChannel:
    """The channel to the run; thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, message: object) -> None:
        """Send a message."""
        with self._lock:
            self._connection.send(message)


class ReportedTaskValues(MutableMapping[tuple[str, str], str]):
    """The task values of a run in a task's process; values are sent immediately, so a crash loses none."""

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
