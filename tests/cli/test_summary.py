"""The end of a run as text."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from lakeward.cli.next_steps import next_commands
from lakeward.cli.summary import as_checked, print_summary, summarize_job, summarize_update
from lakeward.jobs import JobRun, TaskResult
from lakeward.pipelines import Update


def printed(make: Any, value: Any, *, width: int = 120, commands: tuple[str, ...] = ()) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    print_summary(console, make("orders · dev", value, width=width), commands)
    text = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO above
    assert isinstance(text, str)
    return "\n".join(line.rstrip() for line in text.splitlines())


def row(text: str, name: str) -> str:
    """The cells of a line, with `|` between them."""
    line = next(line for line in text.splitlines() if line.startswith(name))
    return "|".join(re.split(r"\s{2,}", line.strip()))


def test_every_dataset_has_its_numbers(done: Update) -> None:
    text = printed(summarize_update, done)
    assert "orders · dev  COMPLETED  4.2 s" in text
    assert row(text, "dataset") == "dataset|kind|state|rows written|dropped|passed|failed|seconds"
    assert row(text, "heart_rate") == "heart_rate|streaming table|COMPLETED|1,000|12|2,012|12|1.0"
    assert row(text, "bronze") == "bronze|streaming table|COMPLETED|1,234,567|2.3"


def test_a_number_that_is_not_known_is_a_dash_and_never_zero(broken: Update) -> None:
    assert row(printed(summarize_update, broken), "workouts") == "workouts|streaming table|FAILED|–|0.7"


def test_a_failure_is_reported_in_full_below_the_table_and_a_skipped_dataset_with_its_cause(
    broken: Update,
) -> None:
    text = printed(summarize_update, broken)
    assert "workouts FAILED\n  [EXPECTATION_FAILED] valid_user: user_id IS NOT NULL\n" in text
    assert "  record: {user_id: NULL, session_id: 7}" in text
    assert "workout_bpm SKIPPED\n  workouts has failed." in text


def test_an_error_of_a_dataset_is_printed_once(broken: Update) -> None:
    from dataclasses import replace

    errors = [f"[X] {name}.py:1: `{name}_raw` cannot be found\n    def {name}(): …" for name in ("a", "ab")]
    datasets = [replace(broken.datasets[0], name=text[4:6], state="FAILED", error=text) for text in errors]
    whole = "\n".join([errors[0], "[Y] c.py:2: cannot be read\n    import c", errors[1]])
    text = printed(summarize_update, replace(broken, datasets=tuple(datasets), error=whole))
    assert [text.count(part) for part in ("a_raw", "ab_raw", "def a()", "def ab()")] == [1, 1, 1, 1]
    assert "  [Y] c.py:2: cannot be read\n      import c" in text


def test_a_job_has_a_section_for_each_task(job: JobRun) -> None:
    text = printed(summarize_job, job)
    marks = [line for line in text.splitlines() if line.startswith("▸")]
    assert [line.split()[1:3] for line in marks] == [
        ["land", "SUCCESS"],
        ["refresh", "FAILED"],
        ["check", "SKIPPED"],
    ]
    assert "It depends on refresh" in text
    assert text.count("[EXPECTATION_FAILED]") == 1


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(done: Update, width: int) -> None:
    text = printed(summarize_update, done, width=width)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert "1,234,567" in text


def test_commands_to_try_are_on_one_line_each_even_on_a_narrow_terminal(done: Update) -> None:
    command = 'lakeward sql -t dev -e "select * from workout_bpm_summary limit 5"'
    assert command in printed(summarize_update, done, width=40, commands=(command,))


def test_the_next_commands_look_at_the_last_gold_table_and_at_the_events(done: Update) -> None:
    assert next_commands(done.datasets, prefix="", target="dev", events_of="wearables") == [
        'lakeward sql -t dev -e "select * from workout_bpm_summary limit 5"',
        "lakeward report wearables -t dev",
        "lakeward events wearables -t dev",
    ]
    assert next_commands(done.datasets, prefix="a.b.", target=None, events_of=None) == [
        'lakeward sql -e "select * from a.b.workout_bpm_summary limit 5"'
    ]


@pytest.mark.parametrize(
    ("prefix", "name", "expected"),
    [
        ("a.b.", "t", "a.b.t"),
        ("a.b.", "s.t", "a.s.t"),
        ("a.b.", "c.s.t", "c.s.t"),
        ("", "t", "t"),
        ("", "s.t", "s.t"),
        ("", "c.s.t", "c.s.t"),
    ],
)
def test_the_next_command_completes_a_name_by_what_it_lacks(
    done: Update, prefix: str, name: str, expected: str
) -> None:
    from dataclasses import replace

    table = replace(done.datasets[0], kind="streaming_table", state="COMPLETED", name=name)
    assert next_commands([table], prefix=prefix, target=None, events_of=None) == [
        f'lakeward sql -e "select * from {expected} limit 5"'
    ]


def test_control_characters_of_an_error_do_not_reach_the_terminal(broken: Update) -> None:
    from dataclasses import replace

    evil = replace(broken, error="boom \x1b[2J")
    assert "\x1b" not in printed(summarize_update, evil)


def test_what_a_dry_run_checked_has_not_completed(done: Update, broken: Update) -> None:
    text = printed(summarize_update, as_checked(done))
    assert "orders · dev  CHECKED  4.2 s" in text
    assert {line.split("|")[2] for line in (row(text, each.name) for each in done.datasets)} == {"CHECKED"}
    assert "COMPLETED" not in text
    tasks = (TaskResult("a", "SUCCESS", update=done), TaskResult("b", "EXCLUDED"))
    text = printed(summarize_job, as_checked(JobRun("1", "COMPLETED", tasks, 1.0, {})))
    assert "COMPLETED" not in text and "SUCCESS" not in text and "EXCLUDED" in text
    assert "FAILED" in printed(summarize_update, as_checked(broken))
