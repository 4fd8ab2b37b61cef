"""The registered resident JVMs of a user: records on disk, liveness, stopping."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from lakeward.atomic_files import atomic_write
from lakeward.file_lock import FileLock
from lakeward.session.cache import cache_dir


@dataclass(frozen=True)
class Record:
    """A running JVM: its process, where its gateway listens, the folder it was started in, and since when."""

    pid: int
    port: int
    secret: str
    cwd: str
    since: float


def folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of this user's records, below the cache."""
    return cache_dir(environ) / f"resident-{os.getuid()}"


def place() -> Path | None:
    """The folder, which exists and belongs to this user alone afterwards; None where that cannot be."""
    where = folder()
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = where.lstat()
        if there.st_uid != os.getuid() or not stat.S_ISDIR(there.st_mode):
            return None
        if there.st_mode & 0o077:
            where.chmod(0o700)
    except OSError:
        return None
    return where


def load(file: Path) -> Record | None:
    """What the file says; None when it is not there or says nothing that makes sense."""
    try:
        return Record(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def keep(file: Path, record: Record) -> None:
    """Write the file whole, readable by this user only."""
    atomic_write(file, json.dumps(asdict(record)), mode=0o600)


def forget(file: Path) -> None:
    """Remove the record and the files next to it."""
    for ending in (".json", ".out", ".err", ".stdin"):
        with suppress(OSError):
            file.with_suffix(ending).unlink(missing_ok=True)


def recorded() -> Iterator[tuple[Path, Record]]:
    """All of this user's records, oldest first."""
    found = [(file, load(file)) for file in folder().glob("*.json")]
    there = [(file, record) for file, record in found if record is not None]
    yield from sorted(there, key=lambda each: each[1].since)


@contextmanager
def starting_one(file: Path) -> Iterator[bool]:
    """A block in which no other process starts the JVM of this record; False where another one does now."""
    lock = FileLock(file.with_suffix(".lock"), per_process=True)
    try:
        yield lock.acquire(wait=False)
    finally:
        lock.release()


def since(record: Record) -> float:
    """Seconds that the JVM has been there."""
    return max(0.0, time.time() - record.since)


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
        command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout
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


# It writes its class archive at the end, which takes some seconds.
_PATIENCE = 20.0


@dataclass(frozen=True)
class Stopped:
    """A JVM that was ended: its process and how many seconds it had been there."""

    pid: int
    seconds: float


def stop_residents() -> list[Stopped]:
    """End them, oldest first; what they were."""
    stopped = []
    for file, record in recorded():
        age = since(record)
        if end(file, record, patience=_PATIENCE):
            stopped.append(Stopped(record.pid, age))
        forget(file)
    for stale in folder().glob("*.json"):  # unreadable ones
        forget(stale)
    return stopped
