"""The process of one task, its messages, and the task types that it executes."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from lakeward.bundle import Bundle
from lakeward.dbutils import hear_secrets, remember
from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task
from lakeward.jobs.run_loop import AttemptResult, PipelineSelection
from lakeward.jobs.tasks import notebook, pipeline, python_code, sql
from lakeward.jobs.tasks.context import Action, Context, Prepare, attempt
from lakeward.process_tree import adopt_orphans, kill_detached, kill_tree
from lakeward.streaming import watching
from lakeward.suggestions import unknown_name_hint

if TYPE_CHECKING:
    from lakeward.pipelines import Update
    from lakeward.session import GatewayAddress, Settings


@dataclass(frozen=True)
class TaskRequest:
    """A task with all data that its process needs."""

    bundle: Bundle
    settings: Settings
    job: Mapping[str, Any]
    task: Task
    parameters: Mapping[str, str]
    selection: PipelineSelection
    job_id: str | None
    run_id: str | None
    values: Mapping[tuple[str, str], str]
    wheels: Mapping[str, Path]
    secrets: frozenset[str] = frozenset()


@dataclass(frozen=True)
class TaskStarted:
    """The task's code starts."""


@dataclass(frozen=True)
class PipelineEvent:
    """An event of the task's pipeline."""

    event: Any


@dataclass(frozen=True)
class JvmRequested:
    """The task needs Spark; the answer is a `GatewayAddress`, or None if it must start its own JVM."""


@dataclass(frozen=True)
class SecretRead:
    """The task is about to read a secret, which must be redacted."""

    text: str


@dataclass(frozen=True)
class TaskValueSet:
    """The task has set a value."""

    name: tuple[str, str]
    text: str


@dataclass(frozen=True)
class TaskFinished:
    """The task has ended."""

    end: AttemptResult


class MessageChannel:
    """The channel to the run; thread-safe."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def send(self, message: object) -> None:
        """Send a message."""
        with self._lock:
            self._connection.send(message)


class ReportedTaskValues(MutableMapping[tuple[str, str], str]):
    """The task values of a run in a task's process; values are sent immediately, so a crash loses none."""

    def __init__(self, values: Mapping[tuple[str, str], str], line: MessageChannel) -> None:
        self._values = dict(values)
        self._line = line

    def __getitem__(self, name: tuple[str, str]) -> str:
        return self._values[name]

    def __setitem__(self, name: tuple[str, str], text: str) -> None:
        self._values[name] = text
        self._line.send(TaskValueSet(name, text))

    def __delitem__(self, name: tuple[str, str]) -> None:
        del self._values[name]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def main() -> None:
    """Execute one TaskRequest; exit when the run has gone."""
    adopt_orphans()
    # Logs must contain the lines printed before a crash.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # they are text files here
    with Connection(int(sys.argv[1])) as connection:
        _preload(connection)
        try:
            work: TaskRequest = connection.recv()
        except EOFError:
            return
        answers: SimpleQueue[GatewayAddress | None] = SimpleQueue()
        threading.Thread(target=_receive_answers, args=(connection, answers), daemon=True).start()
        line = MessageChannel(connection)
        end = _execute(work, line, answers)
        kill_detached()
        line.send(TaskFinished(end))


def _receive_answers(connection: Connection, answers: SimpleQueue[GatewayAddress | None]) -> None:
    """Receive answers of the run. When the run has gone, kill this process and its descendants."""
    try:
        while True:
            answers.put(connection.recv())
    except (EOFError, ConnectionResetError):
        kill_tree(os.getpid())
    except OSError:
        return  # closed from this side: the task is done


def _preload(connection: Connection) -> None:
    """Import what most tasks need until a request arrives."""
    for module in ("lakeward.session", "pyspark.sql", "lakeward.databricks_shims", "lakeward.pipelines"):
        if connection.poll():
            return
        importlib.import_module(module)


def _execute(
    work: TaskRequest, line: MessageChannel, answers: SimpleQueue[GatewayAddress | None]
) -> AttemptResult:
    from lakeward.session import serve_on_demand, use_shared_jvm

    def lend() -> GatewayAddress | None:
        line.send(JvmRequested())
        return answers.get()

    use_shared_jvm(lend)
    for secret in work.secrets:
        remember(secret.encode())
    hear_secrets(lambda text: line.send(SecretRead(text)))
    serve_on_demand(work.settings)
    context = Context(
        work.bundle,
        work.settings,
        work.job,
        work.parameters,
        work.selection,
        on_event=lambda event: line.send(PipelineEvent(event)),
        job_id=work.job_id,
        run_id=work.run_id,
        task_values=ReportedTaskValues(work.values, line),
        wheels=work.wheels,
    )
    action = prepare(context, work.task)
    line.send(TaskStarted())
    return AttemptResult("EXCLUDED") if action is None else attempt(action, work.bundle)


KINDS: Mapping[str, Prepare] = {
    "notebook_task": notebook.prepare,
    "pipeline_task": pipeline.prepare,
    "python_wheel_task": python_code.prepare_wheel,
    "spark_python_task": python_code.prepare_file,
    "sql_task": sql.prepare,
}
"""Task types that run in a process of their own."""

COMPOSITES = ("condition_task", "for_each_task", "run_job_task")
"""Task types that the run itself executes: conditions, loops and nested jobs."""

REFUSED: Mapping[str, str] = {
    "dbt_task": "dbt needs a SQL warehouse and its adapter; run dbt against a workspace.",
    "clean_rooms_notebook_task": "It needs a clean room, which only a workspace has.",
    "dashboard_task": "It refreshes a dashboard, which only a workspace has.",
    "power_bi_task": "It refreshes a model of Power BI.",
    "spark_jar_task": "Its JAR is written against Databricks' own Spark.",
    "spark_submit_task": "The platform itself refuses it on serverless compute.",
}
"""Task types that are refused, with the reason."""


def prepare(context: Context, task: Task) -> Action | None:
    """Return the action of `task`, or None if a dry run has nothing to do for it.

    Raises ConfigurationError: TASK_NOT_SUPPORTED for a type that is not in the table, and the errors of the
    type's own validation.
    """
    kind = KINDS.get(task.kind)
    if kind is None:
        message = f"The task `{task.key}` is a {task.kind}, which cannot be run here."
        next_step = REFUSED.get(task.kind) or unknown_name_hint(task.kind, KINDS, what="kinds")
        raise ConfigurationError("TASK_NOT_SUPPORTED", message, next_step=next_step)
    action = kind(context, task)
    # The event log of a pipeline has the progress of its queries.
    if action is None or context.run_id is None or task.kind == "pipeline_task":
        return action
    return _watched(action, context.settings.state / "streams", context.run_id, task.key)


def _watched(action: Action, folder: Path, run_id: str, task_key: str) -> Action:
    def watched() -> Update | None:
        with watching(folder, run_id, task_key):
            return action()

    return watched
