"""The check of one folder or file, from its files to a report."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.check.bundles import UNASSIGNED, uses_in_bundle
from lakeward.check.files import SourceFile, files_below
from lakeward.check.knowledge import KNOWLEDGE, judged
from lakeward.check.model import Place, Report, Unread, Use
from lakeward.check.reading import Unreadable, content_of, uses_in
from lakeward.check.requirements import requirements_in
from lakeward.check.tables import seeds_needed
from lakeward.errors import ConfigurationError, LakewardError

if TYPE_CHECKING:
    from lakeward.bundle import Bundle

__all__ = ["check"]

_LARGEST_JOB = 500_000
_JOB_MARKS = (b"notebook_task", b"spark_python_task", b"python_wheel_task", b"pipeline_task", b"sql_task")


def check(
    path: Path,
    *,
    profile: str | None = None,
    environ: Mapping[str, str] = os.environ,
    clock: Callable[[], float] = time.monotonic,
) -> Report:
    """Look through everything at or below `path`; nothing of it is run or imported.

    The profile is the given one, that of LAKEWARD_PROFILE, or what the bundle's compute is; without any
    what the project names or its pins choose, as `lakeward test` has it. What cannot be read is told
    in the report.
    """
    began = clock()
    uses: list[Use] = []
    unread: list[Unread] = []
    read: Counter[str] = Counter()
    profiles: list[str] = []
    for file in files_below(path):
        found, failure = _read(file, profiles, environ)
        uses += found
        read[file.kind] += failure is None and (file.kind != "job" or bool(found))
        if failure is not None:
            unread.append(failure)
    findings = [finding for use in uses if (finding := judged(use, KNOWLEDGE)) is not None]
    findings += seeds_needed(uses, _seeds(path, unread))
    findings.sort(key=lambda finding: (finding.place, finding.construct))
    chosen = profile or environ.get("LAKEWARD_PROFILE") or next(iter(profiles), None)
    return Report(
        path=str(path),
        profile=chosen or _of_bundle_above(path, environ) or _of_project(path),
        files={kind: count for kind, count in sorted(read.items()) if count},
        findings=tuple(dict.fromkeys(findings)),
        unread=tuple(unread),
        seconds=clock() - began,
        base=_base(path),
    )


def _base(path: Path) -> str:
    folder = path if path.is_dir() else path.parent
    return "" if folder == Path() else f"{folder.as_posix().rstrip('/')}/"


def _of_bundle_above(path: Path, environ: Mapping[str, str]) -> str | None:
    """The runtime of the bundle that `path` is a part of."""
    from lakeward.bundle import find_root, load, runtime_of

    root = find_root(path.absolute())
    if root is None:
        return None
    try:
        return runtime_of(load(root, environ=environ, assumed=UNASSIGNED))
    except (LakewardError, OSError, ValueError, RecursionError):
        return None


def _seeds(path: Path, unread: list[Unread]) -> list[str]:
    """The tables that are there already, in a lakehouse of the project or as a declared seed."""
    from lakeward.seeds import declared_seeds
    from lakeward.session import Settings

    try:
        settings = Settings.here(path if path.is_dir() else path.parent, environ={})
        declared = [str(name) for name in declared_seeds(settings)]
    except LakewardError as error:
        if error.condition == "SEED_DECLARATION_INVALID":
            unread.append(Unread(Place("pyproject.toml"), str(error)))
        return []
    tables = settings.home.glob("*/warehouse/*/*/*/_delta_log")
    return declared + [".".join(table.parts[-4:-1]) for table in tables]


def _of_project(path: Path) -> str:
    """The runtime that the project names or its pins choose, else the default.

    A file of the project that cannot be read chooses none.
    """
    from lakeward.environments import pinned_by
    from lakeward.session import DEFAULT_PROFILE, Settings, project_table

    whole = path.absolute()
    try:
        profile = Settings.here(whole, environ={}).profile
        pinned = None if project_table(whole).get("runtime") else pinned_by(whole)
        return pinned.runtime if pinned else profile
    except ConfigurationError:
        return DEFAULT_PROFILE


def _read(
    file: SourceFile, profiles: list[str], environ: Mapping[str, str]
) -> tuple[list[Use], Unread | None]:
    if file.kind == "bundle":
        return _bundle(file, profiles, environ)
    if file.kind == "job":
        return _jobs(file)
    if file.kind != "requirements":
        return uses_in(file)
    try:
        return list(requirements_in(file.name, content_of(file))), None
    except (Unreadable, ValueError) as error:
        return [], Unread(Place(file.name), str(error))


def _bundle(
    file: SourceFile, profiles: list[str], environ: Mapping[str, str]
) -> tuple[list[Use], Unread | None]:
    from lakeward.bundle import load, runtime_of

    prefix = file.name.rpartition("/")[0]
    try:
        bundle: Bundle = load(file.path.parent, environ=environ, assumed=UNASSIGNED)
    except (LakewardError, OSError, ValueError, RecursionError) as error:
        return [], Unread(Place(file.name), str(error))
    runtime = runtime_of(bundle)
    if runtime is not None:
        profiles.append(runtime)
    return list(uses_in_bundle(bundle, f"{prefix}/" if prefix else "")), None


def _jobs(file: SourceFile) -> tuple[list[Use], Unread | None]:
    """The jobs of a file that stands outside of a bundle; most such files define none."""
    try:
        content = content_of(file)
    except Unreadable:
        return [], None
    if len(content) > _LARGEST_JOB or not any(mark in content for mark in _JOB_MARKS):
        return [], None
    from lakeward.bundle import find_root, load_jobs

    if find_root(file.path.parent.absolute()) is not None:
        return [], None
    prefix = file.name.rpartition("/")[0]
    try:
        bundle = load_jobs(file.path, user="user")
    except (LakewardError, OSError, ValueError, RecursionError) as error:
        return [], Unread(Place(file.name), str(error))
    return list(uses_in_bundle(bundle, f"{prefix}/" if prefix else "")), None
