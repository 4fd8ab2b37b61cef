"""The document of `lakeward report` for the pages: of deployed pipelines, and of those that are not."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

from lakeward.databricks_shims.local_workspace import ApiError, Route, missing
from lakeward.report import build_report
from lakeward.workspace.api.permissions import is_admin, require
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.runs.run_spec import state_names
from lakeward.workspace.state.store import Document

_Signature = tuple[tuple[str, int, int], ...]
_MAX_CACHED = 50


def list_local(call: ServerRequest) -> Document:
    """List the pipelines with events that only `lakeward run` and `lakeward pipeline` have updated."""
    if not is_admin(call):
        return {"pipelines": []}
    folder = call.environment.settings().pipelines
    deployed = call.store.find("pipeline")
    used = set(_folder_names(call, deployed).values())
    found = []
    for name in _storages(folder):
        signature = _signature(folder / name)
        if signature and name not in used:
            found.append(
                {"name": name, "changed": max(modified for _, modified, _ in signature) // 1_000_000}
            )
    return {"pipelines": found}


def report(call: ServerRequest) -> Document:
    """Return the report of a pipeline by its id, or by its name if it is not deployed."""
    name = call.path_parameter
    pipeline = call.store.get("pipeline", name)
    if pipeline is not None:
        require(call, "pipelines", name, "CAN_VIEW")
        name = _folder_names(call, [pipeline])[name]
    elif not is_admin(call):
        raise ApiError(
            403, "PERMISSION_DENIED", f"{call.caller} does not have CAN_VIEW permission on {name}."
        )
    folder = call.environment.settings().pipelines
    if pipeline is None and name not in _storages(folder):
        raise missing(f"The pipeline {name[:100]}")
    storage = folder / name
    shown = pipeline["spec"].get("name") if pipeline else name
    return _REPORTS.get(str(shown), storage) or {"pipeline": shown, "updates": [], "datasets": []}


@dataclass(frozen=True)
class _Cached:
    signature: _Signature
    report: Document | None


class _Reports:
    """Reports by storage folder; one is built again when a file of its events has changed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: dict[tuple[str, Path], _Cached] = {}

    def get(self, name: str, storage: Path) -> Document | None:
        signature = _signature(storage)
        if not signature:
            return None
        found = self._cached.get((name, storage))
        if found is None or found.signature != signature:
            found = _Cached(signature, build_report(name, storage))
            with self._lock:
                while len(self._cached) >= _MAX_CACHED:
                    del self._cached[next(iter(self._cached))]
                self._cached[name, storage] = found
        return found.report


_REPORTS = _Reports()
_FOLDERS: dict[tuple[str, int], str] = {}


def _storages(folder: Path) -> list[str]:
    """Return the names of the storage folders of pipelines; a request can ask for none but these."""
    return sorted(each.name for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []


def _signature(storage: Path) -> _Signature:
    """Return names, times and sizes of the files that hold events; empty if there are none."""
    files = [storage / "events.jsonl", *sorted((storage / "event_log").glob("*.parquet"))]
    found = []
    for file in files:
        try:
            facts = file.stat()
        except OSError:
            continue
        found.append((file.name, facts.st_mtime_ns, facts.st_size))
    return tuple(found)


def _folder_names(call: ServerRequest, pipelines: list[Document]) -> dict[str, str]:
    """Return the names of the state folders by pipeline; they depend on the bundle, which is read once."""
    keys = {
        each["pipeline_id"]: (each["pipeline_id"], int(each.get("last_modified") or 0)) for each in pipelines
    }
    unknown = [each for each in pipelines if keys[each["pipeline_id"]] not in _FOLDERS]
    for identifier, name in (state_names(call.environment.settings(), unknown) if unknown else {}).items():
        _FOLDERS[keys[identifier]] = name
    return {identifier: _FOLDERS[key] for identifier, key in keys.items()}


ROUTES = (
    Route("GET", "/api/2.0/lakeward/pipelines", list_local),
    Route("GET", "/api/2.0/lakeward/report/{}", report),
)
