"""Execution of a run or pipeline update in its own process, with the packages that the commands use.

Deployed resources are a bundle for the job runner (`Deployed`), with ids and wheels of the workspace.
"""

from __future__ import annotations

import errno
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lakeward import jobs
from lakeward.bundle import Bundle, Distribution, read_wheel
from lakeward.dbutils import hear_secrets, redacted, spark_conf_with_secrets, stores_of, with_secrets
from lakeward.errors import ConfigurationError, LakewardError
from lakeward.jobs import PrestartedWorker
from lakeward.session import Settings, use_daemon
from lakeward.workspace.environment_variables import find_problem
from lakeward.workspace.state.settings_json import settings_from_json

# What zipfile raises for damaged, encrypted and unsupported archives, and for names that no file can have,
# and importlib.metadata for damaged entry points.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    TypeError,
    EOFError,
    OSError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


@dataclass(frozen=True)
class Deployed(Bundle):
    """`ids` are those of the workspace by kind and key; `wheels` the projects of uploaded ones, by folder.

    `folder` is the run's.
    """

    ids: Mapping[str, Mapping[str, int | str]] = field(default_factory=dict)
    wheels: Mapping[str, Distribution] = field(default_factory=dict)
    folder: Path | None = None

    @property
    def notebook_outcomes(self) -> Path | None:
        """Folder that keeps the outcome of each notebook task."""
        return None if self.folder is None else self.folder / "notebooks"

    def id_of(self, kind: str, key: str) -> int | str:
        """Return the id that the workspace gave."""
        return self.ids[kind][key]

    def entry_point(self, package: str, name: str) -> str:
        """Return what `name` leads to: where there is no such entry point, an attribute of the package.

        Raises BundleError(ARTIFACT_UNKNOWN).
        """
        return self.distribution(package).entry_points.get(name, f"{package}:{name}")

    def distributions(self) -> Mapping[str, Distribution]:
        """Return what the wheels of the job hold."""
        return self.wheels


def unpacked_wheels(job: dict[str, Any], folder: Path) -> dict[str, Distribution]:
    """Unpack every wheel that `job` names below `folder`, and let `job` name it there.

    Raises ConfigurationError(WHEEL_NOT_FOUND, WHEEL_INVALID).
    """
    found: dict[str, Distribution] = {}
    moved: dict[str, str] = {}
    for holder, key in _mentions(job):
        wheel = Path(str(holder[key]))
        if str(wheel) not in moved:
            place = folder / str(len(found))
            found[str(place)] = _unpacked(wheel, place)
            moved[str(wheel)] = str(place / wheel.name)
        holder[key] = moved[str(wheel)]
    return found


def _mentions(job: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the places of wheels: a container and the key or index in it."""
    for task in job.get("tasks") or ():
        inner = (task.get("for_each_task") or {}).get("task") or {}
        for library in [*(task.get("libraries") or ()), *(inner.get("libraries") or ())]:
            if "whl" in library:
                yield library, "whl"
    for environment in job.get("environments") or ():
        dependencies = (environment.get("spec") or {}).get("dependencies") or []
        for index, dependency in enumerate(dependencies):
            if str(dependency).endswith(".whl"):
                yield dependencies, index


def _unpacked(wheel: Path, folder: Path) -> Distribution:
    if not wheel.is_file():
        message = f"The job installs the wheel {wheel}, which does not exist."
        raise ConfigurationError("WHEEL_NOT_FOUND", message, next_step="Deploy again.")
    folder.mkdir(parents=True)
    try:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        distribution = read_wheel(wheel)
    except _UNREADABLE as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise ConfigurationError("WHEEL_INVALID", f"{wheel} is not a wheel: {error}.") from None
    return replace(distribution, source_folders=(folder,))


Emit = Callable[[Mapping[str, Any]], None]


def execute_run(
    order: Mapping[str, Any], folder: Path, emit: Emit, ahead: Sequence[PrestartedWorker]
) -> dict[str, Any]:
    """Execute a run or update and return its result.

    `emit` gets each event, and each secret before code can read it.

    `ahead` are processes that wait for tasks already.
    """
    use_daemon()
    hear_secrets(lambda secret: emit({"secret": secret}))
    try:
        settings = with_cluster(settings_from_json(order["settings"]), order)
        if order["kind"] == "job":
            return job(order, settings, folder, emit, ahead)
        return pipeline(order, settings, folder, emit)
    except LakewardError as error:
        return {"state": "FAILED", "refused": redacted(str(error))}


def with_cluster(settings: Settings, order: Mapping[str, Any]) -> Settings:
    """With the Spark settings and environment variables of the order's cluster, secrets filled in."""
    cluster = order.get("cluster") or {}
    store = stores_of(settings)
    variables = with_secrets(texts(cluster.get("spark_env_vars")), store)
    problem = find_problem(variables)
    if problem is not None:
        raise ConfigurationError(
            "SPARK_ENV_VARS_INVALID",
            f"The run cannot start with spark_env_vars: {problem}.",
            next_step="Change them, or the secrets that they refer to.",
        )
    os.environ.update(variables)
    conf = spark_conf_with_secrets(texts(cluster.get("spark_conf")), store)
    return settings.with_(conf={**settings.conf, **conf})


def texts(values: Mapping[str, Any] | None) -> dict[str, str]:
    return {name: str(value) for name, value in (values or {}).items()}


def bundle_of(order: Mapping[str, Any], settings: Settings, folder: Path) -> Bundle:
    """Return the order's jobs and pipelines as a bundle, in the folder of the workspace's files."""
    jobs = order.get("jobs") or {}
    wheels: dict[str, Any] = {}
    for number, job in enumerate(jobs.values()):
        wheels.update(unpacked_wheels(job, folder / "wheels" / str(number)))
    config = {"resources": {"jobs": jobs, "pipelines": order.get("pipelines") or {}}}
    return Deployed(
        settings.workspace,
        order["bundle"],
        settings.target,
        None,
        config,
        ids=order.get("ids") or {},
        wheels=wheels,
        folder=folder,
    )


def job(
    order: Mapping[str, Any], settings: Settings, folder: Path, emit: Emit, ahead: Sequence[PrestartedWorker]
) -> dict[str, Any]:
    """Run a job, each task in a process of its own."""
    bundle = bundle_of(order, settings, folder)
    key, *_ = bundle.jobs
    run_id = order["run_id"]

    def on_event(event: Any) -> None:
        task = getattr(event, "task_key", None)
        if task is None:
            return
        update = event.update.as_json() if event.update is not None else None
        emit({"task": task, "state": _state(event), "seconds": event.seconds, "update": update})

    def on_update(task: str, pipeline: str, progress: Any) -> None:
        step = {"task": task, "pipeline": order["ids"]["pipelines"][pipeline], "progress": vars(progress)}
        emit({"step": step})

    ran = jobs.run(
        bundle,
        key,
        settings=settings,
        options=jobs.RunOptions(
            parameters=order.get("parameters") or {},
            only=order.get("only") or (),
            selection=jobs.PipelineSelection.from_lists(order.get("flags") or {}),
            isolated=True,
            # A run without stored results has no task values to take over.
            repair=run_id if order.get("repair") and jobs.can_repair(settings.jobs, key, run_id) else None,
            run_id=run_id,
            trigger=origin_of(order["origin"]),
            workers=ahead,
            provision=lambda *_: None,
        ),
        listeners=jobs.RunListeners(
            on_output=lambda task, text: emit({"output": text, "task": task}),
            on_event=on_event,
            on_update=on_update,
        ),
    )
    document = ran.as_json()
    for task, shown in zip(ran.tasks, document["tasks"], strict=True):
        value = ran.exit_values.get(task.task_key)
        exit_value = None if value is None else redacted(value)
        shown.update(state=_state(task), exit_value=exit_value, trace=task.trace)
    return document


def origin_of(trigger: Mapping[str, Any]) -> jobs.RunTrigger:
    at = datetime.fromtimestamp(trigger["at"] / 1000, timezone.utc)
    return jobs.RunTrigger(**{**trigger, "at": at})


def _state(task: Any) -> str:
    # `lakeward run` calls this a failure, the API has a word of its own.
    return "TIMEDOUT" if task.timed_out else str(task.state)


def pipeline(order: Mapping[str, Any], settings: Settings, folder: Path, emit: Emit) -> dict[str, Any]:
    """Update a pipeline."""
    bundle = bundle_of(order, settings, folder)
    (key, _), *_ = bundle.pipelines.items()
    update = jobs.run_pipeline(
        bundle,
        key,
        settings=settings,
        selection=jobs.PipelineSelection.from_lists(order.get("flags") or {}),
        on_event=lambda event: emit({"progress": vars(event)}),
    )
    return update.as_json()
