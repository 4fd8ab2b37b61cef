"""What a run prints, on the disk: a file a task, without secrets, and not without end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["MOST_BYTES", "Log", "read_log"]

MOST_BYTES = 20 * 2**20
_LAST_LINES = 20


class Log:
    """Takes what the tasks of a run print.

    Lines wait for their end (a secret may be cut in two by a pipe) up to 64 KB.
    """

    def __init__(self, folder: Path, redacted: Callable[[str], str], *, most: int = MOST_BYTES) -> None:
        self._folder, self._redacted, self._most = folder, redacted, most
        self._rest: dict[str, str] = {}
        self._written: dict[str, int] = {}
        self.last: list[str] = []

    def take(self, text: str, task: str = "") -> None:
        """The next part of a task's output; without a task it is the run's own."""
        *lines, rest = (self._rest.pop(task, "") + text).split("\n")
        for line in lines:
            self._line(task, f"{line}\n")
        if len(rest) > 2**16:
            self._line(task, rest)
        elif rest:
            self._rest[task] = rest

    def finish(self) -> None:
        """There is no more for now: the beginning of a line is written, too."""
        for task in list(self._rest):
            self._line(task, self._rest.pop(task))

    def _line(self, task: str, line: str) -> None:
        text = self._redacted(line)
        self.last = [*self.last[1 - _LAST_LINES :], text.rstrip("\n")]
        written = self._written.get(task, 0)
        if written > self._most:
            return
        data = text.encode(errors="replace")
        if written + len(data) > self._most:
            data = f"\n… cut here: the output has more than {self._most // 2**20} MB.\n".encode()
            written = self._most + 1
        with log_file(self._folder, task).open("ab") as file:
            file.write(data)
        self._written[task] = written + len(data)


def log_file(folder: Path, task: str) -> Path:
    """The file of a task's part; the run's own part is the task without a name."""
    return folder / (f"task-{task}.log" if task else "run.log")


def read_log(folder: Path, task: str, *, offset: int = 0, most: int = 5 * 2**20) -> tuple[str, int, bool]:
    """Text of a task's log from byte `offset`, where it ends, and whether there is more."""
    file = log_file(folder, task)
    if not file.is_file():
        return "", offset, False
    with file.open("rb") as stream:
        stream.seek(offset)
        data = stream.read(most)
        more = bool(stream.read(1))
    return data.decode(errors="replace"), offset + len(data), more
