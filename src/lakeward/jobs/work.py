"""What goes from a run to the process of a task, and what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.bundle import Bundle
from lakeward.jobs.definition import Task
from lakeward.jobs.pipelines import Selection
from lakeward.jobs.schedule import End

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from lakeward.session import Settings, Shared

__all__ = ["Begun", "Event", "Finished", "SentValues", "Value", "Work"]


@dataclass(frozen=True)
class Work:
    """A task with all that it needs; `shared` is the JVM to use, None for one of its own."""

    bundle: Bundle
    settings: Settings
    job: Mapping[str, Any]
    task: Task
    parameters: Mapping[str, str]
    selection: Selection
    job_id: str | None
    run_id: str | None
    values: Mapping[tuple[str, str], str]
    wheels: Mapping[str, Path]
    shared: Shared | None


@dataclass(frozen=True)
class Begun:
    """The task's code begins."""


@dataclass(frozen=True)
class Event:
    """Something happened in the task's pipeline."""

    event: Any


@dataclass(frozen=True)
class Value:
    """The task has set a value."""

    name: tuple[str, str]
    text: str


@dataclass(frozen=True)
class Finished:
    """The task is done."""

    end: End


class SentValues(MutableMapping[tuple[str, str], str]):
    """The values of a run in the process of a task: what is set is sent at once, lest a crash lose it."""

    def __init__(self, values: Mapping[tuple[str, str], str], connection: Connection) -> None:
        self._values = dict(values)
        self._connection = connection

    def __getitem__(self, name: tuple[str, str]) -> str:
        return self._values[name]

    def __setitem__(self, name: tuple[str, str], text: str) -> None:
        self._values[name] = text
        self._connection.send(Value(name, text))

    def __delitem__(self, name: tuple[str, str]) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
