"""Programs that a test starts and whose end it looks at."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lakeward.session.cache import cache_dir
from lakeward.session.daemon import registry

__all__ = ["SharedDaemon", "environ_without", "is_alive", "outcome", "until", "without_pyspark"]


def environ_without(*prefixes: str) -> dict[str, str]:
    """This process's environment but for the variables that begin so."""
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}


class SharedDaemon:
    """A daemon of this worker, for processes in which the start of the JVM is not what is tested.

    A cold JVM takes some 20 seconds of processor time until it has run its first queries. The processes take
    turns in this one; the first of them starts it.
    """

    def __init__(self, cache: Path) -> None:
        """Use `cache`: an empty folder that becomes a cache with everything of the user's but JVMs."""
        self.cache = cache
        for name in ("jars", "java"):
            (cache_dir() / name).mkdir(parents=True, exist_ok=True)
        for entry in cache_dir().iterdir():
            if entry.name != registry.records_folder().name:
                (cache / entry.name).symlink_to(entry)

    def environ(self, environ: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment (default: this process's) for a process that uses the daemon."""
        # On CI, and with LAKEWARD_COLD, commands start a JVM of their own.
        kept = {k: v for k, v in (environ or os.environ).items() if k not in ("CI", "LAKEWARD_COLD")}
        return {**kept, "LAKEWARD_CACHE": str(self.cache), "LAKEWARD_DAEMON": "1"}

    def stop(self) -> None:
        """End the daemon if there is one."""
        if any(self.cache.glob(f"{registry.records_folder().name}/*.json")):
            outcome([sys.executable, "-m", "lakeward", "stop", "--force"], env=self.environ())


def without_pyspark(folder: Path) -> str:
    """PYTHONPATH for a Python that ends when it imports pyspark: what is known before Spark needs none."""
    blocked = folder / ".blocked"
    blocked.mkdir(exist_ok=True)
    (blocked / "pyspark.py").write_text("raise SystemExit('pyspark was imported')\n")
    return os.pathsep.join([str(blocked), os.environ.get("PYTHONPATH", "")])


def until(look: Callable[[], Any], seconds: float = 120) -> Any:
    """Call `look` until it returns a true value, and return that.

    `seconds` is for a busy machine: it decides when a test fails, never whether it passes.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"nothing within {seconds} seconds")


def is_alive(pid: int) -> bool:
    """Return whether a process runs; one that has ended and was not awaited does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


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
