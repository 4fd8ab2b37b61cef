"""A run of a job: tasks in order, dependants of a failed one skipped, the rest carried on."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, TextIO

from lakeward.bundle import Bundle
from lakeward.jobs.definition import Task, tasks_of
from lakeward.jobs.failures import described
from lakeward.jobs.graph import ordered, selected
from lakeward.jobs.locks import sole_run
from lakeward.jobs.model import JobRun, TaskProgress, TaskResult
from lakeward.jobs.parameters import references, substituted, values_of
from lakeward.jobs.pipelines import Selection
from lakeward.jobs.surroundings import provide
from lakeward.jobs.tasks import Action, Context, prepare

if TYPE_CHECKING:
    from lakeward.pipelines import Update
    from lakeward.session import Settings

__all__ = ["run"]


def run(
    bundle: Bundle,
    key: str,
    *,
    settings: Settings,
    parameters: Mapping[str, str] = {},
    only: Sequence[str] = (),
    refresh: Sequence[str] = (),
    full_refresh: Sequence[str] = (),
    full_refresh_all: bool = False,
    dry_run: bool = False,
    stdout: TextIO | None = None,
    on_event: Callable[[Any], None] | None = None,
    surroundings: Callable[[Bundle, Settings], None] = provide,
    now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
) -> JobRun:
    """Run the job `key` of `bundle` and return what became of each task.

    `parameters` replace defaults of job parameters; `only` names the tasks to run (all others are EXCLUDED);
    the refresh flags go to its pipelines; a dry run plans pipelines and only checks everything else. What
    tasks print goes to `stdout`; `on_event` hears TaskProgress, and Progress of pipelines. `surroundings`
    makes what tasks expect to exist.

    Everything that can be wrong in the definition is found before the first task runs (ConfigurationError).
    A task that fails never raises: its result says why. JobError(RUN_ACTIVE) when another process runs the
    job in this target. Limits (timeouts, retries, concurrent runs) are the platform's to enforce.
    """
    job = bundle.job(key)
    tasks = ordered(key, tasks_of(key, job))
    chosen = selected(key, tasks, only)
    run_id = str(uuid.uuid4().int % 10**15)
    values = values_of(key, job, parameters)
    known = references(
        parameters=values,
        job_id=bundle.id_of("jobs", key),
        job_name=str(job.get("name") or key),
        run_id=run_id,
        started=now(),
    )
    selection = Selection(tuple(refresh), tuple(full_refresh), full_refresh_all, dry_run)
    context = Context(
        bundle, settings, job, values, selection, stdout, on_event, known["job.id"], known["job.run_id"]
    )
    actions = {
        task.key: prepare(context, _filled(task, known))
        for task in tasks
        if task.key in chosen and not task.disabled
    }
    begin = time.monotonic()
    with sole_run(settings.jobs / f"{key}.lock", f"The job {key} of target {bundle.target}"):
        if any(action is not None for action in actions.values()):
            surroundings(bundle, settings)
        results = _carry_out(tasks, actions, bundle, on_event or (lambda _: None))
    states = {result.state for result in results}
    state = (
        "CANCELED" if "CANCELED" in states else "FAILED" if states & {"FAILED", "SKIPPED"} else "COMPLETED"
    )
    return JobRun(run_id, state, results, time.monotonic() - begin)  # type: ignore[arg-type]


def _filled(task: Task, known: Mapping[str, str]) -> Task:
    own = {**known, "task.name": task.key}
    return replace(task, spec=substituted(task.spec, own, where=f"the task `{task.key}`"))


def _carry_out(
    tasks: Sequence[Task],
    actions: Mapping[str, Action | None],
    bundle: Bundle,
    tell: Callable[[TaskProgress], None],
) -> tuple[TaskResult, ...]:
    results: dict[str, TaskResult] = {}
    canceled = False
    for task in tasks:
        action = actions.get(task.key)
        upstream = [results[key] for key in task.depends_on]
        if action is None:
            result = TaskResult(task.key, "EXCLUDED")
        elif canceled:
            result = TaskResult(task.key, "CANCELED")
        elif any(before.state in ("FAILED", "SKIPPED") for before in upstream):
            failed = ", ".join(
                before.task_key for before in upstream if before.state in ("FAILED", "SKIPPED")
            )
            result = TaskResult(task.key, "SKIPPED", error=f"It depends on {failed}, which did not succeed.")
        else:
            tell(TaskProgress(task.key, "RUNNING"))
            result = _attempt(task, action, bundle)
            canceled = result.state == "CANCELED"
        results[task.key] = result
        tell(TaskProgress(task.key, result.state, result.seconds))
    return tuple(results.values())


def _attempt(task: Task, action: Action, bundle: Bundle) -> TaskResult:
    begin = time.monotonic()

    def ended(state: Any, error: str | None = None, update: Update | None = None) -> TaskResult:
        return TaskResult(task.key, state, time.monotonic() - begin, error, update)

    try:
        update = action()
    except KeyboardInterrupt:
        return ended("CANCELED", "Interrupted.")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever users' code raises is its result
        return ended("FAILED", described(error, bundle.root))
    if update is None or update.state == "COMPLETED":
        return ended("SUCCESS", update=update)
    first = next((dataset for dataset in update.datasets if dataset.state == "FAILED"), None)
    reason = update.error or (f"{first.name}: {first.error}" if first else None)
    return ended("CANCELED" if update.state == "CANCELED" else "FAILED", reason, update)
