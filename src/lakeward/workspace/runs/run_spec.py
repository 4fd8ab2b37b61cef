"""Specification of a run for its process: definitions with workspace paths resolved to local ones."""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write
from lakeward.quoting import use_statement
from lakeward.session import PathMap, Settings
from lakeward.workspace.runs.run_messages import RunOrder, RunOrigin
from lakeward.workspace.state.serving import server_folder
from lakeward.workspace.state.store import Document, Store
from lakeward.workspace_connection import WORKSPACE_ID


def build_job_run_spec(store: Store, settings: Settings, run: Document, *, host: str = "") -> RunOrder:
    """Return the order of a job's run: the job, and every pipeline that its tasks may update.

    `host` is where the server is.
    """
    job = _local_job(store, copy.deepcopy(run["settings"]), settings)
    # The run is in the key: several runs of one job may go on at a time.
    key = f"{_slug(run['run_name'])}-{run['run_id']}"
    others = {f"job-{each['job_id']}": each for each in _jobs_within(store, run["settings"])}
    every = (run["settings"], *(each["settings"] for each in others.values()))
    pipelines = _pipelines_within(store, every)
    names = {name: identifier for identifier, name in state_names(settings, pipelines.values()).items()}
    alerts, dashboards = _alerts(store, every), _dashboards(store, every)
    return {
        "kind": "job",
        "bundle": "workspace",
        "run_id": str(run["run_id"]),
        "jobs": {
            key: job,
            **{
                name: _local_job(store, copy.deepcopy(each["settings"]), settings)
                for name, each in others.items()
            },
        },
        "pipelines": {
            name: _local_pipeline(pipelines[identifier]["spec"], settings)
            for name, identifier in names.items()
        },
        "alerts": alerts,
        "dashboards": dashboards,
        "ids": {
            "jobs": {key: run["job_id"], **{name: each["job_id"] for name, each in others.items()}},
            "pipelines": names,
            "alerts": {name: name for name in alerts},
            "dashboards": {name: name for name in dashboards},
        },
        "parameters": {each["name"]: each["value"] for each in run.get("job_parameters") or ()},
        "only": run.get("only") or [],
        "origin": _origin(run, host),
        "repair": bool(run.get("repair_history")),
        "flags": run.get("flags") or {},
        "cluster": _cluster(job),
    }


def build_pipeline_update_spec(settings: Settings, pipeline: Document, flags: Mapping[str, Any]) -> RunOrder:
    """Return the order of an update."""
    spec = _local_pipeline(pipeline["spec"], settings)
    clusters = spec.get("clusters") or [{}]
    return {
        "kind": "pipeline",
        "bundle": "workspace",
        "pipelines": dict.fromkeys(state_names(settings, [pipeline]).values(), spec),
        "flags": dict(flags),
        "cluster": clusters[0],
    }


def state_names(settings: Settings, pipelines: Collection[Document]) -> dict[str, str]:
    """Return the names of pipelines' state folders, by their ids.

    A pipeline of the bundle in this folder keeps the state that `lakeward run` gave it: the tables are the
    same, so the streams that feed them must be.
    """
    own = _own_pipelines(settings) if pipelines else {}
    identifiers = [str(each["pipeline_id"]) for each in pipelines]
    names = [str(each["spec"].get("name")) for each in pipelines]
    return {one: own.get(name, one) for one, name in zip(identifiers, names, strict=True)}


def _origin(run: Document, host: str) -> RunOrigin:
    """Return the facts about the run that tasks can refer to (`{{job.trigger.type}}` …)."""
    cause = str(run.get("trigger") or "ONE_TIME")
    trigger = run["settings"].get("trigger") or {}
    arrival = (trigger.get("file_arrival") or {}) if cause == "FILE_ARRIVAL" else {}
    # Schedules have a resolution of minutes; the run begins a little later.
    step = 60_000 if cause == "PERIODIC" else 1
    return {
        "kind": "onetime" if cause == "ONE_TIME" else cause.lower(),
        "at": run["start_time"] // step * step,
        "location": str(arrival.get("url") or ""),
        "workspace_id": str(WORKSPACE_ID),
        "workspace_url": host,
        "task_runs": {task["task_key"]: str(task["run_id"]) for task in run["tasks"]},
    }


def _own_pipelines(settings: Settings) -> dict[str, str]:
    """Return the keys of the pipelines of the bundle in this folder, by name.

    A name contains the user who deploys: a pipeline that another user has updated has the name that is
    stored with its state.
    """
    from lakeward.bundle import find_root, load
    from lakeward.errors import LakewardError
    from lakeward.sql import NAME_FILE

    try:
        root = find_root(settings.root)
        bundle = load(root, settings.target, {}) if root is not None else None
    except LakewardError:
        return {}
    own = bundle.pipelines if bundle else {}
    names = {key: settings.pipelines / key / NAME_FILE for key in own}
    stored = {file.read_text(): key for key, file in names.items() if file.is_file()}
    return stored | {str(each.get("name")): key for key, each in own.items()}


def _local_job(store: Store, job: Document, settings: Settings) -> Document:
    # The server itself ends a run whose time is over.
    job.pop("timeout_seconds", None)
    for task in job.get("tasks") or ():
        inner = (task.get("for_each_task") or {}).get("task")
        for each in (task, inner) if inner else (task,):
            _localize(each.get("notebook_task"), "notebook_path", settings)
            _localize(each.get("spark_python_task"), "python_file", settings)
            _localize((each.get("sql_task") or {}).get("file"), "path", settings)
            inline_saved_query(each.get("sql_task"), store, settings)
            add_cluster_libraries(each, store)
            for library in each.get("libraries") or ():
                _localize(library, "whl", settings)
                _localize(library, "requirements", settings)
    for environment in job.get("environments") or ():
        spec = environment.get("spec") or {}
        spec["dependencies"] = [_local(text, settings) for text in spec.get("dependencies") or ()]
    return job


def _local_pipeline(spec: Document, settings: Settings) -> Document:
    local = copy.deepcopy(spec)
    for library in local.get("libraries") or ():
        _localize(library.get("glob"), "include", settings)
        _localize(library.get("file"), "path", settings)
        _localize(library.get("notebook"), "path", settings)
    _localize(local, "root_path", settings)
    environment = local.get("environment") or {}
    if environment.get("dependencies"):
        environment["dependencies"] = [_local(text, settings) for text in environment["dependencies"]]
    return local


def _localize(holder: object, name: str, settings: Settings) -> None:
    if isinstance(holder, dict) and isinstance(holder.get(name), str):
        holder[name] = _local(holder[name], settings)


def _local(text: str, settings: Settings) -> str:
    """Return a workspace path as a path on this disk; a prefix `--editable ` is kept."""
    prefix = next((each for each in ("--editable ", "-e ") if text.startswith(each)), "")
    local = PathMap.of(settings).local_in_workspace(text[len(prefix) :])
    return text if local is None else prefix + str(Path(local))


def _jobs_within(store: Store, settings: Document) -> list[Document]:
    """Return the jobs that a job runs, those that they run …"""
    found: dict[str, Document] = {}
    left = [settings]
    while left:
        for task in _tasks(left.pop()):
            key = str((task.get("run_job_task") or {}).get("job_id") or "")
            job = store.get("job", key) if key and key not in found else None
            if job is not None:
                found[key] = job
                left.append(job["settings"])
    return list(found.values())


def _pipelines_within(store: Store, jobs: Iterable[Document]) -> dict[str, Document]:
    """Return the pipelines that jobs update, by id; all pipelines if an id is known only in the run."""
    tasks = (task for job in jobs for task in _tasks(job))
    named = {str((task.get("pipeline_task") or {}).get("pipeline_id") or "") for task in tasks}
    late = any("{{" in identifier for identifier in named)
    found = store.find("pipeline") if named - {""} else []
    return {each["pipeline_id"]: each for each in found if late or each["pipeline_id"] in named}


def _alerts(store: Store, jobs: Iterable[Document]) -> dict[str, Document]:
    """Return the alerts by id, if a task evaluates one; those in the trash are left out."""
    if not any(task.get("alert_task") for job in jobs for task in _tasks(job)):
        return {}
    return {each["id"]: each for each in store.find("alert") if each["lifecycle_state"] == "ACTIVE"}


def _dashboards(store: Store, jobs: Iterable[Document]) -> dict[str, Document]:
    """Return the published versions of dashboards by id, if a task refreshes one."""
    if not any(task.get("dashboard_task") for job in jobs for task in _tasks(job)):
        return {}
    return {
        each["dashboard_id"]: each["published_draft"]
        for each in store.find("dashboard")
        if each["lifecycle_state"] == "ACTIVE" and "published_draft" in each
    }


def _tasks(job: Document) -> Iterator[Document]:
    """Yield the tasks of a job, and those that its loops repeat."""
    for task in job.get("tasks") or ():
        yield task
        yield (task.get("for_each_task") or {}).get("task") or {}


def _cluster(job: Document) -> Document:
    clusters = [task["new_cluster"] for task in job.get("tasks") or () if task.get("new_cluster")]
    clusters += [each.get("new_cluster") or {} for each in job.get("job_clusters") or ()]
    return clusters[0] if clusters else {}


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:60] or "job"


SAVED_QUERY = "saved_query"
"""Kind of the documents with saved queries."""


def inline_saved_query(task: Any, store: Store, settings: Settings) -> None:
    """Replace the saved query of a `sql_task` with a file of its text; other tasks stay as they are."""
    reference = task.get("query") if isinstance(task, dict) else None
    query = store.get(SAVED_QUERY, str(reference.get("query_id"))) if isinstance(reference, dict) else None
    if query is None or query["lifecycle_state"] != "ACTIVE":
        return
    file = server_folder(settings) / "queries" / f"{query['id']}.sql"
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    atomic_write(file, _script(query, settings.catalog))
    del task["query"]
    task["file"] = {"path": str(file)}


def _script(query: Document, default_catalog: str) -> str:
    """Return the text of a query, after the statement that selects its catalog and schema.

    >>> print(_script({"catalog": "dev", "query_text": "SELECT 1"}, "main"))
    USE CATALOG `dev`;
    SELECT 1
    >>> print(_script({"schema": "sales", "query_text": "SELECT 1"}, "main"))
    USE SCHEMA `main`.`sales`;
    SELECT 1
    """
    catalog, schema, text = (query.get(name) for name in ("catalog", "schema", "query_text"))
    name = [catalog or default_catalog, schema] if schema else [catalog] if catalog else []
    return f"{use_statement(name)};\n{text or ''}" if name else str(text or "")


CLUSTER_LIBRARY = "cluster_library"
"""Kind of the documents with Python packages of a cluster, for what runs there."""
INSTALLED = "INSTALLED"
# What is to be uninstalled stays until the cluster restarts.
_PRESENT = (INSTALLED, "UNINSTALL_ON_RESTART")


def installed_lines(store: Store, cluster_id: str) -> list[str]:
    """Return the packages of a cluster as lines of a requirements file."""
    from lakeward.jobs import library_lines

    return [line for each in _installed(store, cluster_id) for line in library_lines(each)]


def add_cluster_libraries(task: Document, store: Store) -> None:
    """Let a task have the libraries of the cluster that it names."""
    cluster_id: Any = task.get("existing_cluster_id")
    found = _installed(store, cluster_id) if isinstance(cluster_id, str) else []
    if found:
        task["libraries"] = [*found, *(task.get("libraries") or ())]


def _installed(store: Store, cluster_id: str) -> list[Document]:
    return [
        dict(each["library"])
        for each in store.find(CLUSTER_LIBRARY, parent=cluster_id)
        if each["status"] in _PRESENT
    ]
