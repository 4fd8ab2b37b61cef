"""The resident JVM that this process holds."""

from __future__ import annotations

import atexit
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.session.resident.relay import Relay

if TYPE_CHECKING:
    from pyspark import SparkContext

__all__ = ["Lease", "drain", "held", "hold"]


class Lease:
    """A held JVM: its gateway and process. It ends with this process; the JVM sees to that."""

    def __init__(self, gateway: Any, pid: int, file: Path) -> None:
        self.gateway = gateway
        self.pid = pid
        self.file = file
        self.relay = Relay(file.with_suffix(".out"), file.with_suffix(".err"))
        self._folders: list[str] = []
        self._new: str | None = None

    def context(self, conf: Mapping[str, str]) -> Any:
        """The Java context that those before have left, with the settings `conf`; None where none is."""
        settings = json.dumps(dict(conf))
        java = self.gateway.jvm.lakeward.Resident.settled(settings)
        self._new = None if java else settings
        return java

    def note(self, context: SparkContext) -> None:
        """Take note of the context that this process uses; the JVM is to hand on a new one."""
        if self._new is not None:
            self.gateway.jvm.lakeward.Resident.learn(context._jsc.sc(), self._new)
            self._new = None
        # Python's broadcasts; a JVM of one's own removes them when it ends.
        with suppress(AttributeError):
            self._folders.append(context._temp_dir)

    def end(self) -> None:
        """The last thing this process does with it."""
        self.relay.end()
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)


_held: Lease | None = None


def hold(lease: Lease) -> None:
    """From now on this process holds `lease`."""
    global _held  # noqa: PLW0603  # one JVM a process, as in Spark itself
    _held = lease
    atexit.register(lease.end)


def held() -> Lease | None:
    """The resident JVM that this process holds, None where it holds none."""
    return _held


def drain() -> None:
    """Let through what the JVM has printed up to now; one of this process's own has done so already."""
    if _held is not None:
        _held.relay.drain()
