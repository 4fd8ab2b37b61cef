"""What happens to records that cannot be read: PERMISSIVE, DROPMALFORMED, FAILFAST (auto-loader.md §4.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery import Names
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus
    from lakeward.autoloader.readers.layout import Layout

__all__ = ["Malformed"]


@dataclass(frozen=True)
class Malformed:
    """The policy of one stream; `column` is the corrupt-record column, `declared` whether it is there."""

    mode: str
    column: str
    declared: bool
    rescues: bool

    @classmethod
    def of(cls, layout: Layout) -> Malformed:
        """As options and schema say."""
        column = str(layout.options.text("columnNameOfCorruptRecord"))
        return cls(str(layout.options.value("mode")), column, layout.plan.corrupt is not None, layout.rescues)

    @property
    def rescues_broken(self) -> bool:
        """Without its own column a broken record goes to the rescued column: nothing is lost (assumed)."""
        return self.mode == "PERMISSIVE" and self.rescues and not self.declared

    def check(self, status: FileStatus, text: bytes, reason: str) -> None:
        """FAILFAST: raise for the first malformed record."""
        if self.mode != "FAILFAST":
            return
        shown = " ".join(text[:200].decode("utf-8", "replace").split())
        raise CloudFilesError(
            "MALFORMED_RECORD_IN_PARSING",
            f"A malformed record in {Names.shown(status.key)}: {reason}: {shown}",
            next_step="Repair the file, or set mode=PERMISSIVE to keep such records apart.",
        )

    def apply(
        self,
        rows: int,
        files: Sequence[tuple[FileStatus, int]],
        broken: Mapping[int, bytes],
        misfits: Iterable[int],
        text_of: Callable[[int], bytes],
    ) -> tuple[list[bool] | None, list[str | None] | None]:
        """Which rows stay (None: all), and the corrupt-record column (None: all null)."""
        bad = {**dict.fromkeys(misfits), **broken}
        if not bad:
            return None, None
        if self.mode == "DROPMALFORMED":
            return [row not in bad for row in range(rows)], None
        if self.mode == "FAILFAST":
            row = min(bad)
            self.check(_file_of(row, files), text_of(row), "a value does not have the column's type")
        if not self.declared:
            return None, None
        corrupt: list[str | None] = [None] * rows
        for row, text in bad.items():
            corrupt[row] = (text if text is not None else text_of(row)).decode("utf-8", "replace")
        return None, corrupt


def _file_of(row: int, files: Sequence[tuple[FileStatus, int]]) -> FileStatus:
    for status, count in files:
        if row < count:
            return status
        row -= count
    raise IndexError(row)
