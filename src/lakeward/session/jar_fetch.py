"""Bringing jars into the cache: in parallel, one process at a time, with progress on stderr."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, final

from lakeward.session.cache import made, not_writable
from lakeward.session.jar_download import download
from lakeward.session.jars import Jar
from lakeward.session.maven import repository

__all__ = ["fetch"]


def fetch(
    jars: Sequence[Jar], folder: Path, environ: Mapping[str, str], *, out: TextIO | None = None
) -> None:
    """Put `jars` into `folder`; those that another process has brought meanwhile are left alone.

    Raises SetupError: no network, not in the repository, wrong checksum, no space, not writable.
    """
    source = repository(environ)
    with _alone(made(folder)):
        missing = [j for j in jars if not _there(folder / j.name, j)]
        if not missing:
            return
        progress = _Progress(sum(j.size for j in missing), source.url, out or sys.stderr)
        with progress, ThreadPoolExecutor(len(missing)) as threads:
            tasks = [
                threads.submit(download, jar, folder / jar.name, source, on_bytes=progress.add)
                for jar in missing
            ]
            for task in tasks:
                task.result()


def _there(file: Path, jar: Jar) -> bool:
    return file.exists() and file.stat().st_size == jar.size


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Only one process at a time; the lock ends with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows
        yield
        return
    try:
        lock = (folder / ".lock").open("w")
    except OSError as error:
        raise not_writable(folder, error) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@final
class _Progress:
    """A line that says what comes and from where; on a terminal it also counts."""

    def __init__(self, total: int, source: str, out: TextIO) -> None:
        self._total = total
        self._out = out
        self._came = 0
        self._text = f"Fetching the jars of Delta Lake ({total / 1e6:.1f} MB) from {source}"
        self._counts = out.isatty()
        self._lock = threading.Lock()

    def __enter__(self) -> _Progress:
        self._out.write(self._text + ("" if self._counts else "\n"))
        self._out.flush()
        return self

    def __exit__(self, *_: object) -> None:
        if self._counts:
            self._out.write("\n")
            self._out.flush()

    def add(self, count: int) -> None:
        """Hear of `count` further bytes."""
        with self._lock:
            self._came += count
            if self._counts:
                self._out.write(f"\r{self._text} {min(100, 100 * self._came // self._total)} %")
                self._out.flush()
