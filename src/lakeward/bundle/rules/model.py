"""What a rule is, what it finds, and how rules look at a bundle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from lakeward.bundle.model import Bundle
from lakeward.bundle.node import Key, Path, Position

__all__ = ["Breach", "Finding", "Rule", "Task", "place_of", "tasks"]

Breach: TypeAlias = "tuple[Path, str]"
"""Where a rule is broken and, in a sentence, how."""


@dataclass(frozen=True)
class Rule:
    """One thing that a deployment or a run would refuse, and that can be told without a workspace."""

    name: str
    severity: Literal["error", "warning"]
    what: str
    cure: str
    breaches: Callable[[Bundle], Iterable[Breach]]


@dataclass(frozen=True)
class Finding:
    """A rule that the bundle breaks, and where."""

    rule: str
    severity: Literal["error", "warning"]
    position: Position | None
    message: str
    cure: str

    def as_json(self) -> dict[str, Any]:
        """Return the object that `validate -o json` prints for it."""
        place = self.position
        return {
            "rule": self.rule,
            "severity": self.severity,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "column": place.column if place else None,
            "message": self.message,
            "next_step": self.cure,
        }

    def __str__(self) -> str:
        """Return what people read: place, sentence, cure and the rule's name."""
        where = f"{self.position}: " if self.position else ""
        return f"{self.severity}: {where}{self.message} {self.cure} [{self.rule}]"


@dataclass(frozen=True)
class Task:
    """A task of a job, also one inside of a `for_each_task`, and where it stands."""

    job: str
    path: Path
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"the task `{self.settings.get('task_key', '?')}` of the job {self.job}"

    @property
    def kinds(self) -> list[str]:
        """The keys of its settings that say what it runs."""
        return [name for name in self.settings if name.endswith("_task") and self.settings[name] is not None]


def tasks(bundle: Bundle) -> Iterator[Task]:
    """Yield the tasks of all jobs, each followed by the one that it repeats."""
    for key, job in bundle.jobs.items():
        for number, settings in enumerate(job.get("tasks") or ()):
            if not isinstance(settings, Mapping):
                continue
            path: Path = ("resources", "jobs", key, "tasks", number)
            yield Task(key, path, settings)
            inner = (settings.get("for_each_task") or {}).get("task")
            if isinstance(inner, Mapping):
                yield Task(key, (*path, "for_each_task", "task"), inner)


def place_of(bundle: Bundle, path: Path) -> Position | None:
    """Return where `path`, or the nearest thing above it, is written."""
    steps: tuple[Key, ...] = path
    while steps:
        found = bundle.position(*steps)
        if found is not None:
            return found
        steps = steps[:-1]
    return None
