"""Rules: their declaration, and what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lakeward.bundle.configuration.node import Key, Path, Position
from lakeward.bundle.resolved_bundle import Bundle, task_kinds

Breach: TypeAlias = "tuple[Path, str]"
"""The path of the setting that breaks a rule, and a sentence about it."""


@dataclass(frozen=True)
class Rule:
    """A condition that a deployable bundle satisfies, and that needs no workspace to check.

    Attributes:
        name: Shown with every finding, and the row of docs/bundle.md.
        holds: The condition, as a sentence.
        fix: What to do about a breach.
        check: Yields the breaches; by default none, since the loader reports them as `Bundle.notices`.
        severity: An error fails at deployment or run time; a warning works but is probably unintended.
        is_local: A warning about local deployments alone.
    """

    name: str
    holds: str
    fix: str
    check: Callable[[Bundle], Iterable[Breach]] = lambda _: ()
    severity: Literal["error", "warning"] = "error"
    is_local: bool = False


@dataclass(frozen=True)
class Task:
    """A task of a job, also one nested in a `for_each_task`, and its path."""

    job: str
    path: Path
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return the name in messages."""
        return f"the task `{self.settings.get('task_key', '?')}` of the job {self.job}"

    @property
    def kinds(self) -> list[str]:
        """Return the keys of its settings that define what it runs."""
        return task_kinds(self.settings)


def tasks(bundle: Bundle) -> Iterator[Task]:
    """Yield the tasks of all jobs, each followed by its nested task."""
    for key, job in bundle.jobs.items():
        for number, settings in enumerate(job.get("tasks") or ()):
            if not isinstance(settings, Mapping):
                continue
            path: Path = ("resources", "jobs", key, "tasks", number)
            yield Task(key, path, settings)
            inner = (settings.get("for_each_task") or {}).get("task")
            if isinstance(inner, Mapping):
                yield Task(key, (*path, "for_each_task", "task"), inner)


def position_of(bundle: Bundle, path: Path) -> Position | None:
    """Return the position of `path`, or of its nearest parent in the files."""
    steps: tuple[Key, ...] = path
    while steps:
        found = bundle.position(*steps)
        if found is not None:
            return found
        steps = steps[:-1]
    return None
