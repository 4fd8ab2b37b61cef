"""Output of a run as files: one for each task, redacted and limited in size."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from lakeward.atomic_files import open_to_append
from lakeward.dbutils import Redactor, StreamRedactor

MOST_BYTES = 20 * 2**20
_LAST_LINES = 20
_TAIL = 16 * 1024  # characters


class Log:
    """Writes the output of a run's tasks to files, up to `most` bytes each.

    `redactor` gives the secrets to redact, also those that are split over parts of the output.
    """

    def __init__(self, folder: Path, redactor: Callable[[], Redactor], *, most: int = MOST_BYTES) -> None:
        self._folder, self._most = folder, most
        self._redacted = defaultdict[str, StreamRedactor](lambda: StreamRedactor(redactor))
        self._written = defaultdict[str, int](int)
        self._tail = ""

    @property
    def last(self) -> list[str]:
        """Return the last lines of all tasks."""
        return self._tail.splitlines()[-_LAST_LINES:]

    def take(self, text: str, task: str = "") -> None:
        """Add the next part of a task's output; without a task it is the run's own."""
        self._write(task, self._redacted[task].feed(text))

    def finish(self) -> None:
        """Write what may be the beginning of a secret: no output arrives at the moment."""
        for task, redacted in self._redacted.items():
            self._write(task, redacted.finish())

    def _write(self, task: str, text: str) -> None:
        self._tail = (self._tail + text)[-_TAIL:]
        written = self._written[task]
        if not text or written > self._most:
            return
        data = text.encode(errors="replace")
        if written + len(data) > self._most:
            note = f"\n… cut here: the output has more than {self._most // 2**20} MB.\n"
            data = data[: data.rfind(b"\n", 0, self._most - written) + 1] + note.encode()
            written = self._most + 1
        try:
            with os.fdopen(open_to_append(log_file(self._folder, task)), "ab") as file:
                file.write(data)
        except OSError:
            # A full disk, or a path that is not a file, costs lines of the log, never the run.
            return
        self._written[task] = written + len(data)


def log_file(folder: Path, task: str) -> Path:
    """Return the file of a task's output; the run's own output has the task ""."""
    return folder / (f"task-{task}.log" if task else "run.log")


def read_log(folder: Path, task: str, *, offset: int = 0, most: int = 5 * 2**20) -> tuple[str, int, bool]:
    """Return the text of a task's log from byte `offset` on, its end, and whether more follows."""
    file = log_file(folder, task)
    if not file.is_file():
        return "", offset, False
    with file.open("rb") as stream:
        stream.seek(offset)
        data = stream.read(most)
        more = bool(stream.read(1))
    return data.decode(errors="replace"), offset + len(data), more
