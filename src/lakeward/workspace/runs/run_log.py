"""Output of a run as files: one for each task, redacted and limited in size."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from lakeward.atomic_files import open_to_append

MOST_BYTES = 20 * 2**20
_LAST_LINES = 20
_LINE = 2**16


class Log:
    """Writes the output of a run's tasks to files.

    A pipe delivers a line in parts, and a secret may begin in one part and end in the next. An incomplete
    line is therefore kept until its end arrives or it exceeds 64 KB; of a longer line, the last characters
    are kept, as many as `longest` (the longest form of a secret in the output) returns.
    """

    def __init__(
        self,
        folder: Path,
        redacted: Callable[[str], str],
        *,
        longest: Callable[[], int] = lambda: 0,
        most: int = MOST_BYTES,
    ) -> None:
        self._folder, self._redacted, self._most = folder, redacted, most
        self._longest = longest
        self._rest: dict[str, str] = {}
        self._written: dict[str, int] = {}
        self.last: list[str] = []

    def take(self, text: str, task: str = "") -> None:
        """Add the next part of a task's output; without a task it is the run's own."""
        *lines, rest = (self._rest.pop(task, "") + text).split("\n")
        for line in lines:
            self._line(task, f"{line}\n")
        if len(rest) > _LINE + 2 * self._longest():
            cut = self._cut(rest)
            self._line(task, rest[:cut])
            rest = rest[cut:]
        if rest:
            self._rest[task] = rest

    def _cut(self, text: str) -> int:
        """Return where a long line can be cut without cutting a secret, 0 if nowhere."""
        longest = self._longest()
        if not longest:
            return len(text)
        whole = self._redacted(text)
        for cut in range(len(text) - longest, 0, -longest):
            if self._redacted(text[:cut]) + self._redacted(text[cut:]) == whole:
                return cut
        return 0

    def finish(self) -> None:
        """Write incomplete lines: no output arrives at the moment."""
        for task in list(self._rest):
            self._line(task, self._rest.pop(task))

    def _line(self, task: str, line: str) -> None:
        if not line:
            return
        text = self._redacted(line)
        self.last = [*self.last[1 - _LAST_LINES :], text.rstrip("\n")]
        written = self._written.get(task, 0)
        if written > self._most:
            return
        data = text.encode(errors="replace")
        if written + len(data) > self._most:
            data = f"\n… cut here: the output has more than {self._most // 2**20} MB.\n".encode()
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
