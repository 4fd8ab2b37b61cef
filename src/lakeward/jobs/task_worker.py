"""What runs in the process of one task: the task types, attempts at a task, and the errors of failed ones."""

from __future__ import annotations

import importlib
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from importlib.machinery import ModuleSpec
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

from lakeward.bundle import Bundle
from lakeward.dbutils import hear_secrets, redacted, remember
from lakeward.error_formatting import describe_error
from lakeward.errors import ConfigurationError, LakewardError
from lakeward.jobs.definition import Task
from lakeward.jobs.run_loop import AttemptResult
from lakeward.jobs.task_process import (
    JvmRequested,
    PipelineEvent,
    SecretRead,
    TaskFinished,
    TaskRequest,
    TaskStarted,
    TaskValueSet,
)
from lakeward.jobs.tasks import dbt, notebook, pipeline, sql, user_code
from lakeward.jobs.tasks.user_code import Action, Context, Prepare
from lakeward.process_tree import adopt_orphans, kill_detached, kill_tree
from lakeward.python_grammar import newer_python_hint
from lakeward.session import dbfs_paths, is_lost, jvm_lost, keep_interrupts
from lakeward.streaming import watching
from lakeward.suggestions import unknown_name_hint
from lakeward.user_code import is_user_file

if TYPE_CHECKING:
    from lakeward.pipelines import Update
    from lakeward.session import GatewayAddress


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
    # PySpark takes a main module without spec and file for a run of its doctests, and ends the process at
    # `import pyspark.sql.connect` if grpc is not installed.
    sys.modules["__main__"].__spec__ = ModuleSpec("__main__", None)
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
    serve_on_demand(work.context.settings)
    context = replace(
        work.context,
        on_event=lambda event: line.send(PipelineEvent(event)),
        task_values=ReportedTaskValues(work.context.task_values, line),
    )
    action = prepare(context, work.task)
    line.send(TaskStarted())
    return AttemptResult("EXCLUDED") if action is None else attempt(action, context.bundle)


KINDS: Mapping[str, Prepare] = {
    "dbt_task": dbt.prepare,
    "notebook_task": notebook.prepare,
    "pipeline_task": pipeline.prepare,
    "python_wheel_task": user_code.prepare_wheel,
    "spark_python_task": user_code.prepare_file,
    "sql_task": sql.prepare,
}
"""Task types that run in a process of their own."""

COMPOSITES = ("condition_task", "for_each_task", "run_job_task")
"""Task types that the run itself executes: conditions, loops and nested jobs."""

REFUSED: Mapping[str, str] = {
    "alert_task": "It evaluates an alert, which only a workspace has.",
    "dbt_cloud_task": "It starts a job of dbt Cloud.",
    "dbt_platform_task": "It starts a job of the dbt platform.",
    "gen_ai_compute_task": "It needs GPUs of the platform.",
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
        reason = REFUSED.get(task.kind) or unknown_name_hint(task.kind, (*KINDS, *COMPOSITES), what="kinds")
        next_step = f"{reason} `--only TASK`, several times if needed, runs the other tasks."
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


_MESSAGE_LIMIT = 4000

_TRACEBACK_LIMIT = 16_000


def attempt_error(error: BaseException, root: Path) -> str:
    """Return condition or type and message of `error`, and the `file:line` of the user's innermost frame.

    Secrets are redacted. Files below `root` are shown relative to it.
    """
    if is_lost(error):
        return str(jvm_lost())
    if isinstance(error, SystemExit):
        text = f"SystemExit: {error.code}"
    elif isinstance(error, SyntaxError):
        hint = newer_python_hint(error)
        text = f"{type(error).__name__}: {error.msg}{'. ' if hint else ''}{hint}"
    else:
        text = str(describe_error(error))
    text = redacted(text)  # before the text is truncated, possibly within a secret
    if len(text) > _MESSAGE_LIMIT:
        text = f"{text[:_MESSAGE_LIMIT]} … ({len(text) - _MESSAGE_LIMIT} more characters)"
    place = _place(error, root)
    return f"{text} ({place})" if place else text


def format_user_traceback(error: BaseException) -> str | None:
    """Return the traceback of `error` from the user's outermost frame on; None for errors without one.

    Secrets are redacted. Of a very long one the end is returned, where the error is.
    """
    if isinstance(error, LakewardError | SystemExit) or is_lost(error):
        return None
    report = traceback.TracebackException.from_exception(error)
    own = next((number for number, frame in enumerate(report.stack) if is_user_file(frame.filename)), None)
    if own is None and not isinstance(error, SyntaxError):
        return None
    report.stack = traceback.StackSummary.from_list(list(report.stack)[own:] if own is not None else [])
    return redacted("".join(report.format()))[-_TRACEBACK_LIMIT:]


def _place(error: BaseException, root: Path) -> str | None:
    if isinstance(error, SyntaxError) and error.filename:
        return _shown(error.filename, error.lineno, root)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_user_file(frame.filename)]
    return _shown(frames[-1].filename, frames[-1].lineno, root) if frames else None


def _shown(filename: str, line: int | None, root: Path) -> str:
    path = Path(filename).resolve()
    shown = path.relative_to(root.resolve()) if path.is_relative_to(root.resolve()) else path
    return f"{shown}:{line}" if line else str(shown)


class CompletedAttempt:
    """A task attempt with a known result."""

    has_started = True

    def __init__(self, end: AttemptResult) -> None:
        self._end = end

    def poll(self) -> AttemptResult:
        """Return the result."""
        return self._end

    def stop(self) -> None:
        """Do nothing: the attempt has ended."""


def attempt(action: Action, bundle: Bundle) -> AttemptResult:
    """Execute `action` and return its result: an exception of user code is a failure, Ctrl-C cancels."""
    try:
        with keep_interrupts(), dbfs_paths():
            update = action()
    except KeyboardInterrupt:
        return AttemptResult("CANCELED", "Interrupted.")
    except (Exception, SystemExit) as error:  # noqa: BLE001  # whatever users' code raises is its result
        return AttemptResult("FAILED", attempt_error(error, bundle.root), trace=format_user_traceback(error))
    if update is None or update.state == "COMPLETED":
        return AttemptResult("SUCCESS", update=update)
    first = next((dataset for dataset in update.datasets if dataset.state == "FAILED"), None)
    reason = update.error or (f"{first.name}: {first.error}" if first else None)
    return AttemptResult("CANCELED" if update.state == "CANCELED" else "FAILED", reason, update=update)
