"""The rows of JSON texts before they are a record batch, and the lines that they come from."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakeward.autoloader.discovery.file_listing import FileStatus
    from lakeward.autoloader.readers.batch_builder import FileSpan


@dataclass
class RowBuffer:
    """Rows in the order of their texts; each text is a part of a file.

    Attributes:
        records: The decoded rows.
        slow: Lines that were parsed member by member, by row.
        lines: Other lines by row, in texts where a line is not always a row.
        broken: Malformed lines by row.
        rescued: Rescued values by row and name.
        misfits: Rows with a value of another type that no column rescues: they count as malformed.
        size: Bytes of the texts.
        ended: The number of rows in texts that are complete.
    """

    records: list[Any] = field(default_factory=list)
    slow: dict[int, bytes] = field(default_factory=dict)
    lines: dict[int, bytes] = field(default_factory=dict)
    broken: dict[int, bytes] = field(default_factory=dict)
    rescued: dict[int, dict[str, str]] = field(default_factory=dict)
    misfits: set[int] = field(default_factory=set)
    size: int = 0
    ended: int = 0
    _texts: list[tuple[FileStatus, int, bytes]] = field(default_factory=list)
    _ends: list[int] = field(default_factory=list)
    _split: dict[int, list[bytes]] = field(default_factory=dict)

    def add(self, record: Any, lines: dict[int, bytes], line: bytes) -> None:
        """Add a row, and its line to one of `slow`, `lines` and `broken`."""
        lines[len(self.records)] = line
        self.records.append(record)

    def end_text(self, status: FileStatus, text: bytes) -> None:
        """Count the rows since the last text as those of `text`, a part of the file `status`."""
        self._texts.append((status, len(self.records) - self.ended, text))
        self.ended = len(self.records)
        self._ends.append(self.ended)
        self.size += len(text)

    def rescue(self, row: int, name: str, value: str) -> None:
        """Keep a value that no column takes, as text."""
        self.rescued.setdefault(row, {})[name] = value

    @property
    def files(self) -> list[FileSpan]:
        """Return the files, each with its number of rows."""
        return [(status, count) for status, count, _ in self._texts]

    def line_of(self, row: int) -> bytes:
        """Return the line of a row; IndexError for a row that is in no complete text."""
        line = self.slow.get(row) or self.lines.get(row)
        if line is not None:
            return line
        number = bisect_right(self._ends, row)
        if number == len(self._ends):
            raise IndexError(row)
        _, count, text = self._texts[number]
        if number not in self._split:
            self._split[number] = [line for line in text.split(b"\n") if line.strip()]
        return self._split[number][row - (self._ends[number] - count)]
