"""Where resident JVMs are noted: one file each, in a folder that nobody else can read."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from lakeward.session.cache import cache_dir
from lakeward.whole_files import write_whole

__all__ = ["Record", "folder", "forget", "keep", "load", "place", "recorded", "since", "starting_one"]


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
    write_whole(file, json.dumps(asdict(record)), mode=0o600)


def forget(file: Path) -> None:
    """Remove the record and what was written beside it."""
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
    with file.with_suffix(".lock").open("w") as lock:
        try:
            # Unlike flock this is not passed on to a forked child, nor kept by it.
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
            return
        yield True


def since(record: Record) -> float:
    """Seconds that the JVM has been there."""
    return max(0.0, time.time() - record.since)
