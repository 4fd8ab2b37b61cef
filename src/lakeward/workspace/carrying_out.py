"""An order as the process of a run or update carries it out, through the rooms of lakeward's own commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from lakeward import jobs
from lakeward.bundle import Bundle
from lakeward.dbutils import hear_secrets, redacted, stores_of, with_secrets
from lakeward.errors import LakewardError
from lakeward.jobs import Waiting
from lakeward.session import Settings, use_resident
from lakeward.workspace.deployed import Deployed, unpacked_wheels
from lakeward.workspace.sent_settings import received

__all__ = ["carry_out"]

Tell = Callable[[Mapping[str, Any]], None]


def carry_out(order: Mapping[str, Any], folder: Path, tell: Tell, ahead: Sequence[Waiting]) -> dict[str, Any]:
    """Return how it ended. `tell` hears each step, and every secret before code has it.

    `ahead` are processes that wait for tasks already.
    """
    use_resident()
    hear_secrets(lambda secret: tell({"secret": secret}))
    try:
        settings = with_cluster(received(order["settings"]), order)
        if order["kind"] == "job":
            return job(order, settings, folder, tell, ahead)
        return pipeline(order, settings, folder, tell)
    except LakewardError as error:
        return {"state": "FAILED", "refused": redacted(str(error))}


def with_cluster(settings: Settings, order: Mapping[str, Any]) -> Settings:
    """With the Spark settings and environment variables of the order's cluster, secrets filled in."""
    cluster = order.get("cluster") or {}
    store = stores_of(settings)
    os.environ.update(with_secrets(texts(cluster.get("spark_env_vars")), store))
    conf = with_secrets(texts(cluster.get("spark_conf")), store)
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
    )


def job(
    order: Mapping[str, Any], settings: Settings, folder: Path, tell: Tell, ahead: Sequence[Waiting]
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
        tell({"task": task, "state": _state(event), "seconds": event.seconds, "update": update})

    def on_update(task: str, pipeline: str, progress: Any) -> None:
        step = {"task": task, "pipeline": order["ids"]["pipelines"][pipeline], "progress": vars(progress)}
        tell({"step": step})

    ran = jobs.run(
        bundle,
        key,
        settings=settings,
        parameters=order.get("parameters") or {},
        only=order.get("only") or (),
        run_id=run_id,
        origin=origin_of(order["origin"]),
        # A run of which nothing was kept has no values of tasks that could be taken over.
        repair=run_id if order.get("repair") and jobs.is_kept(settings.jobs, key, run_id) else None,
        apart=True,
        ahead=ahead,
        show=lambda task, text: tell({"output": text, "task": task}),
        on_event=on_event,
        on_update=on_update,
        surroundings=lambda *_: None,
        **(order.get("flags") or {}),
    )
    told = ran.as_json()
    for task, shown in zip(ran.tasks, told["tasks"], strict=True):
        shown.update(state=_state(task), exit_value=ran.exit_values.get(task.task_key), trace=task.trace)
    return told


def origin_of(told: Mapping[str, Any]) -> jobs.Origin:
    at = datetime.fromtimestamp(told["at"] / 1000, timezone.utc)
    return jobs.Origin(**{**told, "at": at})


def _state(task: Any) -> str:
    # `lakeward run` calls this a failure, the API has a word of its own.
    return "TIMEDOUT" if task.timed_out else str(task.state)


def pipeline(order: Mapping[str, Any], settings: Settings, folder: Path, tell: Tell) -> dict[str, Any]:
    """Update a pipeline."""
    bundle = bundle_of(order, settings, folder)
    (key, _), *_ = bundle.pipelines.items()
    update = jobs.run_pipeline(
        bundle,
        key,
        settings=settings,
        on_event=lambda event: tell({"progress": vars(event)}),
        **(order.get("flags") or {}),
    )
    return update.as_json()
