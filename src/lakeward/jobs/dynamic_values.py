"""Dynamic value references (`{{job.parameters.x}}`): their values, and definitions with them resolved.

Source: https://docs.databricks.com/aws/en/jobs/dynamic-value-references
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import ALERT_OUTPUT, NOTEBOOK_EXIT, SQL_OUTPUT, Task
from lakeward.jobs.task_graph import TaskState
from lakeward.suggestions import close_matches, unknown_name_hint

# `{{secrets/scope/key}}` is another language: it is resolved where the value is used.
_PART = r"[\w.\[\]-]|`[^`{}]*`"

_REFERENCE = re.compile(rf"\{{\{{\s*((?:[A-Za-z_]|`[^`{{}}]*`)(?:{_PART})*)\s*\}}\}}")

# `{{job.parameters.[name]}}` is how the workspace's editor inserts a parameter.
_BRACKETED = re.compile(r"\.\[([^\[\]]*)\]")

_PARAMETER = "job.parameters."

_NAMESPACES = ("job", "task", "tasks", "input", "workspace")
"""Other names are plain text, as on the platform."""


@dataclass(frozen=True)
class RunTrigger:
    """The trigger of a run, its time and its workspace.

    `kind` is the value of `{{job.trigger.type}}`, `location` the folder whose new files started the run,
    `task_runs` the run ids of tasks that have one.
    """

    kind: str = "onetime"
    at: datetime | None = None
    location: str = ""
    workspace_id: str = ""
    workspace_url: str = ""
    task_runs: Mapping[str, str] = field(default_factory=dict)


MANUAL = RunTrigger()
"""A run started by a user."""


def job_references(
    parameters: Mapping[str, str],
    *,
    job_id: int | str,
    job_name: str,
    run_id: str,
    started: datetime,
    trigger: RunTrigger,
    repairs: int = 0,
) -> dict[str, str]:
    """Return the value of every reference that is known before any task has run.

    A parameter may be made of all the others: `default: "{{job.start_time.iso_date}}"`.
    """
    times = {f"job.start_time.{name}": text for name, text in _times(started).items()}
    times |= {f"job.trigger.time.{name}": text for name, text in _times(trigger.at or started).items()}
    known = {
        "job.id": str(job_id),
        "job.name": job_name,
        "job.run_id": run_id,
        "job.repair_count": str(repairs),
        "job.trigger.type": trigger.kind,
        "job.trigger.file_arrival.location": trigger.location,
        "workspace.id": trigger.workspace_id,
        "workspace.url": trigger.workspace_url,
        **times,
        # The names of before 2024, which go on working.
        "job_id": str(job_id),
        "parent_run_id": run_id,
        "start_date": times["job.start_time.iso_date"],
        "start_time": times["job.start_time.timestamp_ms"],
    }
    filled = {
        _PARAMETER + name: resolve_references(
            value, known, where=f"the parameter `{name}`", others=(_PARAMETER,)
        )
        for name, value in parameters.items()
    }
    return {**known, **filled}


def resolved_parameters(known: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of the job whose references are `known`, filled in."""
    return {
        name.removeprefix(_PARAMETER): value for name, value in known.items() if name.startswith(_PARAMETER)
    }


def task_references(key: str, spec: Mapping[str, Any], *, run_id: str, execution: int) -> dict[str, str]:
    """Return what a task's own references stand for in its `execution`-th run."""
    return {
        "task.name": key,
        "task.run_id": run_id,
        "task.execution_count": str(execution),
        "task.notebook_path": str(spec.get("notebook_path") or ""),
        "task_key": key,
        "run_id": run_id,
        "task_retry_count": str(execution - 1),
    }


def loop_input_references(value: object) -> dict[str, str]:
    """Return what `{{input}}` and `{{input.key}}` stand for in the pass of a loop that has `value`."""
    found = {"input": _text(value)}
    if isinstance(value, Mapping):
        found |= {f"input.{key}": _text(each) for key, each in value.items()}
    return found


def task_value_references(values: Mapping[tuple[str, str], str]) -> dict[str, str]:
    """Return the references to what tasks have handed over: values by task and key, as JSON."""
    known = {}
    for (task, name), text in values.items():
        value = json.loads(text)
        if name == SQL_OUTPUT:
            known[f"tasks.{task}.output.rows"] = text
            first, row = value[0] if value else {}, f"tasks.{task}.output.first_row"
            known |= {f"{row}.{column}": _text(each) for column, each in first.items()}
        elif name == ALERT_OUTPUT:
            known[f"tasks.{task}.output.alert_state"] = value
        elif name != NOTEBOOK_EXIT:
            known[f"tasks.{task}.values.{name}"] = _text(value)
    return known


def resolve_references(
    value: object, known: Mapping[str, str], *, where: str, late: bool = False, others: tuple[str, ...] = ()
) -> Any:
    """Return `value` (mappings and lists included) with every dynamic reference replaced.

    With `late`, references known only during the run are kept, and always those that begin with one of
    `others`. Raises ConfigurationError(REFERENCE_UNKNOWN), naming `where`, for another reference
    that is not in `known`.

    >>> resolve_references(["--day={{job.parameters.day}}"], {"job.parameters.day": "3"}, where="task t")
    ['--day=3']
    """
    if isinstance(value, Mapping):
        return {
            key: resolve_references(child, known, where=where, late=late, others=others)
            for key, child in value.items()
        }
    if isinstance(value, list):
        return [resolve_references(child, known, where=where, late=late, others=others) for child in value]
    if not isinstance(value, str):
        return value

    def replacement(match: re.Match[str]) -> str:
        name = _BRACKETED.sub(r".\1", match[1].replace("`", ""))
        if name in known:
            return known[name]
        if (
            name.partition(".")[0] not in _NAMESPACES
            or name.startswith(others)
            or (late and _is_runtime_reference(name))
        ):
            return match[0]
        raise _unknown(name, known, where)

    return _REFERENCE.sub(replacement, value)


def _times(at: datetime) -> dict[str, str]:
    return {
        "iso_date": at.strftime("%Y-%m-%d"),
        "iso_datetime": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "iso_weekday": str(at.isoweekday()),
        "is_weekday": str(at.isoweekday() <= 5).lower(),
        "year": str(at.year),
        "month": str(at.month),
        "day": str(at.day),
        "hour": str(at.hour),
        "minute": str(at.minute),
        "second": str(at.second),
        "timestamp_ms": str(int(at.timestamp() * 1000)),
    }


def _is_runtime_reference(name: str) -> bool:
    """Return whether a reference is known only during the run: of another task, or of a loop."""
    return name == "input" or name.startswith(("input.", "tasks."))


def _unknown(name: str, known: Mapping[str, str], where: str) -> ConfigurationError:
    if not _is_runtime_reference(name):
        message = f"`{{{{{name}}}}}` in {where} is not a value of this job."
        return ConfigurationError("REFERENCE_UNKNOWN", message, next_step=_known_values_hint(name, known))
    what, next_step = (
        ("no task has set it", "The task has to run before.")
        if name.startswith("tasks.")
        else ("it is outside of a loop", "Only the task of a for_each_task has an input.")
    )
    message = f"`{{{{{name}}}}}` in {where} has no value: {what}."
    return ConfigurationError("REFERENCE_UNKNOWN", message, next_step=next_step)


def _known_values_hint(name: str, known: Mapping[str, str]) -> str:
    namespace, _, rest = name.partition(".")
    group, _, parameter = rest.partition(".")
    if namespace != "job" or not parameter or not close_matches(group, ["parameters"]):
        return unknown_name_hint(name, [each for each in known if "." in each], what="values")
    declared = resolved_parameters(known)
    if not declared:
        return f"The job has no parameters. Declare `{parameter}` in its `parameters`."
    # The prefix would make all of them similar.
    guess = " or ".join(f"`{_PARAMETER}{name}`" for name in close_matches(parameter, declared))
    listed = f"Known parameters: {', '.join(sorted(declared))}."
    return f"Did you mean {guess}? {listed}" if guess else listed


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


# Source: https://docs.databricks.com/aws/en/jobs/dynamic-value-references
_STATES = {"SKIPPED": "UPSTREAM_FAILED", "UNTAKEN": "EXCLUDED"}


@dataclass
class DynamicValueResolver:
    """Resolves references in tasks: from the run's start, task values and results of earlier tasks.

    `task_runs` are run ids of tasks; missing ones are generated.
    """

    known: Mapping[str, str]
    tasks: Sequence[Task]
    values: Mapping[tuple[str, str], str]
    task_runs: Mapping[str, str]
    states: Callable[[], Mapping[str, TaskState]]
    _generated_ids: dict[str, str] = field(default_factory=dict)

    def resolve(self, task: Task, *, number: int = 1, late: bool) -> Task:
        """Return `task` with references resolved for attempt `number`; `late` keeps those of later values.

        Raises ConfigurationError(REFERENCE_UNKNOWN) for a reference without a value.
        """
        execution = number + int(self.known["job.repair_count"])
        own = task_references(task.key, task.spec, run_id=self._run_of(task.key), execution=execution)
        known = {**self.references(), **own}
        return replace(
            task, spec=resolve_references(task.spec, known, where=f"the task `{task.key}`", late=late)
        )

    def references(self) -> dict[str, str]:
        """Return the value of everything that is known by now."""
        known = {**self.known, **task_value_references(self.values)}
        for task in self.tasks:
            known[f"tasks.{task.key}.run_id"] = self._run_of(task.key)
            known[f"tasks.{task.key}.notebook_path"] = str(task.spec.get("notebook_path") or "")
        for key, record in self.states().items():
            if record.end is not None:
                known[f"tasks.{key}.result_state"] = _STATES.get(record.end.state, record.end.state).lower()
                known[f"tasks.{key}.error_code"] = "RunExecutionError" if record.end.state == "FAILED" else ""
                known[f"tasks.{key}.execution_count"] = str(record.attempt)
        return known

    def _run_of(self, key: str) -> str:
        # A pass of a loop has the loop's.
        name = key.partition("[")[0]
        return self.task_runs.get(name) or self._generated_ids.setdefault(
            name, str(uuid.uuid4().int % 10**15)
        )
