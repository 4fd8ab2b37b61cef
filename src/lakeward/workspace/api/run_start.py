"""Start of runs: at once, queued or skipped, by the limit of concurrent runs of their job."""

from __future__ import annotations

import threading
from collections.abc import Callable

from lakeward.databricks_shims.local_workspace import invalid_parameter
from lakeward.workspace.context import ServerContext, ServerRequest
from lakeward.workspace.runs import run_state
from lakeward.workspace.runs.run_messages import RunMessage
from lakeward.workspace.runs.run_process import ProcessResult
from lakeward.workspace.runs.run_spec import build_job_run_spec
from lakeward.workspace.runs.update_recorder import TaskUpdates
from lakeward.workspace.state.store import Document, Store, now

_one_at_a_time = threading.Lock()


def launch(call: ServerRequest, run: Document) -> None:
    """Start a run that is recorded as active. A run that cannot be started ends with the reason."""
    context, run_id = call.context, run["run_id"]
    attempt = len(run.get("repair_history") or [1]) - 1
    updates = TaskUpdates(context.store, run_id)

    def began() -> bool:
        changed = context.store.change("run", run_id, _begin, retry=True)
        return changed is None or run_state.is_active(changed)

    def on_event(event: RunMessage) -> None:
        if "step" in event:
            step = event["step"]
            updates.on_event(step["task"], step["pipeline"], step["progress"])
        elif "task" in event:
            updates.task_changed(event["task"], event["state"], event["update"])
            context.store.change(
                "run",
                run_id,
                lambda body: run_state.task_changed(body, event["task"], event["state"], now()),
                retry=True,
            )

    def ended(ending: ProcessResult) -> None:
        try:
            updates.close(canceled=ending.canceled, reason=ending.reason or "The run is over.")
        except Exception as error:  # noqa: BLE001  # the run itself has to end
            context.report_fault(error)
        _finish(call, run, ending)

    try:
        context.runner.start(
            run_id,
            build_job_run_spec(context.store, call.environment.settings(), run, host=context.host),
            began=began,
            on_event=on_event,
            ended=ended,
            timeout=run["settings"].get("timeout_seconds") or None,
            folder=context.runner.folder_of(run_id) / str(attempt),
        )
    except Exception as error:  # noqa: BLE001  # the run is recorded: it has to end
        context.report_fault(error)
        reason = f"The run could not be started: {type(error).__name__}: {error}"
        _finish(call, run, ProcessResult(None, reason, internal=True))


def _begin(run: Document) -> None:
    # It may have been canceled between its recording and its turn.
    if run_state.is_active(run):
        run_state.begin(run, now())


def _finish(call: ServerRequest, run: Document, ending: ProcessResult) -> None:
    """Record the end of a run, whatever its result contains, and start the next one in its queue."""
    store, run_id = call.store, run["run_id"]
    try:
        _change_finally(store, run_id, lambda body: run_state.finish(body, ending, now()))
    except Exception as error:  # noqa: BLE001  # a result of whatever content
        call.context.report_fault(error)
        reason = f"The result of the run cannot be read: {type(error).__name__}: {error}"
        _change_finally(store, run_id, lambda body: run_state.abandon(body, reason, now()))
    start_queued(call, run["job_id"])


def _change_finally(store: Store, run_id: int, edit: Callable[[Document], None]) -> None:
    store.change("run", run_id, edit, active=False, retry=True)


def start_run(
    call: ServerRequest, settings: Document, *, job_id: int, token: str | None = None, **facts: object
) -> Document:
    """Record a run, and start it unless its job has as many runs as it may have; return its ids."""
    # A token is one of its job or, for a submitted run, of its user.
    key = f"job/{job_id}/{token}" if job_id else f"user/{call.caller}/{token}"
    with _one_at_a_time:
        known = call.store.get("idempotency", key) if token else None
        if known is not None:
            if call.store.get("run", known["run_id"]) is None:
                raise invalid_parameter(f"The run {known['run_id']} of this idempotency_token was deleted.")
            return dict(known)
        run_id = call.store.number()
        run = run_state.new_run(
            run_id,
            settings,
            numbers=call.store.number,
            at=now(),
            job_id=job_id,
            creator_user_name=call.caller,
            **facts,
        )
        going = len(call.store.find("run", parent=job_id, active=True)) if job_id else 0
        full = bool(job_id) and going >= _most_runs(settings)
        queue = (settings.get("queue") or {}).get("enabled", False)
        if full:
            _full(run, queue=queue)
        call.store.put("run", run_id, run, parent=job_id, active=not full or queue)
        note_tasks(call.context, run)
        answer = {"run_id": run_id, "number_in_job": run_id}
        if token:
            call.store.put("idempotency", key, answer, retry=True)
    if not full:
        launch(call, run)
    return answer


def _most_runs(settings: Document) -> int:
    return int(settings.get("max_concurrent_runs", 1))


def _full(run: Document, *, queue: bool) -> None:
    """Queue or skip a run that exceeds the limit of concurrent runs."""
    message = "The maximum number of concurrent runs has been reached."
    if queue:
        run["state"] = {"life_cycle_state": "QUEUED", "state_message": message}
        return
    for each in (run, *run["tasks"]):
        each["state"] = {
            "life_cycle_state": "SKIPPED",
            "result_state": "MAXIMUM_CONCURRENT_RUNS_REACHED",
            "state_message": message,
        }
        each["end_time"] = run["start_time"]


def start_queued(call: ServerRequest, job_id: int) -> None:
    """Start the oldest queued run of a job if its concurrency limit allows it."""
    if not job_id:
        return
    with _one_at_a_time:
        active = call.store.find("run", parent=job_id, active=True)
        queued = [run for run in active if run["state"]["life_cycle_state"] == "QUEUED"]
        if not queued or len(active) - len(queued) >= _most_runs(queued[0]["settings"]):
            return
        run = queued[0]
        call.store.change(
            "run",
            run["run_id"],
            lambda body: body.update(state={"life_cycle_state": "PENDING", "state_message": ""}),
            retry=True,
        )
    launch(call, run)


def note_tasks(context: ServerContext, run: Document) -> None:
    """Make the run of each task findable by its own id."""
    for task in run["tasks"]:
        context.store.put(
            "task_run", task["run_id"], {"run_id": run["run_id"]}, parent=run["run_id"], retry=True
        )
