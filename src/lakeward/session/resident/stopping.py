"""Ending all resident JVMs of this user."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.session.resident.processes import end
from lakeward.session.resident.records import folder, forget, recorded, since

__all__ = ["Stopped", "stop_residents"]

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
