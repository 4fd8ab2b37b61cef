"""The events of the newest update as they happen, in a file that any process can follow without a JVM.

<storage>/events.jsonl      an event a line; the next update begins it anew
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["Live", "follow"]

log = logging.getLogger("lakeward.pipelines")

_NAME = "events.jsonl"
_ENDED = frozenset({"COMPLETED", "FAILED", "CANCELED"})


class Live:
    """Writes the file; what goes wrong with it is told once and changes nothing else."""

    def __init__(self, storage: Path) -> None:
        self._path = storage / _NAME
        self._begun = self._broken = False

    def write(self, event: dict[str, Any]) -> None:
        if self._broken:
            return
        try:
            # A new file, not an emptied one: whoever follows the old one reads it to its end.
            if not self._begun:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._path.unlink(missing_ok=True)
                self._begun = True
            with self._path.open("a") as file:
                file.write(json.dumps(event, default=str) + "\n")
        except OSError as error:
            self._broken = True
            log.warning("The events of this update cannot be followed: %s", error)


def follow(storage: Path, wait: Callable[[], None]) -> Iterator[dict[str, Any]]:
    """The events of the newest update until it has ended; `wait` is called while there is nothing new."""
    path, rest = storage / _NAME, ""
    while not path.exists():
        wait()
    with path.open() as file:
        while True:
            text = file.readline()
            if not text.endswith("\n"):
                rest += text
                wait()
                continue
            event = json.loads(rest + text)
            rest = ""
            yield event
            if event["event_type"] == "update_progress" and _state(event) in _ENDED:
                return


def _state(event: dict[str, Any]) -> str | None:
    return event["details"].get("update_progress", {}).get("state")  # type: ignore[no-any-return]  # JSON
