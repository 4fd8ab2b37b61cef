"""The process of one task: receives a TaskRequest, executes it, reports the result."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import TYPE_CHECKING

from lakeward.dbutils import hear_secrets, remember
from lakeward.jobs.in_process import attempt
from lakeward.jobs.task_protocol import (
    JvmRequested,
    MessageChannel,
    PipelineEvent,
    ReportedTaskValues,
    SecretRead,
    TaskFinished,
    TaskRequest,
    TaskStarted,
)
from lakeward.jobs.task_state import AttemptResult
from lakeward.jobs.tasks import Context, prepare
from lakeward.process_tree import adopt_orphans, kill_detached, kill_tree

if TYPE_CHECKING:
    from lakeward.session import GatewayAddress


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
