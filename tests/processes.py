"""Programs that a test starts and whose end it looks at."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["outcome"]


def outcome(
    command: Sequence[str | Path],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str | os.PathLike[str]] | None = None,
    input: str | None = None,
    timeout: float = 540,
) -> subprocess.CompletedProcess[str]:
    """What a program printed, and its code: whether that is right is for the test to say."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=env,
        input=input,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
