"""Reader of what the process of a run reports: events as JSON lines on a pipe, and its output."""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from lakeward.workspace.runs.run_log import Log


class RunOutputReader:
    """Routes secrets to `given`, output to `log` and other events to `on_event`.

    `result` is the content of the last event. `began` is the time of the first one: the start of the process
    does not count towards the run's timeout.
    """

    def __init__(self, log: Log, given: set[str], on_event: Callable[[Mapping[str, Any]], None]) -> None:
        self._log, self._given, self._hear = log, given, on_event
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.result: Mapping[str, Any] | None = None
        self.began: float | None = None

    def take(self, printed: bytes, said: bytes) -> bool:
        """Process the next bytes of output and events; return False without output or a complete event."""
        *lines, self._rest = (self._rest + said).split(b"\n")
        # Events first: a secret is reported before it can be printed.
        for line in lines:
            with suppress(ValueError):  # truncated: the process was killed while it wrote
                self._event(json.loads(line))
        if printed:
            self._log.take(self._decoder.decode(printed))
        elif not lines:
            self._log.finish()
        return bool(printed or lines)

    def _event(self, event: Mapping[str, Any]) -> None:
        self.began = self.began or time.monotonic()
        if "secret" in event:
            self._given.add(event["secret"])
        elif "output" in event:
            self._log.take(event["output"], event["task"])
        elif "result" in event:
            self.result = event["result"]
        else:
            self._hear(event)
