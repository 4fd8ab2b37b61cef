"""Execution of a run or pipeline update in its own process, with the packages that the commands use."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lakeward import jobs
from lakeward.bundle import Bundle
from lakeward.dbutils import hear_secrets, redacted, spark_conf_with_secrets, stores_of, with_secrets
from lakeward.errors import ConfigurationError, LakewardError
from lakeward.jobs import PrestartedWorker
from lakeward.session import Settings, use_daemon
from lakeward.workspace.environment_variables import find_problem
from lakeward.workspace.runs.deployed_bundle import Deployed, unpacked_wheels
from lakeward.workspace.state.settings_json import settings_from_json

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
    """The order's jobs and pipelines as a bundle, in the folder of the workspace's files."""
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
