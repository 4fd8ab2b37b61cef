"""The registered daemons of a user: records on disk, liveness, termination."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from lakeward.atomic_files import atomic_write
from lakeward.file_lock import FileLock
from lakeward.session.cache import cache_dir


@dataclass(frozen=True)
class Record:
    """A running JVM: process id, address of its gateway, working directory, start time."""

    pid: int
    port: int
    secret: str
    cwd: str
    since: float


def records_folder() -> Path:
    """Return the folder of this user's records, below the cache."""
    return cache_dir() / f"daemon-{os.getuid()}"


def ensure_records_folder() -> Path | None:
    """Return the folder of this user's records after creating it for this user only; None if that fails."""
    folder = records_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
        if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode):
            return None
        if status.st_mode & 0o077:
            folder.chmod(0o700)
    except OSError:
        return None
    return folder


def read_record(file: Path) -> Record | None:
    """Read the record; return None if it does not exist or is invalid."""
    try:
        return Record(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_record(file: Path, record: Record) -> None:
    """Write the record atomically, readable by this user only."""
    atomic_write(file, json.dumps(asdict(record)), mode=0o600)


def remove_record(file: Path) -> None:
    """Remove the record and the files next to it."""
    for ending in (".json", ".out", ".err", ".stdin"):
        with suppress(OSError):
            file.with_suffix(ending).unlink(missing_ok=True)


def read_records() -> list[tuple[Path, Record]]:
    """Return all valid records of this user with their files, oldest first."""
    read = [(file, read_record(file)) for file in records_folder().glob("*.json")]
    valid = [(file, record) for file, record in read if record is not None]
    return sorted(valid, key=lambda each: each[1].since)


@contextmanager
def start_lock(file: Path) -> Iterator[bool]:
    """Hold the start lock of this record within the block; yields False if another process holds it."""
    lock = FileLock(file.with_suffix(".lock"), per_process=True)
    try:
        yield lock.acquire(wait=False)
    finally:
        lock.release()


def identifying_option(file: Path) -> str:
    """Return the JVM option that identifies the JVM whose record is `file` in process lists."""
    return f"-Dlakeward.daemon={file}"


def is_running(file: Path, pid: int) -> bool:
    """Return whether process `pid` is alive and is the JVM whose record is, or was, `file`.

    Process ids are reused.
    """
    return identifying_option(file) in _command_line(pid)


def _command_line(pid: int) -> str:
    try:
        if Path("/proc/self/cmdline").exists():
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def end_jvm(file: Path, record: Record, *, patience: float) -> bool:
    """End the JVM of the record, by force after `patience` seconds; return False if it was not running."""
    if not is_running(file, record.pid):
        return False
    with suppress(ProcessLookupError):
        os.kill(record.pid, signal.SIGTERM)
        deadline = time.monotonic() + patience
        while is_running(file, record.pid) and time.monotonic() < deadline:
            _reap(record.pid)
            time.sleep(0.05)
        if is_running(file, record.pid):
            os.kill(record.pid, signal.SIGKILL)
            _reap(record.pid)
    return True


def _reap(pid: int) -> None:
    """Reap the process if it is a child of this one; init reaps others."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)
