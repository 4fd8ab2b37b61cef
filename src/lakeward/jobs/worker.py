"""The process of one task: takes its work from a connection, carries it out, says how it ended."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import TYPE_CHECKING

from lakeward.dbutils import hear_secrets
from lakeward.jobs.inline import attempt
from lakeward.jobs.schedule import End
from lakeward.jobs.tasks import Context, prepare
from lakeward.jobs.work import Begun, Event, Finished, Line, Secret, SentValues, Wanted, Work

if TYPE_CHECKING:
    from lakeward.session import Shared

__all__ = ["main"]


def main() -> None:
    """Carry out the one piece of work that comes; ends when the other side is gone."""
    # Whoever looks at a log wants the lines that were printed before the crash.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # they are text files here
    with Connection(int(sys.argv[1])) as connection:
        _get_ready(connection)
        try:
            work: Work = connection.recv()
        except EOFError:
            return
        answers: SimpleQueue[Shared | None] = SimpleQueue()
        threading.Thread(target=_hear, args=(connection, answers), daemon=True).start()
        line = Line(connection)
        line.send(Finished(_carry_out(work, line, answers)))


def _hear(connection: Connection, answers: SimpleQueue[Shared | None]) -> None:
    """Take what the run answers.

    When the run is gone, this process and all that it started end: nobody else would stop the task.
    """
    try:
        while True:
            answers.put(connection.recv())
    except (EOFError, ConnectionResetError):
        os.killpg(0, signal.SIGKILL)
    except OSError:
        return  # closed from this side: the task is done


def _get_ready(connection: Connection) -> None:
    """Import what most tasks need while there is none yet."""
    for module in ("lakeward.session", "pyspark.sql", "lakeward.standins", "lakeward.pipelines"):
        if connection.poll():
            return
        importlib.import_module(module)


def _carry_out(work: Work, line: Line, answers: SimpleQueue[Shared | None]) -> End:
    from lakeward.session import borrow, serve_on_demand

    def lend() -> Shared | None:
        line.send(Wanted())
        return answers.get()

    borrow(lend)
    hear_secrets(lambda text: line.send(Secret(text)))
    serve_on_demand(work.settings)
    context = Context(
        work.bundle,
        work.settings,
        work.job,
        work.parameters,
        work.selection,
        on_event=lambda event: line.send(Event(event)),
        job_id=work.job_id,
        run_id=work.run_id,
        task_values=SentValues(work.values, line),
        wheels=work.wheels,
    )
    action = prepare(context, work.task)
    line.send(Begun())
    return End("EXCLUDED") if action is None else attempt(action, work.bundle)
