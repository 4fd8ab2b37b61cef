"""Findings: errors and warnings about positions in a bundle's configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lakeward.bundle.configuration.node import Position


@dataclass(frozen=True)
class Finding:
    """A rule that the bundle breaks, and the position."""

    rule: str
    severity: Literal["error", "warning"]
    position: Position | None
    message: str
    cure: str

    def as_json(self) -> dict[str, Any]:
        """Return the object that `validate -o json` prints for it."""
        place = self.position
        return {
            "rule": self.rule,
            "severity": self.severity,
            "file": place.file if place else None,
            "line": place.line if place else None,
            "column": place.column if place else None,
            "message": self.message,
            "next_step": self.cure,
        }

    def __str__(self) -> str:
        """Return the finding as one line: position, message, fix and the name of the rule."""
        where = f"{self.position}: " if self.position else ""
        return f"{self.severity}: {where}{self.message} {self.cure} [{self.rule}]"
