"""The end of a user's daemons, by the user: those that wait, or those in use, too."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lakeward.session.daemon.acquisition import find_holder
from lakeward.session.daemon.registry import end_jvm, is_running, read_records, records_folder, remove_record

# It writes its class archive at exit, which takes a few seconds.
_PATIENCE = 20.0


@dataclass(frozen=True)
class Holder:
    """The process that has a daemon: its id, and its working directory if that can be read."""

    pid: int
    folder: str | None


@dataclass(frozen=True)
class Stop:
    """A daemon that was running: its process id, its age in seconds, and for which process it was kept."""

    pid: int
    seconds: float
    kept_for: Holder | None = None


def stop_daemons(*, force: bool = False) -> list[Stop]:
    """End the daemons, oldest first, and return them; with `force` those that a process uses, too."""
    stops = []
    for file, record in read_records():
        age = max(0.0, time.time() - record.since)
        # A record may be that of a JVM that has exited, and its port another program's by now.
        holder = 0 if force or not is_running(file, record.pid) else find_holder(record)
        if holder:
            stops.append(Stop(record.pid, age, Holder(holder, _working_directory(holder))))
            continue
        if end_jvm(file, record, patience=_PATIENCE):
            stops.append(Stop(record.pid, age))
        remove_record(file)
    kept = {file for file, _ in read_records()}
    for stale in records_folder().glob("*.json"):  # unreadable records
        if stale not in kept:
            remove_record(stale)
    return stops


def _working_directory(pid: int) -> str | None:
    with suppress(OSError):
        return str(Path(f"/proc/{pid}/cwd").readlink())
    return None
