"""Uses in a bundle: the tasks of its jobs and the sources of its pipelines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.check.model import Kind, Place, Unread, Use
from lakeward.errors import LakewardError

if TYPE_CHECKING:
    from lakeward.bundle import Bundle, Position


_CATALOG_VARIABLE = re.compile(r"(?:^|_)catalog(?:_name)?$", re.IGNORECASE)
_NAME = re.compile(r"[a-z_][\w-]*")


def uses_in_bundle(bundle: Bundle, prefix: str) -> Iterator[Use]:
    """Yield the uses in one target; `prefix` leads from the folder that is checked to the bundle's."""
    from lakeward.bundle import UNASSIGNED, task_kinds
    from lakeward.jobs import tasks_of

    for name, variable in (bundle.config.get("variables") or {}).items():
        if variable.get("value") == UNASSIGNED:
            cure = f"Give it a value: `--var {name}=…`, or the environment variable BUNDLE_VAR_{name}."
            yield Use("task", f"variable {name}", _place(bundle, prefix, "variables", name), cure)
    yield from _catalogs(bundle, prefix)
    for key, job in bundle.jobs.items():
        for number, task in enumerate(job.get("tasks") or ()):
            kinds = task_kinds(task)
            where = _place(bundle, prefix, "resources", "jobs", key, "tasks", number, *kinds[:1])
            try:
                tasks_of(key, {"tasks": [task]})
            except LakewardError as error:
                yield Use("task", f"task {task.get('task_key')}", where, error.message)
                continue
            yield Use("task", kinds[0], where)
    yield from _absent_files(bundle, prefix)
    for key, pipeline in bundle.pipelines.items():
        yield from _sources(bundle, prefix, key, pipeline)


def _catalogs(bundle: Bundle, prefix: str) -> Iterator[Use]:
    """Yield the catalogs that variables name for jobs, and that no resource of the bundle creates here."""
    from lakeward.bundle import UNASSIGNED

    made = {name.lower() for name in bundle.catalogs()}
    seen: set[str] = set()
    has_jobs = bool(bundle.jobs or bundle.unexecuted)
    for name, variable in (bundle.config.get("variables") or {}).items() if has_jobs else ():
        value = str(variable.get("value") or "").lower()
        if not _CATALOG_VARIABLE.search(name) or value in (UNASSIGNED, *made, *seen):
            continue
        if _NAME.fullmatch(value):
            seen.add(value)
            yield Use("needs_catalog", value, _place(bundle, prefix, "variables", name))


def broken_rules(bundle: Bundle, prefix: str) -> Iterator[Use]:
    """Yield what `lakeward bundle validate` refuses in one target, and fields that the platform ignores."""
    from lakeward.bundle import FIELD_TYPE, findings

    for finding in findings(bundle):
        is_error = finding.severity == "error"
        if is_error or (finding.rule in ("unknown-field", FIELD_TYPE) and finding.position is not None):
            kind: Kind = "rule" if is_error else "field"
            cure = f"{finding.message} {finding.cure}"
            yield Use(kind, finding.rule, _place_of(bundle, prefix, finding.position), cure)


def _absent_files(bundle: Bundle, prefix: str) -> Iterator[Use]:
    """Yield tasks whose notebook or file is neither in the repository nor mapped."""
    from lakeward.bundle import missing_files, workspace_paths
    from lakeward.session import MOUNT_ADVICE

    for where, message in missing_files(bundle):
        cure = f"{message[:1].upper()}{message[1:]}"
        yield Use("task", f"{where[-1]}", _place(bundle, prefix, *where), cure)
    for where, message in workspace_paths(bundle):
        if where[1] == "jobs":
            cure = f"{message} {MOUNT_ADVICE}"
            yield Use("task", f"{where[-1]}", _place(bundle, prefix, *where), cure)


def unread_in_bundle(bundle: Bundle, prefix: str) -> Iterator[Unread]:
    """Yield what of a target was not read: resources of Python code, which is not run."""
    if bundle.unexecuted:
        functions = ", ".join(bundle.unexecuted)
        reason = f"Python code defines resources, and `lakeward check` runs none: {functions}. "
        yield Unread(_place(bundle, prefix, "python"), reason + "See `lakeward bundle validate`.")


def _sources(bundle: Bundle, prefix: str, key: str, pipeline: Mapping[str, Any]) -> Iterator[Use]:
    from lakeward.bundle import connector_of
    from lakeward.jobs import sources
    from lakeward.pipelines import SUFFIXES

    where = _place(bundle, prefix, "resources", "pipelines", key, "libraries")
    try:
        files = sources(bundle.root, key, pipeline)
    except LakewardError as error:
        advice = f" {error.next_step}" if connector_of(pipeline) else ""
        yield Use("task", f"pipeline {key}", where, error.message + advice)
        return
    for number, library in enumerate(pipeline.get("libraries") or ()):
        if not any(kind in library for kind in ("glob", "file", "notebook")):
            place = _place(bundle, prefix, "resources", "pipelines", key, "libraries", number)
            known = "glob, file and notebook"
            yield Use(
                "task", f"library {next(iter(library), '')}", place, f"Libraries that are run: {known}."
            )
    for file in files:
        if file.is_file() and file.suffix not in SUFFIXES:
            forms = ", ".join(SUFFIXES)
            cure = f"{file.name} cannot be run as a pipeline source yet; forms that can: {forms}."
            yield Use("task", f"pipeline source {file.suffix}", where, cure)


def _place(bundle: Bundle, prefix: str, *path: str | int) -> Place:
    position: Position | None = None
    while path and position is None:
        position = bundle.position(*path)
        path = path[:-1]
    return _place_of(bundle, prefix, position)


def _place_of(bundle: Bundle, prefix: str, position: Position | None) -> Place:
    if position is None:
        return Place(prefix + "databricks.yml")
    file = Path(position.file)
    name = file.relative_to(bundle.root).as_posix() if file.is_relative_to(bundle.root) else position.file
    return Place(prefix + name, 0, position.line, position.column)
