"""State of a run in progress, updated by events; rendering is separate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakeward.jobs import TaskProgress
    from lakeward.pipelines import Progress

TERMINAL = frozenset({"COMPLETED", "SUCCESS", "FAILED", "SKIPPED", "EXCLUDED", "CANCELED"})


@dataclass
class Line:
    """The state of one dataset, or of one task (its kind is `task`); `since` is when it began to run."""

    name: str
    kind: str
    state: str = ""
    rows_written: int | None = None
    message: str = ""
    since: float | None = None
    seconds: float = 0.0


@dataclass
class Board:
    """The tasks and datasets of a run in the order of their first event, and the stage that it is in.

    A dataset belongs to the task that was running when it was first heard of; the key of `lines` is
    (task, dataset), with an empty dataset for the task itself. `batches` holds the last micro-batch of each
    flow that is watched.
    """

    title: str
    clock: Callable[[], float]
    stage: str = "starting Spark …"
    lines: dict[tuple[str, str], Line] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    task: str = ""
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the board was made."""
        return self.clock() - self.began

    def seconds(self, line: Line) -> float:
        """Return how long the line took, or has been running up to now."""
        if line.state in TERMINAL or line.since is None:
            return line.seconds
        return self.clock() - line.since

    def take(self, event: Progress | TaskProgress) -> Line | None:
        """Apply one event; the line whose *state* it changed, or None.

        An event without a dataset speaks of the whole update: its message becomes the stage.
        """
        from lakeward.jobs import TaskProgress

        if isinstance(event, TaskProgress):
            return self.take_task(event.task_key, event.state, event.seconds)
        return self.take_dataset(event)

    def take_task(self, key: str, state: str, seconds: float) -> Line | None:
        self.task = key
        self.stage = f"task {key}" if state == "RUNNING" else self.stage
        line = self.lines.setdefault((key, ""), Line(key, "task"))
        return line if self.move(line, state, seconds) else None

    def take_dataset(self, event: Progress) -> Line | None:
        if not event.dataset:
            self.stage = event.message or event.state.lower()
            return None
        line = self.lines.setdefault((self.task, event.dataset), Line(event.dataset, event.kind))
        line.kind = event.kind or line.kind
        line.message = event.message
        if event.rows_written is not None:
            line.rows_written = event.rows_written
        if not self.move(line, event.state, event.seconds):
            return None
        if line.state == "RUNNING" or line.state in TERMINAL:
            mine = [each for (task, name), each in self.lines.items() if name and task == self.task]
            self.stage = f"{sum(each.state in TERMINAL for each in mine)} of {len(mine)} datasets done"
        return line

    def move(self, line: Line, state: str, seconds: float) -> bool:
        """Put the line into a state; whether it is another one than before."""
        if line.since is None and state == "RUNNING":
            line.since = self.clock()
        if state in TERMINAL and line.state != state:
            line.seconds = seconds or self.seconds(line)
        changed, line.state = line.state != state, state
        return changed
