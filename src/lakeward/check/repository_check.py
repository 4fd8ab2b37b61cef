"""The check of one folder or file, from its files to a report."""

from __future__ import annotations

import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.check.bundles import broken_rules, unread_in_bundle, uses_in_bundle
from lakeward.check.dbt_projects import dbt_projects
from lakeward.check.files import SourceFile, files_below
from lakeward.check.imports import DECLARING_FILES, missing_packages, unmapped_libraries
from lakeward.check.inputs import bundles_needed, files_needed, schemas_needed, settings_needed
from lakeward.check.model import Finding, Place, Report, Unread, Use
from lakeward.check.project import Project
from lakeward.check.requirements import requirements_in
from lakeward.check.source_reader import Unreadable, content_of, uses_in
from lakeward.check.tables import seeds_needed
from lakeward.check.templates import template_reason
from lakeward.check.verdicts import judge_use, knowledge_with, map_with
from lakeward.environments import decoded_text
from lakeward.errors import BundleError, LakewardError
from lakeward.python_grammar import Version, format_version

if TYPE_CHECKING:
    from lakeward.bundle import Bundle

_UNREADABLE = (LakewardError, OSError, ValueError, RecursionError)
_LARGEST_JOB = 500_000
_LARGEST_DECLARATION = 1_000_000
# What a file of jobs refers to that only the rest of its bundle declares.
_OF_BUNDLE = ("VARIABLE_UNKNOWN", "REFERENCE_UNKNOWN")
_JOB_MARKS = (b"notebook_task", b"spark_python_task", b"python_wheel_task", b"pipeline_task", b"sql_task")


def check(
    path: Path,
    *,
    profile: str | None = None,
    target: str | None = None,
    environ: Mapping[str, str] = os.environ,
    clock: Callable[[], float] = time.monotonic,
) -> Report:
    """Check all files at or below `path` without running or importing them.

    `target` is the target of bundles; by default DATABRICKS_BUNDLE_TARGET, else the default target, else all
    targets. The profile is the given one, else that of LAKEWARD_PROFILE, else that of the bundle's compute,
    else the one that the project names or its pins imply, as in `lakeward test`. The report lists files that
    cannot be read.
    """
    began = clock()
    uses: list[Use] = []
    unread: list[Unread] = []
    read: Counter[str] = Counter()
    profiles: list[str] = []
    files = list(files_below(path))
    for file in files:
        found, failures = _read(file, profiles, environ, target)
        failures = _named_templates(file, failures) if failures else failures
        uses += found
        read[file.kind] += not failures and (file.kind != "job" or bool(found))
        unread += failures
    project = Project(path, environ)
    mounts = project.mounts(unread)
    knowledge = knowledge_with(mounts)
    findings = [finding for use in uses if (finding := judge_use(use, knowledge)) is not None]
    findings += seeds_needed(uses, project.tables(unread))
    findings += files_needed(uses, map_with(mounts), project.lakehouses)
    findings += bundles_needed(uses, path)
    texts = _declaring_texts(files)
    findings += settings_needed(uses, texts)
    findings += schemas_needed(uses, texts, project.schemas())
    findings += unmapped_libraries(uses)
    findings += dbt_projects(files, project.base)
    chosen = profile or environ.get("LAKEWARD_PROFILE") or next(iter(profiles), None)
    chosen = chosen or project.runtime(target)
    findings += missing_packages(uses, files, [*texts, *_requirements(uses)], chosen)
    advice, unreadable = _newer_grammar(unread, chosen)
    findings += advice
    for each in unread:
        if each not in unreadable:
            read["notebook" if each.place.file.endswith(".ipynb") else "python"] += 1
    findings.sort(key=lambda finding: (finding.place, finding.construct))
    return Report(
        path=str(path),
        profile=chosen,
        files={kind: count for kind, count in sorted(read.items()) if count},
        findings=tuple(dict.fromkeys(findings)),
        unread=tuple(unreadable),
        seconds=clock() - began,
        base=project.base,
    )


def _requirements(uses: list[Use]) -> list[str]:
    return [use.name for use in uses if use.kind in ("requirement", "install")]


def _declaring_texts(files: list[SourceFile]) -> list[str]:
    """Return the texts of bundles, job files and the project files that name packages and settings."""
    folders = {file.path.parent for file in files if file.kind in ("python", "requirements", "bundle")}
    others = {folder / name for folder in folders for name in DECLARING_FILES}
    paths = {file.path for file in files if file.kind in ("bundle", "job", "requirements")} | others
    texts = []
    for path in sorted(paths):
        with suppress(OSError):
            if path.stat().st_size <= _LARGEST_DECLARATION:
                texts.append(decoded_text(path.read_bytes(), errors="replace"))
    return texts


def _read(
    file: SourceFile, profiles: list[str], environ: Mapping[str, str], target: str | None
) -> tuple[list[Use], list[Unread]]:
    if file.kind == "bundle":
        return _bundle(file, profiles, environ, target)
    if file.kind == "job":
        found, failure = _jobs(file)
    elif file.kind != "requirements":
        found, failure = uses_in(file)
    else:
        try:
            return list(requirements_in(file.name, content_of(file))), []
        except (Unreadable, ValueError) as error:
            return [], [Unread(Place(file.name), str(error))]
    return found, [failure] if failure is not None else []


def _named_templates(file: SourceFile, failures: list[Unread]) -> list[Unread]:
    """Return the failures of a file; those of a template have that reason, once."""
    try:
        text = decoded_text(content_of(file), errors="replace")
    except (Unreadable, ValueError):
        return failures
    named = [replace(each, reason=template_reason(file.path, text, each.reason)) for each in failures]
    return list(dict.fromkeys(named))


def _bundle(
    file: SourceFile, profiles: list[str], environ: Mapping[str, str], target: str | None
) -> tuple[list[Use], list[Unread]]:
    """Return the uses of a bundle's targets, each use and each failure once with the targets that have it."""
    from lakeward.bundle import load_statically, runtime_of, targets_to_read

    folder, prefix = file.path.parent, file.name[: file.name.rfind("/") + 1]
    uses: dict[Use, list[str]] = {}
    reasons: dict[Unread, list[str]] = {}
    names: tuple[str, ...] = ()
    try:
        names = targets_to_read(folder, target, environ)
    except _UNREADABLE as error:
        return [], [Unread(Place(file.name), str(error))]
    for name in names:
        try:
            bundle: Bundle = load_statically(folder, name, environ)
        except _UNREADABLE as error:
            reasons.setdefault(Unread(Place(file.name), str(error)), []).append(name)
            continue
        runtime = runtime_of(bundle)
        if runtime is not None:
            profiles.append(runtime)
        for failure in unread_in_bundle(bundle, prefix):
            reasons.setdefault(failure, []).append(name)
        found = list(uses_in_bundle(bundle, prefix))
        # What the tasks are refused for is said once.
        refused = {use.place for use in found if use.detail is not None}
        rules = broken_rules(bundle, prefix)
        for use in (*found, *(use for use in rules if use.place not in refused)):
            uses.setdefault(use, []).append(name)
    if len(names) == 1:
        return list(uses), list(reasons)
    return (
        [replace(use, targets=tuple(those)) for use, those in uses.items()],
        [
            replace(each, reason=f"target{'s' * (len(those) > 1)} {', '.join(those)}: {each.reason}")
            for each, those in reasons.items()
        ],
    )


def _jobs(file: SourceFile) -> tuple[list[Use], Unread | None]:
    """Return the jobs of a file that stands outside of a bundle; most such files define none."""
    try:
        content = content_of(file)
    except Unreadable:
        return [], None
    if len(content) > _LARGEST_JOB or not any(mark in content for mark in _JOB_MARKS):
        return [], None
    from lakeward.bundle import defines_jobs, find_root, load_jobs

    if find_root(file.path.parent.absolute()) is not None:
        return [], None
    prefix = file.name[: file.name.rfind("/") + 1]
    try:
        if not defines_jobs(file.path):
            return [], None
        bundle = load_jobs(file.path, user="user")
    except BundleError as error:
        # The settings of a single job have no variables to refer to.
        if error.condition in _OF_BUNDLE and b"resources" in content:
            return [Use("needs_bundle", "databricks.yml", Place(file.name), error.message)], None
        return [], Unread(Place(file.name), str(error))
    except _UNREADABLE as error:
        return [], Unread(Place(file.name), str(error))
    return list(uses_in_bundle(bundle, prefix)), None


# The first runtime of each Python, by the release notes, "System environment".
# Source: https://docs.databricks.com/aws/en/release-notes/runtime/
_PYTHONS: tuple[tuple[int, Version], ...] = ((16, (3, 12)), (15, (3, 11)), (13, (3, 10)))


def _python_of(profile: str) -> Version:
    """Return the Python version of a runtime; serverless compute has that of the newest."""
    major = re.match(r"\d+", profile)
    found = int(major[0]) if major else sys.maxsize
    return next((python for first, python in _PYTHONS if found >= first), _PYTHONS[-1][1])


def _newer_grammar(unread: Iterable[Unread], profile: str) -> tuple[list[Finding], list[Unread]]:
    """Turn files that the runtime's Python reads into advice; return the advice and the other files."""
    advice, rest = [], []
    runtime, here = _python_of(profile), sys.version_info[:2]
    for each in unread:
        if each.python is None or each.python > runtime:
            rest.append(each)
            continue
        if each.is_scanned:
            # Its f-strings are compiled on this Python, too.
            continue
        needed = format_version(each.python)
        cure = (
            f"Run lakeward with Python {needed} or later, as runtime {profile} has; this is "
            f"{format_version(here)}, and the code of the file was not looked at."
        )
        advice.append(Finding("differs", f"Python {needed} syntax", each.place, cure))
    return advice, rest
