"""Markers of the files that workers skipped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SkipReason = Literal["SKIPPED_CORRUPTED", "SKIPPED_MISSING"]


@dataclass(frozen=True)
class SkippedFiles:
    """Markers of the files that workers skipped, in one directory, which is created with the first marker.

    One marker per file, because many workers write concurrently. The log has a single writer, the driver.
    """

    folder: Path

    def mark(self, key: str, reason: SkipReason) -> None:
        """Record that a file was skipped, replacing an earlier marker."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._marker(key).write_text(
            f"{reason}\n{key}", encoding="utf-8", errors="surrogateescape", newline=""
        )

    def unmark(self, keys: Iterable[str]) -> None:
        """Remove markers of files that are read again, after a failed batch or an overwrite."""
        if self.folder.is_dir():
            for key in keys:
                self._marker(key).unlink(missing_ok=True)

    def reasons(self) -> dict[str, str]:
        """Return the reason per skipped file key."""
        reasons: dict[str, str] = {}
        for marker in self.folder.glob("*.note"):
            with marker.open(encoding="utf-8", errors="surrogateescape", newline="") as note:
                reason, _, key = note.read().partition("\n")
            reasons[key] = reason
        return reasons

    def _marker(self, key: str) -> Path:
        name = hashlib.sha256(key.encode(errors="surrogateescape")).hexdigest()
        return self.folder / f"{name}.note"
