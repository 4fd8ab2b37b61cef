"""What happens to records that cannot be read: PERMISSIVE, DROPMALFORMED, FAILFAST (auto-loader.md §4.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery import Names
from lakeward.autoloader.readers.bad_records import BadRecords
from lakeward.autoloader.readers.json_texts import json_text
from lakeward.autoloader.readers.spans import Span, Spans
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from lakeward.autoloader.discovery import FileStatus
    from lakeward.autoloader.readers.layout import Layout

__all__ = ["Malformed"]

_MISFIT = "a value does not have the column's type"


@dataclass(frozen=True)
class Malformed:
    """The policy of one stream; `column` is the corrupt-record column, `declared` whether it is there."""

    mode: str
    column: str
    declared: bool
    rescues: bool
    bad: BadRecords | None = None

    @classmethod
    def of(cls, layout: Layout) -> Malformed:
        """As options and schema say."""
        column = str(layout.options.text("columnNameOfCorruptRecord"))
        mode = str(layout.options.value("mode"))
        declared = layout.plan.corrupt is not None
        return cls(mode, column, declared, layout.rescues, BadRecords.of(layout))

    @property
    def rescues_broken(self) -> bool:
        """Without its own column a broken record goes to the rescued column: nothing is lost (assumed)."""
        return self.mode == "PERMISSIVE" and self.rescues and not self.declared and self.bad is None

    def rescued(self, record: bytes) -> dict[str, str]:
        """A broken record as it stands in the rescued column."""
        return {self.column: json_text(record.decode("utf-8", "replace"))}

    def check(self, status: FileStatus, text: bytes, reason: str) -> None:
        """FAILFAST: raise for the first malformed record."""
        if self.mode != "FAILFAST" or self.bad is not None:
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
        files: Sequence[Span],
        broken: Mapping[int, bytes],
        misfits: Iterable[int],
        text_of: Callable[[int], bytes],
    ) -> tuple[list[bool] | None, list[str | None] | None]:
        """Which rows stay (None: all), and the corrupt-record column (None: all null)."""
        bad = {**dict.fromkeys(misfits), **broken}
        if not bad:
            return None, None
        spans = Spans(files)
        if self.bad is not None:
            for row in sorted(bad):
                text = bad[row]
                reason = _MISFIT if text is None else "it is malformed"
                self.bad.add(spans.file_of(row), text_of(row) if text is None else text, reason)
            self.bad.flush()
        if self.mode == "DROPMALFORMED" or self.bad is not None:
            return [row not in bad for row in range(rows)], None
        if self.mode == "FAILFAST":
            row = min(bad)
            self.check(spans.file_of(row), text_of(row), _MISFIT)
        if not self.declared:
            return None, None
        corrupt: list[str | None] = [None] * rows
        for row, text in bad.items():
            corrupt[row] = (text if text is not None else text_of(row)).decode("utf-8", "replace")
        return None, corrupt
