"""What the process of a run says, on its pipe as JSON lines and on its output."""

from __future__ import annotations

import codecs
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from lakeward.workspace.log import Log

__all__ = ["Told"]


class Told:
    """Takes both: secrets go to `given`, what was printed to `log`, all else to `hear`.

    `result` is the process's last word; `began` the time of its first one: what it needs to come up is not
    the run's time.
    """

    def __init__(self, log: Log, given: set[str], hear: Callable[[Mapping[str, Any]], None]) -> None:
        self._log, self._given, self._hear = log, given, hear
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.result: Mapping[str, Any] | None = None
        self.began: float | None = None

    def take(self, printed: bytes, said: bytes) -> bool:
        """Take the next bytes of both; false when there was nothing whole."""
        *lines, self._rest = (self._rest + said).split(b"\n")
        # What was said first: a secret is told before it can be printed.
        for line in lines:
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
