"""Markers for files that workers skipped as corrupt or missing.

One marker file per skipped file, because many workers write concurrently; the state log has a single writer,
the driver.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SkipReason = Literal["SKIPPED_CORRUPTED", "SKIPPED_MISSING"]


@dataclass(frozen=True)
class SkippedFiles:
    """The markers in one directory, which is created with the first marker."""

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
