"""Rules on the files that tasks and pipelines name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

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


def _notebook_tasks(bundle: Bundle) -> Iterator[tuple[Task, str]]:
    """Yield the tasks with a notebook that is no Git source, and its path, "" for one without."""
    for task in tasks(bundle):
        spec = task.settings.get("notebook_task")
        if isinstance(spec, Mapping) and not is_from_git(bundle.jobs[task.job], spec):
            yield task, str(spec.get("notebook_path") or "")


def notebooks(bundle: Bundle) -> Iterator[Breach]:
    """Yield notebooks that are not in the bundle."""
    for task, name in _notebook_tasks(bundle):
        if not name or (_is_local(name) and _notebook(bundle.root, name) is None):
            where = (*task.path, "notebook_task", "notebook_path")
            yield where, f"{task.name} runs the notebook `{name}`, which does not exist."


def notebook_markers(bundle: Bundle) -> Iterator[Breach]:
    """Yield source files that run as notebooks without the marker."""
    for task, name in _notebook_tasks(bundle):
        file = _notebook(bundle.root, name) if name and _is_local(name) else None
        marker = _MARKERS.get(file.suffix) if file else None
        if file is None or marker is None:
            continue
        with file.open(encoding="utf-8", errors="replace") as lines:
            first = lines.readline().rstrip()
        if first != marker:
            where = (*task.path, "notebook_task", "notebook_path")
            yield where, f"{task.name} runs `{name}` as a notebook, whose first line is not `{marker}`."


def files(bundle: Bundle) -> Iterator[Breach]:
    """Yield Python and SQL files that are not in the bundle."""
    for task in tasks(bundle):
        python = task.settings.get("spark_python_task")
        sql = task.settings.get("sql_task")
        sql_file = sql.get("file") if isinstance(sql, Mapping) else None
        for spec, keys in (
            (python, ("spark_python_task", "python_file")),
            (sql_file, ("sql_task", "file", "path")),
        ):
            if not isinstance(spec, Mapping) or is_from_git(bundle.jobs[task.job], spec):
                continue
            name = str(spec.get(keys[-1]) or "")
            if not name or (_is_local(name) and not (bundle.root / name).is_file()):
                yield (*task.path, *keys), f"{task.name} runs the file `{name}`, which does not exist."


def missing_files(bundle: Bundle) -> Iterator[Breach]:
    """Yield notebooks and files of tasks that are not in the bundle."""
    yield from notebooks(bundle)
    yield from files(bundle)


def pipeline_sources(bundle: Bundle) -> Iterator[Breach]:
    """Yield libraries of pipelines that match no file, and pipelines without libraries."""
    for key, pipeline in bundle.pipelines.items():
        libraries = pipeline.get("libraries") or ()
        if not libraries and connector_of(pipeline) is None:
            yield ("resources", "pipelines", key), f"the pipeline {key} has no libraries."
        for number, library in enumerate(libraries):
            for kind, field in (("glob", "include"), ("file", "path"), ("notebook", "path")):
                name = str((library.get(kind) or {}).get(field) or "")
                if name and _is_local(name) and not _any(bundle.root, name):
                    where = ("resources", "pipelines", key, "libraries", number, kind, field)
                    yield where, f"the pipeline {key} names the source `{name}`, and nothing is there."


def workspace_paths(bundle: Bundle) -> Iterator[Breach]:
    """Yield paths in a workspace that no file of the repository and no mount matches."""
    for task in tasks(bundle):
        for keys, extensions in (
            (("notebook_task", "notebook_path"), (".py", ".sql", ".ipynb")),
            (("spark_python_task", "python_file"), (".py",)),
            (("sql_task", "file", "path"), (".sql",)),
        ):
            spec: Any = task.settings
            for key in keys[:-1]:
                spec = spec.get(key) if isinstance(spec, Mapping) else None
            if not isinstance(spec, Mapping):
                continue
            name = str(spec.get(keys[-1]) or "")
            if is_platform_path(name) and "{{" not in name and not is_from_git(bundle.jobs[task.job], spec):
                wrong = _why_unresolved(partial(find_platform_file, name, bundle.root, extensions=extensions))
                if wrong is not None:
                    yield (*task.path, *keys), f"{task.name} runs `{name}`: {wrong}"
    for key, pipeline in bundle.pipelines.items():
        for number, library in enumerate(pipeline.get("libraries") or ()):
            for kind, field in (("glob", "include"), ("file", "path"), ("notebook", "path")):
                name = str((library.get(kind) or {}).get(field) or "")
                if is_platform_path(name):
                    wrong = _why_unresolved(partial(find_platform_sources, name, bundle.root))
                    if wrong is not None:
                        where = ("resources", "pipelines", key, "libraries", number, kind, field)
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
