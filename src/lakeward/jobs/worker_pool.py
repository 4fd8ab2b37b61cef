"""Prestarted worker processes. Imports only fast modules."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path

from lakeward.process_tree import TASK_MARK, kill_left, kill_tree


class PrestartedWorker:
    """A worker process started before its task: Python's start-up takes longer than many tasks.

    It runs `python` with the variables `environ`; default: those of this process.
    """

    def __init__(self, python: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
        ours, theirs = socket.socketpair()
        self.mark = (TASK_MARK, secrets.token_hex(8))
        with theirs:
            self.process = subprocess.Popen(
                _command(theirs.fileno(), python),
                env={**(os.environ if environ is None else environ), **dict([self.mark])},
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())

    def dismiss(self) -> None:
        """End the unused worker."""
        self.connection.close()
        self.kill()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def kill(self) -> None:
        """Kill the process and its descendants."""
        if self.process.poll() is None:
            kill_tree(self.process.pid, self.mark)
            self.process.wait()
        else:
            kill_left(self.process.pid, self.mark)


def _command(descriptor: int, python: Path | None) -> list[str]:
    """Return the command line of a worker at the connection with this number.

    Neither the working directory nor this file's folder precedes the standard library on its path.
    """
    root = str(Path(__file__).resolve().parents[2])
    code = (
        f"import sys; sys.path[:1] = []; sys.path.append({root!r}); "
        "from lakeward.jobs.task_worker import main; main()"
    )
    return [str(python or sys.executable), "-c", code, str(descriptor)]
