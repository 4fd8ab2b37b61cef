"""What is sent to a workspace for each resource: its settings with paths as the workspace has them.

Source: spec bundle.md §2.3 and the REST reference of jobs, pipelines, secrets and Unity Catalog.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lakeward.bundle.model import Bundle

__all__ = ["Places", "body_of", "identified"]

# What stands in a bundle beside a resource's own settings.
_OURS = ("permissions", "lifecycle", "grants", "run_as")
_SUFFIXES = (".py", ".ipynb", ".sql", ".scala", ".r", ".R")


class Places:
    """Where the bundle's files and wheels are in the workspace."""

    def __init__(self, bundle: Bundle, wheels: Mapping[str, str]) -> None:
        self._root = bundle.root
        self._files = str(bundle.config["workspace"]["file_path"])
        self._state = str(bundle.config["workspace"]["state_path"])
        self._wheels = wheels

    @property
    def metadata(self) -> str:
        """The file that resources name as the sign of their bundle."""
        return f"{self._state}/metadata.json"

    def file(self, name: str) -> str:
        """Return the path in the workspace of a file of the bundle; others stay as they are."""
        return name if name.startswith(("/", "dbfs:")) or "://" in name else posixpath.join(self._files, name)

    def notebook(self, name: str) -> str:
        """Return the same for a notebook, which has no extension there."""
        path = self.file(name)
        return path.removesuffix(Path(name).suffix) if Path(name).suffix in _SUFFIXES else path

    def wheel(self, text: str) -> str:
        """Return the uploaded wheel for the local one that `text` names."""
        folder = posixpath.dirname(posixpath.normpath(text))
        return self._wheels.get(folder, text) if text.endswith(".whl") else text


def body_of(kind: str, resource: Mapping[str, Any], places: Places) -> dict[str, Any]:
    """Return the settings of a resource as its create call takes them."""
    settings = {name: value for name, value in resource.items() if name not in _OURS}
    shape = _SHAPES.get(kind)
    body = shape(settings, places) if shape is not None else settings
    if resource.get("run_as") and kind in ("jobs", "pipelines"):
        body["run_as"] = resource["run_as"]
    return body


def identified(value: Any, ids: Mapping[str, int | str]) -> Any:
    """Return `value` in which every id that stood for a resource offline is the workspace's own."""
    if isinstance(value, Mapping):
        return {key: identified(child, ids) for key, child in value.items()}
    if isinstance(value, list):
        return [identified(child, ids) for child in value]
    return (
        ids.get(str(value), value) if isinstance(value, str | int) and not isinstance(value, bool) else value
    )


def _job(settings: dict[str, Any], places: Places) -> dict[str, Any]:
    return {
        "format": "MULTI_TASK",
        "edit_mode": "UI_LOCKED",
        "max_concurrent_runs": 1,
        "queue": {"enabled": True},
        **settings,
        "deployment": {"kind": "BUNDLE", "metadata_file_path": places.metadata},
        "tasks": [_task(task, places) for task in settings.get("tasks") or ()],
        "environments": [_environment(each, places) for each in settings.get("environments") or ()],
    }


def _task(task: Mapping[str, Any], places: Places) -> dict[str, Any]:
    moved = dict(task)
    if "notebook_task" in task:
        moved["notebook_task"] = _at(task["notebook_task"], "notebook_path", places.notebook)
    if "spark_python_task" in task:
        moved["spark_python_task"] = _at(task["spark_python_task"], "python_file", places.file)
    if (task.get("sql_task") or {}).get("file"):
        moved["sql_task"] = {**task["sql_task"], "file": _at(task["sql_task"]["file"], "path", places.file)}
    if (task.get("for_each_task") or {}).get("task"):
        loop = task["for_each_task"]
        moved["for_each_task"] = {**loop, "task": _task(loop["task"], places)}
    if task.get("libraries"):
        moved["libraries"] = [_at(each, "whl", places.wheel) for each in task["libraries"]]
    return moved


def _environment(environment: Mapping[str, Any], places: Places) -> dict[str, Any]:
    spec = environment.get("spec") or {}
    wheels = [places.wheel(str(text)) for text in spec.get("dependencies") or ()]
    return {**environment, "spec": {**spec, "dependencies": wheels}}


def _pipeline(settings: dict[str, Any], places: Places) -> dict[str, Any]:
    libraries = [
        {
            kind: _at(value, field, places.notebook if kind == "notebook" else places.file)
            if (field := _LIBRARIES.get(kind))
            else value
            for kind, value in library.items()
        }
        for library in settings.get("libraries") or ()
    ]
    moved = {"channel": "CURRENT", "edition": "ADVANCED", **settings, "libraries": libraries}
    if settings.get("root_path"):
        moved["root_path"] = places.file(str(settings["root_path"]))
    return {**moved, "deployment": {"kind": "BUNDLE", "metadata_file_path": places.metadata}}


def _scope(settings: dict[str, Any], _places: Places) -> dict[str, Any]:
    return {"scope": settings["name"], "scope_backend_type": settings.get("backend_type", "DATABRICKS")}


def _volume(settings: dict[str, Any], _places: Places) -> dict[str, Any]:
    return {"volume_type": "MANAGED", **settings}


_LIBRARIES = {"glob": "include", "file": "path", "notebook": "path"}
_SHAPES: dict[str, Callable[[dict[str, Any], Places], dict[str, Any]]] = {
    "jobs": _job,
    "pipelines": _pipeline,
    "secret_scopes": _scope,
    "volumes": _volume,
}


def _at(settings: Mapping[str, Any], key: str, move: Callable[[str], str]) -> dict[str, Any]:
    return {**settings, key: move(str(settings[key]))} if settings.get(key) else dict(settings)
