"""Rules on the files that tasks and pipelines name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lakeward.bundle.configuration.node import Key
from lakeward.bundle.git_sources import is_from_git
from lakeward.bundle.resolved_bundle import NOTEBOOK_SUFFIXES, Bundle, connector_of
from lakeward.bundle.rules.rule import Breach, Task, tasks
from lakeward.errors import ConfigurationError
from lakeward.session import find_platform_file, find_platform_sources, is_platform_path

_MARKERS = {
    ".py": "# Databricks notebook source",
    ".sql": "-- Databricks notebook source",
    ".scala": "// Databricks notebook source",
}
_ELSEWHERE = ("/", "dbfs:", "s3:", "abfss:", "gs:", "file:", "http:", "https:", "{{")
_NOTEBOOK = ("notebook_task", "notebook_path")
# Where tasks name a file, and the extensions that its path in a workspace may lack.
_SETTINGS: dict[tuple[str, ...], tuple[str, ...]] = {
    _NOTEBOOK: (".py", ".sql", ".ipynb"),
    ("spark_python_task", "python_file"): (".py",),
    ("sql_task", "file", "path"): (".sql",),
}


def _task_files(bundle: Bundle) -> Iterator[tuple[Task, tuple[str, ...], str]]:
    """Yield task, setting and path of each file of a task that is no Git source; "" without a path."""
    for task in tasks(bundle):
        for setting in _SETTINGS:
            *parents, last = setting
            spec: Any = task.settings
            for key in parents:
                spec = spec.get(key) if isinstance(spec, Mapping) else None
            if isinstance(spec, Mapping) and not is_from_git(bundle.jobs[task.job], spec):
                yield task, setting, str(spec.get(last) or "")


def _sources(bundle: Bundle) -> Iterator[tuple[str, tuple[Key, ...], str]]:
    """Yield pipeline, position and path of each source that a pipeline names."""
    for key, pipeline in bundle.pipelines.items():
        for number, library in enumerate(pipeline.get("libraries") or ()):
            for kind, field in (("glob", "include"), ("file", "path"), ("notebook", "path")):
                name = str((library.get(kind) or {}).get(field) or "")
                if name:
                    yield key, ("resources", "pipelines", key, "libraries", number, kind, field), name


def notebooks(bundle: Bundle) -> Iterator[Breach]:
    """Yield notebooks that are not in the bundle."""
    for task, setting, name in _task_files(bundle):
        if setting == _NOTEBOOK and (not name or (_is_local(name) and _notebook(bundle.root, name) is None)):
            yield (*task.path, *setting), f"{task.name} runs the notebook `{name}`, which does not exist."


def notebook_markers(bundle: Bundle) -> Iterator[Breach]:
    """Yield source files that run as notebooks without the marker."""
    for task, setting, name in _task_files(bundle):
        is_local = setting == _NOTEBOOK and name and _is_local(name)
        file = _notebook(bundle.root, name) if is_local else None
        marker = _MARKERS.get(file.suffix) if file else None
        if file is None or marker is None:
            continue
        with file.open(encoding="utf-8", errors="replace") as lines:
            first = lines.readline().rstrip()
        if first != marker:
            message = f"{task.name} runs `{name}` as a notebook, whose first line is not `{marker}`."
            yield (*task.path, *setting), message


def files(bundle: Bundle) -> Iterator[Breach]:
    """Yield Python and SQL files that are not in the bundle."""
    for task, setting, name in _task_files(bundle):
        if setting != _NOTEBOOK and (not name or (_is_local(name) and not (bundle.root / name).is_file())):
            yield (*task.path, *setting), f"{task.name} runs the file `{name}`, which does not exist."


def missing_files(bundle: Bundle) -> Iterator[Breach]:
    """Yield notebooks and files of tasks that are not in the bundle."""
    yield from notebooks(bundle)
    yield from files(bundle)


def pipeline_sources(bundle: Bundle) -> Iterator[Breach]:
    """Yield libraries of pipelines that match no file, and pipelines without libraries."""
    for key, pipeline in bundle.pipelines.items():
        if not pipeline.get("libraries") and connector_of(pipeline) is None:
            yield ("resources", "pipelines", key), f"the pipeline {key} has no libraries."
    for key, where, name in _sources(bundle):
        if _is_local(name) and not _any(bundle.root, name):
            yield where, f"the pipeline {key} names the source `{name}`, and nothing is there."


def workspace_paths(bundle: Bundle) -> Iterator[Breach]:
    """Yield paths in a workspace that no file of the repository and no mount matches."""
    for task, setting, name in _task_files(bundle):
        find: Callable[[], object] = partial(
            find_platform_file, name, bundle.root, extensions=_SETTINGS[setting]
        )
        if is_platform_path(name) and "{{" not in name and (wrong := _why_unresolved(find)):
            yield (*task.path, *setting), f"{task.name} runs `{name}`: {wrong}"
    for key, where, name in _sources(bundle):
        find = partial(find_platform_sources, name, bundle.root)
        if is_platform_path(name) and (wrong := _why_unresolved(find)):
            yield where, f"the pipeline {key} names the source `{name}`: {wrong}"


def _why_unresolved(find: Callable[[], object]) -> str | None:
    try:
        return None if find() is not None else "no file of the repository and no mount matches it."
    except ConfigurationError as error:
        return error.message


def _any(root: Path, pattern: str) -> bool:
    folder = root / pattern.removesuffix("/**")
    if pattern.endswith("/**"):
        return folder.is_dir() and any(path.is_file() for path in folder.rglob("*"))
    return _notebook(root, pattern) is not None or any(root.glob(pattern))


def _notebook(root: Path, name: str) -> Path | None:
    candidates = [root / name, *(root / f"{name}{suffix}" for suffix in NOTEBOOK_SUFFIXES)]
    return next((path for path in candidates if path.is_file()), None)


def _is_local(name: str) -> bool:
    return not name.startswith(_ELSEWHERE)
