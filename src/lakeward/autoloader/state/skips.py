"""Notes on files that were left out as corrupt or missing, by the workers that would have read them.

A file a note, since many workers write at once; the log of taken files belongs to the driver alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["Skip", "Skips"]

Skip = Literal["SKIPPED_CORRUPTED", "SKIPPED_MISSING"]


@dataclass(frozen=True)
class Skips:
    """The notes in one folder, which is made with the first of them."""

    folder: Path

    def note(self, key: str, reason: Skip) -> None:
        """The file was left out; what was noted of it before no longer counts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._place(key).write_text(
            f"{reason}\n{key}", encoding="utf-8", errors="surrogateescape", newline=""
        )

    def withdraw(self, keys: Iterable[str]) -> None:
        """These files are read again: in a batch that failed, or because they were overwritten."""
        if self.folder.is_dir():
            for key in keys:
                self._place(key).unlink(missing_ok=True)

    def noted(self) -> dict[str, str]:
        """Why each file was left out, by its key."""
        found: dict[str, str] = {}
        for place in self.folder.glob("*.note"):
            with place.open(encoding="utf-8", errors="surrogateescape", newline="") as note:
                reason, _, key = note.read().partition("\n")
            found[key] = reason
        return found

    def _place(self, key: str) -> Path:
        name = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
        return self.folder / f"{name}.note"
