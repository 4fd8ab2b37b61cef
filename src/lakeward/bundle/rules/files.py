"""Rules on the files that tasks and pipelines name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from lakeward.bundle.model import Bundle
from lakeward.bundle.rules.model import Breach, tasks

__all__ = ["files", "notebook_markers", "notebooks", "pipeline_sources"]

_NOTEBOOKS = (".py", ".ipynb", ".sql", ".scala", ".r", ".R")
_MARKERS = {
    ".py": "# Databricks notebook source",
    ".sql": "-- Databricks notebook source",
    ".scala": "// Databricks notebook source",
}
_ELSEWHERE = ("/", "dbfs:", "s3:", "abfss:", "gs:", "file:", "http:", "https:", "{{")


def notebooks(bundle: Bundle) -> Iterator[Breach]:
    """A notebook that is not in the bundle."""
    for task in tasks(bundle):
        spec = task.settings.get("notebook_task")
        if not isinstance(spec, Mapping) or spec.get("source") == "GIT":
            continue
        name = str(spec.get("notebook_path") or "")
        if not name or (_is_local(name) and _notebook(bundle.root, name) is None):
            where = (*task.path, "notebook_task", "notebook_path")
            yield where, f"{task.name} runs the notebook `{name}`, and there is no such file."


def notebook_markers(bundle: Bundle) -> Iterator[Breach]:
    """A source file that is named as a notebook and is not one."""
    for task in tasks(bundle):
        spec = task.settings.get("notebook_task")
        name = str(spec.get("notebook_path") or "") if isinstance(spec, Mapping) else ""
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
    """A Python or SQL file that is not in the bundle."""
    for task in tasks(bundle):
        python = task.settings.get("spark_python_task")
        sql = task.settings.get("sql_task")
        sql_file = sql.get("file") if isinstance(sql, Mapping) else None
        for spec, keys in (
            (python, ("spark_python_task", "python_file")),
            (sql_file, ("sql_task", "file", "path")),
        ):
            if not isinstance(spec, Mapping) or spec.get("source") == "GIT":
                continue
            name = str(spec.get(keys[-1]) or "")
            if not name or (_is_local(name) and not (bundle.root / name).is_file()):
                yield (*task.path, *keys), f"{task.name} runs the file `{name}`, and there is no such file."


def pipeline_sources(bundle: Bundle) -> Iterator[Breach]:
    """A library of a pipeline that names nothing, or a pipeline without any."""
    for key, pipeline in bundle.pipelines.items():
        libraries = pipeline.get("libraries") or ()
        if not libraries:
            yield ("resources", "pipelines", key), f"the pipeline {key} has no libraries."
        for number, library in enumerate(libraries):
            for kind, field in (("glob", "include"), ("file", "path"), ("notebook", "path")):
                name = str((library.get(kind) or {}).get(field) or "")
                if name and _is_local(name) and not _any(bundle.root, name):
                    where = ("resources", "pipelines", key, "libraries", number, kind, field)
                    yield where, f"the pipeline {key} names the source `{name}`, and nothing is there."


def _any(root: Path, pattern: str) -> bool:
    folder = root / pattern.removesuffix("/**")
    if pattern.endswith("/**"):
        return folder.is_dir() and any(path.is_file() for path in folder.rglob("*"))
    return _notebook(root, pattern) is not None or any(root.glob(pattern))


def _notebook(root: Path, name: str) -> Path | None:
    candidates = [root / name, *(root / f"{name}{suffix}" for suffix in _NOTEBOOKS)]
    return next((path for path in candidates if path.is_file()), None)


def _is_local(name: str) -> bool:
    return not name.startswith(_ELSEWHERE)
