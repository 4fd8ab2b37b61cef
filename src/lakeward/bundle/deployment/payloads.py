"""Request bodies of resources: their settings with paths of the workspace.

Source: BN-2.3 and the REST reference of jobs, pipelines, secrets and Unity Catalog.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lakeward.bundle.git_sources import is_from_git
from lakeward.bundle.resolved_bundle import NOTEBOOK_SUFFIXES, Bundle
from lakeward.errors import BundleError

# Keys of a resource in a bundle that are not settings of the resource itself.
_OURS = ("permissions", "lifecycle", "grants", "run_as")
_LOCAL = re.compile(
    r"(?P<option>(?:-r|-e|-c|--requirement|--editable|--constraint)[= ]\s*)?(?P<path>\.{1,2}(?:/.*)?)"
)


class Places:
    """Paths of the bundle's files and wheels in the workspace."""

    def __init__(self, bundle: Bundle, wheels: Mapping[str, str]) -> None:
        self._root = bundle.root
        self._files = bundle.files_path
        self._state = str(bundle.config["workspace"]["state_path"])
        self.resources = str(bundle.config["workspace"]["resource_path"])
        self._wheels = wheels

    @property
    def metadata(self) -> str:
        """Return the metadata file by which a resource refers to its bundle."""
        return f"{self._state}/metadata.json"

    def file(self, name: str) -> str:
        """Return the path in the workspace of a file of the bundle; others stay as they are."""
        return name if name.startswith(("/", "dbfs:")) or "://" in name else posixpath.join(self._files, name)

    def content(self, name: str) -> str:
        """Return the text of a file of the bundle. Raises BundleError(FILE_UNREADABLE)."""
        try:
            return (self._root / name).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            cure = "Name a text file of the bundle."
            raise BundleError(
                "FILE_UNREADABLE", f"The file {name} cannot be read: {error}.", next_step=cure
            ) from None

    def notebook(self, name: str) -> str:
        """Return the path of a notebook, which has no extension in the workspace."""
        path = self.file(name)
        return path.removesuffix(Path(name).suffix) if Path(name).suffix in NOTEBOOK_SUFFIXES else path

    def wheel(self, text: str) -> str:
        """Return the uploaded wheel for the local one that `text` names."""
        folder = posixpath.dirname(posixpath.normpath(text))
        return self._wheels.get(folder, text) if text.endswith(".whl") else text

    def dependencies(self, lines: Iterable[object]) -> list[str]:
        """Return requirements with the places of uploaded wheels and files (`./libs/*.whl`, `-r ./x.txt`)."""
        return [moved for line in lines for moved in self._dependency(str(line))]

    def _dependency(self, line: str) -> list[str]:
        uploaded = self.wheel(line)
        if uploaded != line:
            return [uploaded]
        found = _LOCAL.fullmatch(line)
        if found is None:
            return [line]
        path, option = posixpath.normpath(found["path"]), found["option"] or ""
        matches = sorted(self._root.glob(path)) if "*" in path else []
        names = [each.relative_to(self._root).as_posix() for each in matches] or [path]
        return [f"{option}{self.file(name)}" for name in names]


def body_of(kind: str, resource: Mapping[str, Any], places: Places) -> dict[str, Any]:
    """Return the settings of a resource as its create call takes them."""
    settings = {name: value for name, value in resource.items() if name not in _OURS}
    shape = _SHAPES.get(kind)
    body = shape(settings, places) if shape is not None else settings
    if resource.get("run_as") and kind in ("alerts", "jobs", "pipelines"):
        body["run_as"] = resource["run_as"]
    return body


def undeployed_bodies(bundle: Bundle) -> dict[str, dict[str, Any]]:
    """Return the settings of jobs and pipelines by kind and by the id that each has offline.

    Wheels are those that are built already.
    """
    places = Places(bundle, {})
    kinds = {"jobs": bundle.jobs, "pipelines": bundle.pipelines}
    return {
        kind: {
            str(bundle.id_of(kind, key)): body_of(kind, resource, places)
            for key, resource in resources.items()
        }
        for kind, resources in kinds.items()
    }


def definition_of(bundle: Bundle, kind: str, key: str) -> dict[str, Any]:
    """Return the settings of an alert or a dashboard, with those of its file.

    Raises BundleError(FILE_UNREADABLE, ALERT_FILE_INVALID).
    """
    resource = bundle.resources(kind)[key]
    if "workspace" not in bundle.config:
        return dict(resource)  # of a run in a workspace: it was deployed
    return body_of(kind, resource, Places(bundle, {}))


def replace_ids(value: object, ids: Mapping[str, int | str]) -> Any:
    """Return `value` in which every id that stood for a resource offline is the workspace's own.

    Ids inside of longer texts are replaced as well.
    """
    if isinstance(value, Mapping):
        return {key: replace_ids(child, ids) for key, child in value.items()}
    if isinstance(value, list):
        return [replace_ids(child, ids) for child in value]
    if isinstance(value, bool) or not isinstance(value, str | int):
        return value
    if str(value) in ids:
        return ids[str(value)]
    if isinstance(value, str):
        for offline, own in ids.items():
            value = value.replace(offline, str(own))
    return value


def _job(settings: dict[str, Any], places: Places) -> dict[str, Any]:
    return {
        "format": "MULTI_TASK",
        "edit_mode": "UI_LOCKED",
        "max_concurrent_runs": 1,
        "queue": {"enabled": True},
        **settings,
        "deployment": {"kind": "BUNDLE", "metadata_file_path": places.metadata},
        "tasks": [_task(task, places, settings) for task in settings.get("tasks") or ()],
        "environments": [_environment(each, places) for each in settings.get("environments") or ()],
    }


def _task(task: Mapping[str, Any], places: Places, job: Mapping[str, Any]) -> dict[str, Any]:
    def is_moved(spec: Mapping[str, Any] | None) -> bool:
        return bool(spec) and not is_from_git(job, spec or {})

    moved = dict(task)
    if is_moved(task.get("notebook_task")):
        moved["notebook_task"] = _at(task["notebook_task"], "notebook_path", places.notebook)
    if is_moved(task.get("spark_python_task")):
        moved["spark_python_task"] = _at(task["spark_python_task"], "python_file", places.file)
    if is_moved((task.get("sql_task") or {}).get("file")):
        moved["sql_task"] = {**task["sql_task"], "file": _at(task["sql_task"]["file"], "path", places.file)}
    if (task.get("for_each_task") or {}).get("task"):
        loop = task["for_each_task"]
        moved["for_each_task"] = {**loop, "task": _task(loop["task"], places, job)}
    if task.get("libraries"):
        moved["libraries"] = [each for library in task["libraries"] for each in _library(library, places)]
    return moved


def _library(library: Mapping[str, Any], places: Places) -> list[dict[str, Any]]:
    for kind in ("whl", "requirements"):
        if library.get(kind):
            # Without `./` this is a path, too: a requirement is not allowed here.
            path = str(library[kind])
            local = path if path.startswith(("/", ".", "dbfs:")) or "://" in path else f"./{path}"
            return [{**library, kind: place} for place in places.dependencies([local])]
    return [dict(library)]


def _environment(environment: Mapping[str, Any], places: Places) -> dict[str, Any]:
    spec = environment.get("spec") or {}
    lines = places.dependencies(spec.get("dependencies") or ())
    return {**environment, "spec": {**spec, "dependencies": lines}}


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
    environment = settings.get("environment") or {}
    if environment.get("dependencies"):
        lines = places.dependencies(environment["dependencies"])
        moved["environment"] = {**environment, "dependencies": lines}
    if settings.get("root_path"):
        moved["root_path"] = places.file(str(settings["root_path"]))
    return {**moved, "deployment": {"kind": "BUNDLE", "metadata_file_path": places.metadata}}


def _dashboard(settings: dict[str, Any], places: Places) -> dict[str, Any]:
    draft = settings.get("serialized_dashboard")
    if draft is None and settings.get("file_path"):
        draft = places.content(str(settings["file_path"]))
    kept = ("display_name", "warehouse_id", "embed_credentials", "dataset_catalog", "dataset_schema")
    return {
        **{name: settings[name] for name in kept if name in settings},
        "parent_path": settings.get("parent_path") or places.resources,
        **({} if draft is None else {"serialized_dashboard": _text(draft)}),
    }


# As the Databricks CLI: the rest comes from the file.
_WITH_FILE = ("display_name", "warehouse_id", "file_path", "permissions", "lifecycle")
_OF_FILE = (
    "custom_summary",
    "schedule",
    "evaluation",
    "run_as",
    "run_as_user_name",
    "parent_path",
    "parameters",
)
_REFERENCE = re.compile(r"\$\{[a-zA-Z][\w.\[\]-]*\}")


def _alert(settings: dict[str, Any], places: Places) -> dict[str, Any]:
    if not settings.get("file_path"):
        return {"parent_path": places.resources, **settings}
    name = str(settings["file_path"])
    others = [key for key, value in settings.items() if key not in _WITH_FILE and value is not None]
    if others:
        raise BundleError(
            "ALERT_FILE_INVALID",
            f"{', '.join(others)} of an alert with the file {name} is set in the bundle.",
            next_step=f"With file_path, the bundle may have {', '.join(_WITH_FILE)}.",
        )
    text = places.content(name)
    try:
        content = json.loads(text)
    except ValueError as error:
        raise BundleError(
            "ALERT_FILE_INVALID",
            f"The file {name} is not JSON: {error}.",
            next_step="Correct the file, or export the alert again.",
        ) from None
    if not isinstance(content, dict) or _REFERENCE.search(text):
        what = "has references" if isinstance(content, dict) else "is not a JSON object"
        raise BundleError(
            "ALERT_FILE_INVALID",
            f"The file {name} of an alert {what}.",
            next_step="Write the alert into the bundle to use references.",
        )
    lines = {
        field: "".join(f"{line}\n" for line in content.get(key) or ())
        for field, key in (("query_text", "query_lines"), ("custom_description", "custom_description_lines"))
    }
    return {
        "parent_path": places.resources,
        **{key: settings[key] for key in ("display_name", "warehouse_id") if key in settings},
        **{key: content[key] for key in _OF_FILE if key in content},
        **{field: value for field, value in lines.items() if value},
    }


def _text(draft: object) -> str:
    return draft if isinstance(draft, str) else json.dumps(draft)


def _scope(settings: dict[str, Any], _places: Places) -> dict[str, Any]:
    return {"scope": settings["name"], "scope_backend_type": settings.get("backend_type", "DATABRICKS")}


def _volume(settings: dict[str, Any], _places: Places) -> dict[str, Any]:
    return {"volume_type": "MANAGED", **settings}


_LIBRARIES = {"glob": "include", "file": "path", "notebook": "path"}
_SHAPES: dict[str, Callable[[dict[str, Any], Places], dict[str, Any]]] = {
    "alerts": _alert,
    "dashboards": _dashboard,
    "jobs": _job,
    "pipelines": _pipeline,
    "secret_scopes": _scope,
    "volumes": _volume,
}


def _at(settings: Mapping[str, Any], key: str, move: Callable[[str], str]) -> dict[str, Any]:
    return {**settings, key: move(str(settings[key]))} if settings.get(key) else dict(settings)
