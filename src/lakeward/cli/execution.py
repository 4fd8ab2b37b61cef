"""The frame of every run: diverted streams, progress, the result, the exit code."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.cli.output_streams import Streams, redirect_output
from lakeward.cli.progress_display import ProgressBoard, Watcher, watching
from lakeward.cli.stream_watch import watching_streams
from lakeward.cli.workspace_on_demand import workspace_on_demand
from lakeward.hints import hints_of
from lakeward.run_files import run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from lakeward.bundle import Bundle
    from lakeward.jobs import JobRun
    from lakeward.pipelines import Update
    from lakeward.session import Settings

PIPED_WIDTH = 120


@dataclass(frozen=True, kw_only=True)
class RunDisplay:
    """What a command shows of a run, around the work itself.

    Attributes:
        title: What runs.
        settings: Settings of the session.
        as_json: Whether to print one JSON object instead of the summary.
        next_commands: Returns the commands to suggest after a completed run.
        stage: The text that is shown until the first event.
        reported: Returns the pipeline whose report is written and named, whatever the run's outcome.
        job: Job whose run is reported, too.
        is_run: Whether something runs; else it is checked alone, and there are no tables to look at.
        watched: Pipelines whose micro-batches are shown, with those of tasks; None shows none.
    """

    title: str
    settings: Settings
    as_json: bool
    next_commands: Callable[[Update | JobRun], Sequence[str]]
    stage: str = ProgressBoard.stage
    reported: Callable[[Update | JobRun], str | None] = lambda _: None
    job: str | None = None
    is_run: bool = True
    watched: Sequence[str] | None = None

    def show(self, result: Update | JobRun, streams: Streams) -> None:
        """Print the result on stdout: one JSON object, or the summary with the paths of its reports."""
        if self.as_json:
            json.dump(result.as_json(), streams.out, ensure_ascii=False)
            streams.out.write("\n")
        else:
            done = result.state == "COMPLETED"
            commands = self.next_commands(result) if done and self.is_run else []
            show_summary(self.title, result, commands, streams, is_run=self.is_run)
            if done and not self.is_run:
                streams.out.write("\nNothing was written. Without --dry-run, the same command runs it.\n")
            self._show_reports(result, streams)

    def _show_reports(self, result: Update | JobRun, streams: Streams) -> None:
        from lakeward.cli.pipeline_reports import write_report, write_run_report

        settings, pipeline, job = self.settings, self.reported(result), self.job
        if pipeline is not None:
            show_report(lambda: write_report(pipeline, settings), streams)
        if job is not None:
            folder = run_folder(settings.jobs, job, str(getattr(result, "run_id", "")))
            show_report(lambda: write_run_report(job, folder, settings), streams)


def execute(
    work: Callable[[Watcher], Update | JobRun], display: RunDisplay, bundle: Bundle | None = None
) -> int:
    """Run `work(on_event)`, show progress on stderr and the result on stdout; return the exit code.

    Code finds the jobs and pipelines of `bundle` in its workspace.
    """
    settings = display.settings
    with redirect_output() as streams:
        board = ProgressBoard(display.title, time.monotonic, display.stage)
        with ExitStack() as stack:
            stack.enter_context(workspace_on_demand(settings, streams.to_stderr, bundle))
            watcher = stack.enter_context(watching(board, streams))
            if display.watched is not None:
                stack.enter_context(watching_streams(settings, display.watched, watcher.batch))
            result = work(watcher)
        display.show(result, streams)
        show_hint(errors_of(result), settings, streams)
    return exit_code(result.state)


def show_report(write: Callable[[], Path | None], streams: Streams) -> None:
    """Write a report and print its path; a failure is a warning, not the run's."""
    from lakeward.cli.pipeline_reports import report_warning

    try:
        path = write()
    except Exception as error:  # noqa: BLE001  the run has its outcome already
        streams.to_stderr(report_warning(error))
    else:
        if path is not None:
            streams.out.write(f"report    {path}\n")


def show_hint(text: str, settings: Settings, streams: Streams) -> None:
    """Print on stderr what explains an error in `text`."""
    for hint in hints_of(text, settings):
        streams.to_stderr(f"  → {hint}\n")


def errors_of(result: Update | JobRun) -> str:
    """Return the errors of a run, its tasks and its datasets."""
    parts = (result, *getattr(result, "tasks", ()), *result.datasets)
    return "\n".join(each.error for each in parts if getattr(each, "error", None))


def exit_code(state: str) -> int:
    """0 done, 1 the run failed, 130 Ctrl-C."""
    return {"COMPLETED": 0, "CANCELED": 130}.get(state, 1)


def show_summary(
    title: str, result: Update | JobRun, commands: Sequence[str], streams: Streams, *, is_run: bool
) -> None:
    """Print the summary on stdout; if stdout is not a terminal, as wide as it needs to be."""
    from rich.console import Console

    from lakeward.cli.summary import as_checked, print_summary, summarize_job, summarize_update
    from lakeward.pipelines import Update

    is_terminal = streams.out.isatty()
    # Rich fills lines with blanks up to the width: a screen shows none of them, a log file has them all.
    out = streams.out if is_terminal else io.StringIO()
    console = Console(file=out, highlight=False, width=None if is_terminal else PIPED_WIDTH)
    result = result if is_run else as_checked(result)
    if isinstance(result, Update):
        summary = summarize_update(title, result, width=console.width)
    else:
        summary = summarize_job(title, result, width=console.width)
    print_summary(console, summary, commands)
    if isinstance(out, io.StringIO):
        streams.out.write("".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines()))
