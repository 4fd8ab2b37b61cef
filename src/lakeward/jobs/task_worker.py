"""The main program of a task's process: receives the task, executes it and reports to the run."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from importlib.machinery import ModuleSpec
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import TYPE_CHECKING

from lakeward.dbutils import record_secret, watch_secrets
from lakeward.jobs.attempts import attempt
from lakeward.jobs.task_graph import AttemptResult
from lakeward.jobs.task_kinds import prepare
from lakeward.jobs.task_process import (
    JvmRequested,
    PipelineEvent,
    SecretRead,
    TaskFinished,
    TaskRequest,
    TaskStarted,
    TaskValueSet,
)
from lakeward.process_tree import adopt_orphans, kill_detached, kill_tree

if TYPE_CHECKING:
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
    """Execute one TaskRequest; exit when the process of the run has ended."""
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
    """Receive answers of the run. When its process has ended, kill this process and its descendants."""
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
        record_secret(secret.encode())
    watch_secrets(lambda text: line.send(SecretRead(text)))
    serve_on_demand(work.context.settings)
    context = replace(
        work.context,
        on_event=lambda event: line.send(PipelineEvent(event)),
        task_values=ReportedTaskValues(work.context.task_values, line),
    )
    action = prepare(context, work.task)
    line.send(TaskStarted())
    return AttemptResult("CHECKED") if action is None else attempt(action, context.bundle)
