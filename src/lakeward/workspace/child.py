"""The process that carries out one run or update: `python -m lakeward.workspace.child FOLDER EVENTS`.

FOLDER holds the order, EVENTS is the pipe on which each step is told. What is printed, the server keeps.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.dbutils import hear_secrets, redacted, stores_of, with_secrets
from lakeward.errors import LakewardError
from lakeward.session import Settings
from lakeward.workspace.sent_settings import received

if TYPE_CHECKING:
    from lakeward.bundle import Bundle

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Carry out the order; the exit code is 0 whenever the last word was told."""
    folder, pipe = Path(arguments[0]), int(arguments[1])
    os.set_inheritable(pipe, False)
    events = os.fdopen(pipe, "w", encoding="utf-8", buffering=1)
    lock = threading.Lock()

    def tell(event: Mapping[str, Any]) -> None:
        with lock, suppress(OSError):
            events.write(json.dumps(event) + "\n")
            events.flush()

    die_with_parent()
    hear_secrets(lambda secret: tell({"secret": secret}))
    order = json.loads((folder / "order.json").read_bytes())
    settings = received(order["settings"])
    os.chdir(settings.root)
    try:
        settings = with_cluster(settings, order)
        carry_out = job if order["kind"] == "job" else pipeline
        result = carry_out(order, settings, folder, tell)
    except LakewardError as error:
        result = {"state": "FAILED", "refused": redacted(str(error))}
    except KeyboardInterrupt:
        result = {"state": "CANCELED"}
    tell({"result": result})
    return 0


def die_with_parent() -> None:
    """End with all that was started here when the server is gone; user code finds its input empty."""
    lifeline = os.dup(0)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def wait() -> None:
        while os.read(lifeline, 1):
            pass
        os.killpg(0, signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


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
    from lakeward.workspace.deployed import Deployed, unpacked_wheels

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


def job(order: Mapping[str, Any], settings: Settings, folder: Path, tell: Any) -> dict[str, Any]:
    """Run a job, each task in a process of its own."""
    from lakeward import jobs

    bundle = bundle_of(order, settings, folder)
    key, *_ = bundle.jobs
    run_id = order["run_id"]

    def on_event(event: Any) -> None:
        task = getattr(event, "task_key", None)
        if task is None:
            tell({"progress": vars(event)})
            return
        tell({"task": task, "state": _state(event), "seconds": event.seconds})

    ran = jobs.run(
        bundle,
        key,
        settings=settings,
        parameters=order.get("parameters") or {},
        only=order.get("only") or (),
        run_id=run_id,
        # A run of which nothing was kept has no values of tasks that could be taken over.
        repair=run_id if order.get("repair") and jobs.is_kept(settings.jobs, key, run_id) else None,
        apart=True,
        show=lambda task, text: tell({"output": text, "task": task}),
        on_event=on_event,
        surroundings=lambda *_: None,
        **(order.get("flags") or {}),
    )
    told = ran.as_json()
    for task, shown in zip(ran.tasks, told["tasks"], strict=True):
        shown["state"] = _state(task)
    return told


def _state(task: Any) -> str:
    # `lakeward run` calls this a failure, the API has a word of its own.
    return "TIMEDOUT" if task.timed_out else str(task.state)


def pipeline(order: Mapping[str, Any], settings: Settings, folder: Path, tell: Any) -> dict[str, Any]:
    """Update a pipeline."""
    from lakeward import jobs

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


if __name__ == "__main__":
    from lakeward.session import use_resident

    use_resident()
    raise SystemExit(main(sys.argv[1:]))
