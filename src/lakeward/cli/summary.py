"""The end of a run: its datasets in a table, the errors in full, and what to try next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lakeward.cli.formatting import STYLES, format_duration, format_kind, format_number, plain

if TYPE_CHECKING:
    from lakeward.jobs import JobRun, TaskResult
    from lakeward.pipelines import DatasetResult, Update

Result = TypeVar("Result", "Update", "DatasetResult", "JobRun", "TaskResult")
SHORTEST_NAME = 12
GAP = 2


def summarize_update(title: str, update: Update, *, width: int) -> RenderableType:
    """Return the result of a pipeline's update: its state, then its datasets."""
    return Group(
        headline(title, update.state, update.seconds),
        *update_body(update, width),
    )


def summarize_job(title: str, run: JobRun, *, width: int) -> RenderableType:
    """Return the result of a job's run: one section per task, with its datasets if it ran a pipeline."""
    parts: list[RenderableType] = [headline(title, run.state, run.seconds)]
    for task in run.tasks:
        parts.append(task_line(task))
        if task.update is not None:
            parts.append(Padding(Group(*update_body(task.update, width - 2)), (0, 0, 0, 2)))
        elif task.error:
            parts.append(error_text(task.error))
    return Group(*parts)


def as_checked(result: Update | JobRun) -> Update | JobRun:
    """Return the result of a dry run with the state CHECKED of what would otherwise seem to have run."""
    from lakeward.pipelines import Update

    if isinstance(result, Update):
        return _checked_update(result)
    tasks = tuple(
        _checked(task if task.update is None else replace(task, update=_checked_update(task.update)))
        for task in result.tasks
    )
    return _checked(replace(result, tasks=tasks))


def _checked_update(update: Update) -> Update:
    return _checked(replace(update, datasets=tuple(map(_checked, update.datasets))))


def _checked(result: Result) -> Result:
    # The states of the results are those of runs: this one is shown alone.
    state: Any = "CHECKED"
    return replace(result, state=state) if result.state in ("COMPLETED", "SUCCESS") else result


def headline(title: str, state: str, seconds: float) -> Text:
    return Text.assemble(
        (title, "bold"), "  ", (state, STYLES.get(state, "")), (f"  {format_duration(seconds)}", "dim")
    )


def task_line(task: TaskResult) -> Text:
    line = Text.assemble(
        ("▸ ", "dim"), (task.task_key, "bold"), "  ", (task.state, STYLES.get(task.state, ""))
    )
    return line.append(f"  {format_duration(task.seconds)}", "dim")


def update_body(update: Update, width: int) -> Iterable[RenderableType]:
    """Return the table of an update and the errors below it."""
    if update.datasets:
        yield table(update.datasets, width)
    failed = [dataset for dataset in update.datasets if dataset.error]
    for dataset in failed:
        yield Text.assemble(
            (dataset.name, "bold"), " ", (dataset.state, STYLES.get(dataset.state, "")), style="none"
        )
        yield error_text(dataset.error or "")
    rest = _without_shown(update.error or "", [dataset.error or "" for dataset in failed])
    if rest:
        yield error_text(rest)


def _without_shown(error: str, shown: Sequence[str]) -> str:
    r"""Return what of an update's error is in none of its datasets' errors: it repeats those.

    >>> _without_shown("a is missing\nb is missing\nc.py cannot be read", ["a is missing", "b is missing"])
    'c.py cannot be read'
    """
    if any(error.strip() in each for each in shown):
        return ""
    for each in sorted(filter(None, map(str.strip, shown)), key=len, reverse=True):
        error = error.replace(each, "")
    return "\n".join(line for line in error.splitlines() if line.strip())


def error_text(error: str) -> RenderableType:
    return Padding(Text(plain(error.strip()), overflow="fold"), (0, 0, 0, 2))


def table(datasets: Sequence[DatasetResult], width: int) -> Table:
    """Dataset, kind, state, rows written, dropped, expectations passed and failed, seconds.

    On a narrow terminal some columns are left out, then names are cut; numbers never are.
    """
    rows = [cells(dataset) for dataset in datasets]
    columns = fit_columns(rows, width)
    shown = Table(box=None, pad_edge=False, header_style="dim", padding=(0, GAP, 0, 0))
    for name in columns:
        full = max(len(name), *(row[name].cell_len for row in rows))
        text = name in ("dataset", "kind", "state")
        shown.add_column(
            name,
            justify="left" if text else "right",
            no_wrap=True,
            overflow="ellipsis",
            min_width=min(full, SHORTEST_NAME) if name == "dataset" else full,
        )
    for row in rows:
        shown.add_row(*(row[name] for name in columns))
    return shown


def fit_columns(rows: Sequence[Mapping[str, Text]], width: int) -> list[str]:
    """Return the columns that there is room for, names being cut to a dozen cells if need be."""
    columns = list(rows[0])
    for dispensable in ("kind", "seconds", "passed", "dropped", "state"):
        full = {name: max(len(name), *(row[name].cell_len for row in rows)) for name in columns}
        full["dataset"] = min(full["dataset"], SHORTEST_NAME)
        if sum(full.values()) + GAP * len(columns) <= width:
            break
        columns.remove(dispensable)
    return columns


def cells(dataset: DatasetResult) -> dict[str, Text]:
    """Return one row by column; a dash for what was not measured, empty for what was not requested."""
    checked = bool(dataset.expectations)
    failed = sum(each.failed for each in dataset.expectations)
    passed = sum(each.passed for each in dataset.expectations)
    ran = dataset.state in ("COMPLETED", "FAILED")
    return {
        "dataset": Text(dataset.name),
        "kind": Text(format_kind(dataset.kind), "dim"),
        "state": Text(dataset.state, STYLES.get(dataset.state, "")),
        "rows written": Text(format_number(dataset.rows_written) if ran else ""),
        "dropped": Text(
            format_number(dataset.dropped) if ran and dataset.dropped is not None else "", "yellow"
        ),
        "passed": Text(format_number(passed) if checked else ""),
        "failed": Text(format_number(failed) if checked else "", "red" if failed else ""),
        "seconds": Text(f"{dataset.seconds:.1f}" if ran else "", "dim"),
    }


def print_summary(console: Console, summary: RenderableType, commands: Sequence[str]) -> None:
    """Print the summary, then the commands to try next, each on a line of its own that can be copied."""
    console.print(summary)
    if commands:
        console.print()
        for number, command in enumerate(commands):
            text = Text.assemble(("try next  " if number == 0 else "          ", "dim"), command)
            console.print(text, soft_wrap=True)
