"""Progress of a run on stderr: a living table on a terminal, one line a change elsewhere; its state."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakeward.cli.formatting import STYLES, format_count, format_duration, format_kind, format_number
from lakeward.cli.output_streams import Streams
from lakeward.cli.stream_watch import batch_text
from lakeward.dbutils import redact
from lakeward.errors import first_line

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from lakeward.jobs import TaskProgress
    from lakeward.pipelines import Progress


class Watcher:
    """Takes the events of a run; `__call__` is what `on_event` wants."""

    def __call__(self, event: Progress | TaskProgress) -> None:
        raise NotImplementedError

    def stage(self, text: str) -> None:
        """Show the current stage of the run as a whole."""
        raise NotImplementedError

    def batch(self, flow: str, batch: dict[str, Any]) -> None:
        """Show a micro-batch of a streaming query."""
        raise NotImplementedError


class LineDisplay(Watcher):
    """One line for every change of a state; one for all datasets of an update that are queued."""

    def __init__(self, board: ProgressBoard, streams: Streams) -> None:
        self.board, self.streams = board, streams
        self._queued = 0

    def __call__(self, event: Progress | TaskProgress) -> None:
        before = self.board.stage
        line = self.board.take(event)
        if line is not None and line.state == "QUEUED":
            self._queued += 1
            return
        if self._queued:
            self.say(f"{format_count(self._queued, 'dataset')} QUEUED")
            self._queued = 0
        if line is not None:
            self.say(describe_state(line, self.board))
        elif self.board.stage != before and not self._is_shown(self.board.stage):
            self.say(self.board.stage)

    def _is_shown(self, stage: str) -> bool:
        """Return whether the stage is the error of a dataset, whose line has it already."""
        failed = (line.message for line in self.board.lines.values() if line.state == "FAILED")
        return any(message and first_line(message) == first_line(stage) for message in failed)

    def stage(self, text: str) -> None:
        self.board.stage = text
        self.say(text)

    def batch(self, flow: str, batch: dict[str, Any]) -> None:
        self.say(batch_text(flow, batch))

    def say(self, text: str) -> None:
        self.streams.to_stderr(f"{self.board.elapsed:7.1f} s  {text}\n")


def describe_state(line: ProgressLine, board: ProgressBoard) -> str:
    """Return one dataset's state as a sentence fragment: `heart_rate COMPLETED, 12 rows, 1.3 s`."""
    facts = [f"{'task ' if line.kind == 'task' else ''}{line.name} {line.state}"]
    if line.state in TERMINAL:
        if line.rows_written is not None:
            facts.append(f"{format_number(line.rows_written)} rows")
        if line.state in ("COMPLETED", "SUCCESS", "FAILED"):
            facts.append(format_duration(board.seconds(line)))
    first = first_line(line.message)
    if first and line.state in ("FAILED", "SKIPPED", "WAITING_FOR_RETRY"):
        facts.append(first)
    return ", ".join(facts)


class LiveDisplay(Watcher):
    """The datasets in a table that redraws itself; other output scrolls by above it."""

    def __init__(self, board: ProgressBoard) -> None:
        self.board = board

    def __call__(self, event: Progress | TaskProgress) -> None:
        self.board.take(event)

    def stage(self, text: str) -> None:
        self.board.stage = text

    def batch(self, flow: str, batch: dict[str, Any]) -> None:
        self.board.batches[flow] = batch

    def __rich_console__(self, console: Console, options: Any) -> Iterator[RenderableType]:
        from rich.text import Text

        board = self.board
        frame = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"[int(board.elapsed * 10) % 10]
        head = Text.assemble((f"{frame} ", "cyan"), (board.title, "bold"), "  ", board.stage)
        head.append(f"  {format_duration(board.elapsed)}", "dim")
        head.truncate(options.max_width, overflow="ellipsis")
        yield head
        if board.lines:
            height = console.size.height - 4 - len(board.batches)
            yield live_table(board, options.max_width, most=max(3, height))
        for flow, batch in board.batches.copy().items():
            yield Text(f"  {batch_text(flow, batch)}", style="dim", no_wrap=True, overflow="ellipsis")


def live_table(board: ProgressBoard, width: int, most: int) -> RenderableType:
    """Return a table of up to `most` datasets; finished ones are left out first, and counted instead."""
    from rich.table import Table

    shown = list(board.lines.values())
    done = [line for line in shown if line.state in TERMINAL and line.state != "FAILED"]
    hidden = done[: max(0, len(shown) - most + 1)] if len(shown) > most else []
    rest = [line for line in shown if line not in hidden][:most]
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, overflow="ellipsis")
    if width >= 60:
        table.add_column(no_wrap=True, style="dim")
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(justify="right", no_wrap=True, style="dim")
    if hidden:
        table.add_row(f"  {len(hidden)} more are done")
    for line in rest:
        indent = "▸ " if line.kind == "task" else "  "
        cells = [f"{indent}{line.name}", format_kind(line.kind)][: 2 if width >= 60 else 1]
        rows = f"{format_number(line.rows_written)} rows" if line.rows_written is not None else ""
        began = line.since is not None or line.state in TERMINAL
        state = f"[{STYLES.get(line.state, '')}]{line.state.lower()}[/]" if line.state else ""
        table.add_row(*cells, state, rows, format_duration(board.seconds(line)) if began else "")
    return table


@contextmanager
def watching(board: ProgressBoard, streams: Streams) -> Iterator[Watcher]:
    """Yield the watcher that suits stderr, for the time of a run; nothing of the living table stays."""
    if not streams.err.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        watcher = LineDisplay(board, streams)
        watcher.say(f"{board.title}: {board.stage}")
        yield watcher
        return

    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=streams.err, highlight=False)
    living = LiveDisplay(board)
    options: dict[str, Any] = {"redirect_stdout": False, "redirect_stderr": False, "transient": True}
    with Live(living, console=console, refresh_per_second=10, **options):
        streams.show = lambda text: console.print(Text.from_ansi(redact(text.rstrip("\n"))))
        try:
            yield living
        finally:
            streams.show = streams.to_stderr


TERMINAL = frozenset({"COMPLETED", "SUCCESS", "FAILED", "SKIPPED", "EXCLUDED", "CANCELED"})


@dataclass
class ProgressLine:
    """The state of one dataset, or of one task (its kind is `task`); `since` is when it began to run."""

    name: str
    kind: str
    state: str = ""
    rows_written: int | None = None
    message: str = ""
    since: float | None = None
    seconds: float = 0.0


@dataclass
class ProgressBoard:
    """The tasks and datasets of a run in the order of their first event, and the stage that it is in.

    A dataset belongs to the task that was running when it was first heard of; the key of `lines` is
    (task, dataset), with an empty dataset for the task itself. `batches` holds the last micro-batch of each
    flow that is watched.
    """

    title: str
    clock: Callable[[], float]
    stage: str = "starting Spark …"
    lines: dict[tuple[str, str], ProgressLine] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    task: str = ""
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the board was made."""
        return self.clock() - self.began

    def seconds(self, line: ProgressLine) -> float:
        """Return how long the line took, or has been running up to now."""
        if line.state in TERMINAL or line.since is None:
            return line.seconds
        return self.clock() - line.since

    def take(self, event: Progress | TaskProgress) -> ProgressLine | None:
        """Apply one event; the line whose *state* it changed, or None.

        An event without a dataset speaks of the whole update: its message becomes the stage.
        """
        from lakeward.jobs import TaskProgress

        if isinstance(event, TaskProgress):
            return self.take_task(event)
        return self.take_dataset(event)

    def take_task(self, event: TaskProgress) -> ProgressLine | None:
        key = self.task = event.task_key
        self.stage = f"task {key}" if event.state == "RUNNING" else self.stage
        line = self.lines.setdefault((key, ""), ProgressLine(key, "task"))
        line.message = event.message
        return line if self.move(line, event.state, event.seconds) else None

    def take_dataset(self, event: Progress) -> ProgressLine | None:
        if not event.dataset:
            self.stage = event.message or event.state.lower()
            return None
        line = self.lines.setdefault((self.task, event.dataset), ProgressLine(event.dataset, event.kind))
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

    def move(self, line: ProgressLine, state: str, seconds: float) -> bool:
        """Set the state of the line; return whether it changed."""
        if line.since is None and state == "RUNNING":
            line.since = self.clock()
        if state in TERMINAL and line.state != state:
            line.seconds = seconds or self.seconds(line)
        changed, line.state = line.state != state, state
        return changed
