"""A process that waits for a task. Nothing is imported here that takes time."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

__all__ = ["Waiting", "kill"]


class Waiting:
    """A process that is there before its task is: starting Python takes longer than many tasks."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                _command(theirs.fileno()),
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.connection = Connection(ours.detach())

    def dismiss(self) -> None:
        """End it; its task never came."""
        self.connection.close()
        kill(self.process)
        assert self.process.stdout is not None
        self.process.stdout.close()


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _command(descriptor: int) -> list[str]:
    """The command line of a worker at the connection with this number.

    Neither the working folder nor this file's comes before the standard library in it.
    """
    root = str(Path(__file__).resolve().parents[2])
    code = (
        f"import sys; sys.path[:1] = []; sys.path.append({root!r}); "
        "from lakeward.jobs.worker import main; main()"
    )
    return [sys.executable, "-c", code, str(descriptor)]
