"""What a run prints, on the disk: a file a task, without secrets, and not without end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

__all__ = ["MOST_BYTES", "Log", "read_log"]

MOST_BYTES = 20 * 2**20
_LAST_LINES = 20


class Log:
    """Takes the output of a run's process; a line that is `mark` and a task's key begins that task's part.

    Lines wait for their end (a secret may be cut in two by a pipe) up to 64 KB.
    """

    def __init__(
        self, folder: Path, mark: str, redacted: Callable[[str], str], *, most: int = MOST_BYTES
    ) -> None:
        self._folder, self._mark, self._redacted, self._most = folder, mark, redacted, most
        self._rest = b""
        self._task = ""
        self._written: dict[str, int] = {}
        self.last: list[str] = []

    def take(self, data: bytes) -> None:
        """The next bytes of the output."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line.decode(errors="replace"), end="\n")
        if len(self._rest) > 2**16:
            self.finish()

    def finish(self) -> None:
        """There is no more for now: the beginning of a line is written, too."""
        if self._rest:
            self._line(self._rest.decode(errors="replace"), end="")
            self._rest = b""

    def _line(self, line: str, *, end: str) -> None:
        if line.startswith(self._mark):
            self._task = line[len(self._mark) :].strip()
            self.last.clear()
            return
        text = self._redacted(line) + end
        self.last = [*self.last[1 - _LAST_LINES :], text.rstrip("\n")]
        written = self._written.get(self._task, 0)
        if written > self._most:
            return
        data = text.encode()
        if written + len(data) > self._most:
            data = f"\n… cut here: the output has more than {self._most // 2**20} MB.\n".encode()
            written = self._most + 1
        with log_file(self._folder, self._task).open("ab") as file:
            file.write(data)
        self._written[self._task] = written + len(data)


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
