"""Programs that a test starts and whose end it looks at."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["environ_without", "outcome", "without_pyspark"]


def environ_without(*prefixes: str) -> dict[str, str]:
    """This process's environment but for the variables that begin so."""
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


def without_pyspark(folder: Path) -> str:
    """PYTHONPATH for a Python that ends when it imports pyspark: what is known before Spark needs none."""
    blocked = folder / ".blocked"
    blocked.mkdir(exist_ok=True)
    (blocked / "pyspark.py").write_text("raise SystemExit('pyspark was imported')\n")
    return os.pathsep.join([str(blocked), os.environ.get("PYTHONPATH", "")])


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
