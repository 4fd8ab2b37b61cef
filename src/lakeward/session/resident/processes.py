"""Whether a noted process is still that JVM, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from lakeward.session.resident.records import Record

__all__ = ["MARK", "end", "is_running", "is_there", "mark"]

MARK = "-Dlakeward.resident="
"""An option of the JVM's command line by which it is known; what follows names its record."""


def mark(file: Path) -> str:
    """The option of the JVM whose record is `file`."""
    return f"{MARK}{file}"


def is_running(file: Path, record: Record) -> bool:
    """Whether the process of the record lives and is that JVM: numbers of processes are used again."""
    return is_there(file, record.pid)


def is_there(file: Path, pid: int) -> bool:
    """Whether `pid` is the JVM whose record is, or was, `file`."""
    return mark(file) in _command_line(pid)


def _command_line(pid: int) -> str:
    try:
        if Path("/proc/self/cmdline").exists():
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        asked = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
        return subprocess.run(asked, capture_output=True, text=True, check=False, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def end(file: Path, record: Record, *, patience: float) -> bool:
    """End the JVM of the record, by force after `patience` seconds; False when it was not there."""
    if not is_running(file, record):
        return False
    with suppress(ProcessLookupError):
        os.kill(record.pid, signal.SIGTERM)
        deadline = time.monotonic() + patience
        while is_running(file, record) and time.monotonic() < deadline:
            _reap(record.pid)
            time.sleep(0.05)
        if is_running(file, record):
            os.kill(record.pid, signal.SIGKILL)
            _reap(record.pid)
    return True


def _reap(pid: int) -> None:
    """Let a child of this very process go; anybody else's is init's to reap."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
