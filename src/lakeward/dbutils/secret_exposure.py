"""Files that only their owner may read."""

from __future__ import annotations

import stat
from pathlib import Path

from lakeward.errors import ConfigurationError

__all__ = ["refuse_exposed"]


def refuse_exposed(file: Path, condition: str, what: str) -> None:
    """Raise ConfigurationError(`condition`) when others may read `what`, too, which `file` holds."""
    mode = stat.S_IMODE(file.stat().st_mode)
    if mode & 0o077:
        raise ConfigurationError(
            condition,
            f"Others than its owner may read {what}: {file} has mode {mode:o}.",
            next_step=f"Run `chmod 600 {file}`.",
        )
