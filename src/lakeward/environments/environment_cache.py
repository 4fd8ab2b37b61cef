"""Cache of environments: found by key, built once, removed when unused.

`<key>.json` names the folder of a whole environment and is put in place by a rename, last of all. A folder
that no such file names was left half-made, by a kill. Programs in an environment hold its path, so that it is
the name that moves and not the folder.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lakeward.atomic_files import atomic_write
from lakeward.environments.uv_program import python_of
from lakeward.file_lock import FileLock
from lakeward.session import ensure_dir, not_writable

_KEPT = 30 * 24 * 3600.0
"""Seconds after its last use for which an environment is kept."""

_in_use: dict[Path, int] = {}
"""Descriptors of the locks that this process holds, by folder."""


class EnvironmentCache:
    """The environments in the folder `home`."""

    def __init__(self, home: Path, *, now: Callable[[], float] = time.time) -> None:
        self.home = home
        self.now = now

    def find(self, key: str) -> Path | None:
        """Return the whole environment of `key`; None if it does not exist."""
        try:
            folder = self.home / str(json.loads(self._name(key).read_text(encoding="utf-8"))["folder"])
        except (OSError, ValueError, KeyError):
            return None
        return folder if python_of(folder).exists() else None

    def make(
        self, key: str, build: Callable[[Path], None], *, rebuild: bool, waiting: Callable[[], None]
    ) -> Path:
        """Return the environment of `key`, built by `build(folder)` when it is missing, or to `rebuild` it.

        One process builds it; others wait, after a call of `waiting`, and take what it made.
        Raises SetupError when `home` cannot be written, and what `build` raises.
        """
        ensure_dir(self.home)
        with self._alone(key, waiting) as waited:
            there = self.find(key)
            if there is not None and (waited or not rebuild):
                return there
            self._sweep(key)
            folder = self.home / f"{key}-{int(self.now() * 1000):x}"
            build(folder)
            self._publish(key, folder)
            self._name(key).with_suffix(".log").unlink(missing_ok=True)
            self._sweep(key)
            return folder

    def use(self, key: str, folder: Path) -> int:
        """Mark `folder` as in use until this process, or the one that takes its place, ends."""
        with contextlib.suppress(OSError):
            os.utime(self._name(key), (self.now(), self.now()))
        if folder not in _in_use:
            lock = FileLock(folder / ".in-use", shared=True)
            lock.acquire()
            _in_use[folder] = lock.detach()
            os.set_inheritable(_in_use[folder], True)
        return _in_use[folder]

    def _publish(self, key: str, folder: Path) -> None:
        try:
            atomic_write(self._name(key), json.dumps({"folder": folder.name}))
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise not_writable(self.home, error) from None

    def _sweep(self, key: str) -> None:
        """Remove what is half-made or replaced under `key`, and other environments long unused."""
        for name in self.home.glob("*.json"):
            with contextlib.suppress(OSError):
                if name.stem != key and self.now() - name.stat().st_mtime > _KEPT:
                    folder = self.find(name.stem)
                    if folder is None or _unused(folder):
                        name.unlink()
                        name.with_suffix(".log").unlink(missing_ok=True)
        named = {self.find(name.stem) for name in self.home.glob("*.json")}
        for folder in self.home.glob("*-*"):
            owner = folder.name.partition("-")[0]
            if folder not in named and (owner == key or self._is_free(owner)) and _unused(folder):
                shutil.rmtree(folder, ignore_errors=True)

    def _is_free(self, key: str) -> bool:
        """Return whether no process builds under `key`."""
        return _can_lock(self.home / f"{key}.lock")

    @contextlib.contextmanager
    def _alone(self, key: str, waiting: Callable[[], None]) -> Iterator[bool]:
        """Yield one builder of `key` at a time; whether another one had to be waited for."""
        waited = False
        lock = FileLock(self.home / f"{key}.lock")
        try:
            if not lock.acquire(wait=False):
                waited = True
                waiting()
                lock.acquire()
        except OSError as error:
            raise not_writable(self.home, error) from None
        try:
            yield waited
        finally:
            lock.release()

    def _name(self, key: str) -> Path:
        return self.home / f"{key}.json"


def _unused(folder: Path) -> bool:
    file = folder / ".in-use"
    return not file.exists() or _can_lock(file)


def _can_lock(file: Path) -> bool:
    lock = FileLock(file)
    try:
        return lock.acquire(wait=False)
    except OSError:
        return False
    finally:
        lock.release()
