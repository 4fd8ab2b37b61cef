"""The load history: which files a table has loaded, as immutable segments in the table's log directory.

    <table>/_delta_log/_copy_into_log/<number>.json     {"older": [[number, count]…], "files": [key…]}

A segment is written before the commit that references it. The reference is the version of the transaction id
`APP`, committed together with the data: a crash in between leaves an unreferenced file. A new segment absorbs
smaller older ones, so that each is at least twice as long as the next and their number stays logarithmic.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

APP_ID = "lakeward.copy_into"


class SegmentStore(Protocol):
    """Storage of segments."""

    def read(self, number: int) -> str | None:
        """Return the text of a segment, None if it does not exist."""

    def write(self, number: int, text: str) -> None:
        """Store a new segment."""


@dataclass(frozen=True)
class Segment:
    """A reference to a segment, with its number of files."""

    number: int
    count: int


@dataclass(frozen=True)
class LoadHistory:
    """The keys of all loaded files and their segments, newest and smallest first."""

    keys: frozenset[str] = frozenset()
    segments: tuple[Segment, ...] = ()


def read_history(store: SegmentStore, number: int) -> LoadHistory:
    """Return the load history that ends with segment `number`.

    A negative number is a table that never loaded. A number without a segment belongs to another table's
    history: a shallow clone starts with an empty one (AL-8.16).
    """
    text = store.read(number) if number >= 0 else None
    if text is None:
        return LoadHistory()
    newest = json.loads(text)
    keys = set(newest["files"])
    segments = [Segment(number, len(newest["files"]))]
    for older, count in newest["older"]:
        keys |= _segment_files(store, older)
        segments.append(Segment(older, count))
    return LoadHistory(frozenset(keys), tuple(segments))


def new_segment_number(above: int = -1) -> int:
    """Return a unique number greater than `above`; Delta ignores writes with a lower version."""
    number = uuid.uuid4().int >> 65
    while number <= above:
        number = (number + above) // 2 + 1
    return number


def append_segment(store: SegmentStore, history: LoadHistory, number: int, loaded: Iterable[str]) -> None:
    """Write a segment that adds files to the history.

    Args:
        store: Where segments are stored.
        history: The current history.
        number: Number of the new segment.
        loaded: Keys of the added files.
    """
    files = dict.fromkeys(loaded)
    older = list(history.segments)
    while older and older[0].count <= 2 * len(files):
        files |= dict.fromkeys(sorted(_segment_files(store, older.pop(0).number)))
    kept = [[segment.number, segment.count] for segment in older]
    store.write(number, json.dumps({"older": kept, "files": list(files)}))


def _segment_files(store: SegmentStore, number: int) -> set[str]:
    text = store.read(number)
    assert text is not None, f"segment {number} of the load history is missing"
    return set(json.loads(text)["files"])
