"""`lakeward doctor [SUBJECT]`: what makes tables and pipelines slow, and the statements that fix it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.formatting import format_count, plain
from lakeward.cli.options import GivenPath, bundle_options, cold_option, verbose_option
from lakeward.errors import UsageError

if TYPE_CHECKING:
    from lakeward.doctor import Diagnosis, Examination
    from lakeward.report import StoredEvents
    from lakeward.session import Settings


@click.command(short_help="Find what makes tables and pipelines slow.")
@click.argument("subject", required=False, metavar="[TABLE|KEY|RUN|FOLDER]")
@bundle_options
@click.option(
    "--spark-events",
    "spark_events",
    type=GivenPath(),
    help="Examine the queries of an event log of Spark instead: a file, or a folder of them.",
)
@click.option(
    "--apply", "apply_fixes", is_flag=True, help="Run the fixes that keep all rows and all history."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout, nothing else.")
@cold_option
@verbose_option
def doctor(
    subject: str | None,
    target: str | None,
    variables: dict[str, str],
    spark_events: Path | None,
    apply_fixes: bool,
    as_json: bool,
) -> int:
    """Find what makes a table or a pipeline slow: small files, missing statistics, full recomputation …

    SUBJECT is a table, a pipeline's key, the run of a job, or a folder with a Delta table; without it all
    tables and pipelines of the target. Logs are read without Spark; only --apply starts it. Exit code 1:
    something was found.
    """
    from lakeward.cli.command_context import find_context
    from lakeward.doctor import Examination, examine_spark_events

    if spark_events is not None:
        if subject is not None or apply_fixes:
            raise UsageError(
                "USAGE",
                "--spark-events was given with a subject or --apply, and fixes of queries are edits.",
                next_step="Leave the other one out.",
            )
        examination = Examination()
        examine_spark_events(examination, spark_events)
        return show(examination, [], as_json=as_json)
    settings = find_context(target, variables).settings
    examination = Examination()
    examine(examination, settings, subject)
    applied: list[dict[str, Any]] = []
    if apply_fixes:
        applied = apply_safe(examination, settings)
        examination = Examination()
        examine(examination, settings, subject)
    return show(examination, applied, as_json=as_json)


def show(examination: Examination, applied: list[dict[str, Any]], *, as_json: bool) -> int:
    """Print an examination and return the exit code."""
    if as_json:
        click.echo(json.dumps({**examination.as_json(), "applied": applied}, ensure_ascii=False))
    else:
        for line in report_lines(examination, applied):
            click.echo(plain(line, keep=""))
    return 0 if examination.is_healthy and not any("error" in each for each in applied) else 1


def examine(examination: Examination, settings: Settings, subject: str | None) -> None:
    """Examine what the argument means. Raises UsageError if it is not a table, pipeline, run or folder."""
    from lakeward.doctor import (
        examine_pipeline,
        examine_table,
        find_external_tables,
        find_tables,
    )

    if subject is not None and (Path(subject) / "_delta_log").is_dir():
        examine_table(examination, Path(subject))
        return
    places: dict[tuple[str, str, str], Path] = {
        name: settings.warehouse.joinpath(*name)
        for name in find_tables(settings.warehouse)
        if not name[-1].startswith("__private_")
    }
    places.update(find_external_tables(settings.warehouse))
    storages = sorted(settings.pipelines.glob("*/")) if settings.pipelines.is_dir() else []
    if subject is None:
        found = _Subjects(list(places), dict.fromkeys(storages))
    else:
        found = _find_subjects(subject, settings, list(places), storages)
    for name in found.tables:
        examine_table(examination, places[name], name)
    for storage, stored in found.pipelines.items():
        examine_pipeline(examination, storage, stored)


@dataclass(frozen=True)
class _Subjects:
    """What is examined.

    Attributes:
        tables: Names of tables.
        pipelines: Storages of pipelines, with their events if they are read.
    """

    tables: list[tuple[str, str, str]]
    pipelines: Mapping[Path, StoredEvents | None]


def _find_subjects(
    subject: str, settings: Settings, tables: list[tuple[str, str, str]], storages: Sequence[Path]
) -> _Subjects:
    """Return the tables with the name `subject`, or the pipelines with what they write. Raises UsageError."""
    from lakeward.doctor import stored_updates, written_datasets
    from lakeward.suggestions import did_you_mean

    names = (subject, *_pipelines_of_run(settings, subject))
    pipelines = {storage: stored_updates(storage) for storage in storages if storage.name in names}
    parts = tuple(part.strip("`").lower() for part in subject.split("."))
    named = [each for each in tables if tuple(map(str.lower, each[-len(parts) :])) == parts]
    for stored in pipelines.values():
        written = written_datasets(stored)
        named += [each for each in tables if ".".join(each).lower() in written and each not in named]
    if not pipelines and not named:
        known = [*(".".join(each) for each in tables), *(each[-1] for each in tables)]
        raise UsageError(
            "SUBJECT_NOT_FOUND",
            f"`{subject}` is not a table, pipeline or run of the target {settings.target}, and not a "
            "folder with a Delta table.",
            next_step=did_you_mean(subject, [*known, *(each.name for each in storages)])
            or "Leave it out to examine all tables and pipelines of the target.",
        )
    return _Subjects(named, pipelines)


def _pipelines_of_run(settings: Settings, subject: str) -> list[str]:
    """Return the pipelines that a run of a job has updated; empty if it is not a run."""
    from lakeward.report import run_pipelines

    folders = settings.jobs.glob("*/runs/*") if settings.jobs.is_dir() else ()
    return [name for folder in folders if folder.name == subject for name in run_pipelines(folder)]


def apply_safe(examination: Examination, settings: Settings) -> list[dict[str, Any]]:
    """Run the statements of safe findings; a failure is reported and the others run."""
    from lakeward.cli.output_streams import redirect_output
    from lakeward.session import message_of, session

    pending = [(each, text) for each in examination.diagnoses for text in each.statements]
    if not pending:
        return []
    applied: list[dict[str, Any]] = []
    with redirect_output():
        spark = session(settings)
        for diagnosis, text in pending:
            done = {"finding": diagnosis.finding, "subject": diagnosis.subject, "statement": text}
            try:
                spark.sql(text).collect()
            except Exception as error:  # noqa: BLE001  one table that cannot be changed must not stop the others
                done["error"] = message_of(error) or str(error)
            applied.append(done)
    return applied


def report_lines(examination: Examination, applied: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the lines of the report for people."""
    for done in applied:
        yield f"{'failed' if 'error' in done else 'applied'}  {done['statement']}"
        if "error" in done:
            yield f"    {str(done['error']).partition(chr(10))[0]}"
    for diagnosis in examination.diagnoses:
        yield from diagnosis_lines(diagnosis)
    for subject, reason in examination.unreadable.items():
        yield f"{subject}: not examined"
        yield f"    {reason}"
    count, subjects = len(examination.diagnoses), examination.subjects
    if not subjects:
        yield "Nothing to examine: there is no table and no pipeline that has run."
        return
    safe = sum(bool(each.statements) for each in examination.diagnoses)
    place = subjects[0] if len(subjects) == 1 else f"{len(subjects)} tables and pipelines"
    text = f"{format_count(count, 'finding')} in {place}"
    yield f"{text}; `--apply` fixes {safe} of them" if safe else text


def diagnosis_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the lines of one finding: what, the figures, what the fix changes, the fix."""
    from lakeward.doctor import FINDINGS

    yield f"{diagnosis.subject}: {FINDINGS[diagnosis.finding].title} [{diagnosis.finding}]"
    yield "    " + ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in diagnosis.shown().items())
    yield f"    {diagnosis.gain}"
    for text in diagnosis.fix:
        yield f"  → {text}"
