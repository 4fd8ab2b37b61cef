"""The process of one run or update: `python -m lakeward.workspace.runs.run_main FOLDER EVENTS`.

FOLDER contains `order.json`; EVENTS is the file descriptor of a pipe for events. The server keeps the output.

Imports only fast modules until the process of the first task has been started: Python starts there while the
others are imported here.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.process_tree import adopt_orphans, kill_detached, kill_tree
from lakeward.workspace.runs.run_messages import Emit, RunMessage, RunOrder, RunOrigin

if TYPE_CHECKING:
    from lakeward.jobs import PrestartedWorker, RunTrigger, TaskProgress, TaskResult
    from lakeward.pipelines import Progress
    from lakeward.session import Settings
    from lakeward.workspace.state.store import Document


def main(arguments: list[str]) -> int:
    """Execute the order; return 0 once the result has been reported."""
    folder, pipe = Path(arguments[0]), int(arguments[1])
    os.set_inheritable(pipe, False)
    events = os.fdopen(pipe, "w", encoding="utf-8", buffering=1)
    lock = threading.Lock()

    def emit(event: RunMessage) -> None:
        with lock, suppress(OSError):
            events.write(json.dumps(event) + "\n")
            events.flush()

    adopt_orphans()
    exit_with_parent()
    order: RunOrder = json.loads((folder / "order.json").read_bytes())
    os.chdir(order["settings"]["root"])
    try:
        ahead = prestart_task_process(order)
        result = execute_run(order, folder, emit, ahead)
    except KeyboardInterrupt:
        result = {"state": "CANCELED"}
    kill_detached()
    emit({"result": result})
    return 0


def exit_with_parent() -> None:
    """End this process and its children when the server is gone; user code reads an empty standard input."""
    lifeline = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def wait() -> None:
        while os.read(lifeline, 1):
            pass
        kill_tree(os.getpid())

    threading.Thread(target=wait, daemon=True).start()


def prestart_task_process(order: RunOrder) -> list[PrestartedWorker]:
    """Return the process of a job's first task, unless its environment is still to be filled with secrets."""
    if order["kind"] != "job" or (order.get("cluster") or {}).get("spark_env_vars"):
        return []
    from lakeward.jobs import PrestartedWorker

    return [PrestartedWorker()]


def execute_run(order: RunOrder, folder: Path, emit: Emit, ahead: Sequence[PrestartedWorker]) -> Document:
    """Execute a run or update and return its result.

    `emit` gets each event, and each secret before code can read it.

    `ahead` are processes that wait for tasks already.
    """
    from lakeward.dbutils import redact, watch_secrets
    from lakeward.errors import LakewardError
    from lakeward.session import use_daemon

    use_daemon()
    watch_secrets(lambda secret: emit({"secret": secret}))
    try:
        settings = settings_of(order)
        if order["kind"] == "job":
            return run_job(order, settings, folder, emit, ahead)
        return update_pipeline(order, settings, folder, emit)
    except LakewardError as error:
        return {"state": "FAILED", "refused": redact(str(error))}


def settings_of(order: RunOrder) -> Settings:
    """Return the settings of an order with the Spark settings of its cluster, and set its variables.

    Secrets are filled in.
    """
    from lakeward.dbutils import open_stores, spark_conf_with_secrets, with_secrets
    from lakeward.errors import ConfigurationError
    from lakeward.workspace.environment_variables import find_problem
    from lakeward.workspace.state.settings_json import settings_from_json

    settings = settings_from_json(order["settings"])
    cluster = order.get("cluster") or {}
    store = open_stores(settings)
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


def run_job(
    order: RunOrder, settings: Settings, folder: Path, emit: Emit, ahead: Sequence[PrestartedWorker]
) -> Document:
    """Run a job, each task in a process of its own."""
    from lakeward import jobs
    from lakeward.dbutils import redact
    from lakeward.workspace.runs.deployed_bundle import bundle_of

    bundle = bundle_of(order, settings, folder)
    key, *_ = bundle.jobs
    run_id = order["run_id"]

    def on_event(event: jobs.RunEvent) -> None:
        if not isinstance(event, jobs.TaskProgress):
            return
        update = event.update.as_json() if event.update is not None else None
        emit({"task": event.task_key, "state": _state(event), "seconds": event.seconds, "update": update})

    def on_update(task: str, pipeline: str, progress: Progress) -> None:
        identifier = str(order["ids"]["pipelines"][pipeline])
        emit({"step": {"task": task, "pipeline": identifier, "progress": vars(progress)}})

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
        exit_value = None if value is None else redact(value)
        shown.update(state=_state(task), exit_value=exit_value, trace=task.trace)
    return document


def origin_of(trigger: RunOrigin) -> RunTrigger:
    """Return the trigger of a run from its order, where its time is in milliseconds."""
    from lakeward.jobs import RunTrigger

    return RunTrigger(
        kind=trigger["kind"],
        at=datetime.fromtimestamp(trigger["at"] / 1000, timezone.utc),
        location=trigger["location"],
        workspace_id=trigger["workspace_id"],
        workspace_url=trigger["workspace_url"],
        task_runs=trigger["task_runs"],
    )


def _state(task: TaskProgress | TaskResult) -> str:
    # `lakeward run` calls this a failure, the API has a word of its own.
    return "TIMEDOUT" if task.timed_out else str(task.state)


def update_pipeline(order: RunOrder, settings: Settings, folder: Path, emit: Emit) -> Document:
    """Update a pipeline."""
    from lakeward import jobs
    from lakeward.workspace.runs.deployed_bundle import bundle_of

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


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
