"""The folder with the results of statements, which a warehouse keeps for an hour."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path

RESULT_SECONDS = 3600.0
"""How long a result is available after its statement has ended, as on the platform."""
_CLEANING_SECONDS = 60.0


class ResultFolder:
    """Results by the keys of their statements, a folder each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._cleaned = float("-inf")

    def of(self, key: str) -> Path:
        """Return the folder of the result of a statement."""
        return self.path / key

    def remove(self, key: str) -> None:
        """Remove the result of a statement that its client has read."""
        shutil.rmtree(self.of(key), ignore_errors=True)

    def remove_expired(self) -> None:
        """Remove results that are older than an hour; looks for them once a minute at most."""
        if time.monotonic() - self._cleaned < _CLEANING_SECONDS:
            return
        self._cleaned = time.monotonic()
        oldest = time.time() - RESULT_SECONDS
        with suppress(FileNotFoundError):
            for folder in self.path.iterdir():
                if folder.stat().st_mtime < oldest:
                    shutil.rmtree(folder, ignore_errors=True)
