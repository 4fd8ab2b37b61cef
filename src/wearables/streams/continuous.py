"""The streams without a pause: pass after pass, with helpers that wait for the first one and pause them.

Passes of what is available, and not one long query each: serverless compute has no other trigger, and a pass
ends with everything in place: late rows are listed, lookups are complete, progress is written.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wearables.files import replacing

__all__ = ["StreamsBusyError", "StreamsControl"]

_POLL = 0.2
# A pass writes its state before and after; longer ones are allowed for by the callers' timeouts.
_DEAD_AFTER = 3600.0


class StreamsBusyError(Exception):
    """The streams did not become ready, or did not stop, in time; the message has the file to look at."""


@dataclass(frozen=True)
class StreamsControl:
    """The state of a continuous run, in files next to the folder `checkpoints`.

    `<checkpoints>.running` has the number of passes; it exists while the streams run. While
    `<checkpoints>.paused` exists, they stop after the current pass, and do not start.
    """

    checkpoints: Path

    @property
    def running(self) -> Path:
        """Return the file that exists while the streams run."""
        return self.checkpoints.with_name(f"{self.checkpoints.name}.running")

    @property
    def pause_file(self) -> Path:
        """Return the file that keeps the streams from running."""
        return self.checkpoints.with_name(f"{self.checkpoints.name}.paused")

    def run(self, one_pass: Callable[[], object], every: float, stop: threading.Event | None = None) -> int:
        """Call `one_pass` every so many seconds until `stop` is set or they are paused.

        Returns the number of passes. Raises StreamsBusyError if another process runs them: two would write
        the same checkpoints.
        """
        if self.is_running():
            raise StreamsBusyError(
                f"The streams run already: {self.running} exists. "
                "Pause them, or, if their process was killed, delete the file."
            )
        stop = stop or threading.Event()
        self.running.parent.mkdir(parents=True, exist_ok=True)
        passes = 0
        self._note(passes)
        try:
            while not (stop.is_set() or self.pause_file.exists()):
                began = time.monotonic()
                one_pass()
                passes += 1
                self._note(passes)
                while time.monotonic() < began + every and not self.pause_file.exists():
                    if stop.wait(min(_POLL, every)):
                        break
        finally:
            self.running.unlink(missing_ok=True)
        return passes

    def is_running(self) -> bool:
        """Tell whether the streams run; a file that was not touched for an hour is of a killed process."""
        try:
            return time.time() - self.running.stat().st_mtime < _DEAD_AFTER
        except FileNotFoundError:
            return False

    def passes(self) -> int:
        """Return the number of complete passes of the current run."""
        try:
            return int(json.loads(self.running.read_text())["passes"])
        except (FileNotFoundError, ValueError):
            return 0

    def wait_until_ready(self, timeout: float) -> None:
        """Wait for the first complete pass. Raises StreamsBusyError after `timeout` seconds."""
        self._wait(lambda: self.passes() > 0, timeout, "have not completed a pass")

    def pause(self, timeout: float) -> None:
        """Let the streams end after their current pass, wait for it, and keep them from starting.

        Raises StreamsBusyError after `timeout` seconds; the streams stay paused.
        """
        self.pause_file.parent.mkdir(parents=True, exist_ok=True)
        self.pause_file.touch()
        self._wait(lambda: not self.is_running(), timeout, "have not stopped")

    def resume(self) -> None:
        """Let the streams run again, from their next start on."""
        self.pause_file.unlink(missing_ok=True)

    def _note(self, passes: int) -> None:
        with replacing(self.running) as new:
            new.write(json.dumps({"passes": passes}).encode())

    def _wait(self, holds: Callable[[], bool], timeout: float, what: str) -> None:
        end = time.monotonic() + timeout
        while not holds():
            if time.monotonic() > end:
                raise StreamsBusyError(
                    f"The streams {what} within {timeout:g} seconds. "
                    f"If their process was killed, delete {self.running}."
                )
            time.sleep(_POLL)
