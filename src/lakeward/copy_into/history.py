"""Which files a table has loaded: segments in its log folder, the newest one named by the table itself.

    <table>/_delta_log/_copy_into_log/<number>.json     {"older": [[number, count]…], "files": [key…]}

A segment is written before the commit that names it, as the version of the transaction id `APP` in the same
commit as the data: a crash between leaves a file that nobody refers to. Segments are never changed. A new one
takes in smaller older ones, so that each is at least twice as long as the next and there are few of them.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

__all__ = ["APP", "History", "Segment", "Store", "append", "new_number", "read"]

APP = "lakeward.copy_into"


class Store(Protocol):
    """Where segments lie."""

    def read(self, number: int) -> str | None:
        """The text of a segment; None where there is none."""

    def write(self, number: int, text: str) -> None:
        """Keep a new segment."""


@dataclass(frozen=True)
class Segment:
    """A segment, as another one refers to it."""

    number: int
    count: int


@dataclass(frozen=True)
class History:
    """The keys of all loaded files, and the segments that hold them, newest and smallest first."""

    keys: frozenset[str] = frozenset()
    segments: tuple[Segment, ...] = ()


def read(store: Store, number: int) -> History:
    """The history behind a segment's number; the empty one for a table that never loaded (below zero).

    A number without a segment is that of another table's history: a shallow clone begins anew (§8 rule 16).
    """
    text = store.read(number) if number >= 0 else None
    if text is None:
        return History()
    newest = json.loads(text)
    keys = set(newest["files"])
    segments = [Segment(number, len(newest["files"]))]
    for older, count in newest["older"]:
        keys |= _files(store, older)
        segments.append(Segment(older, count))
    return History(frozenset(keys), tuple(segments))


def new_number(above: int = -1) -> int:
    """A number that no other segment has, greater than `above`: Delta skips a write with a smaller one."""
    number = uuid.uuid4().int >> 65
    while number <= above:
        number = (number + above) // 2 + 1
    return number


def append(store: Store, history: History, number: int, loaded: Iterable[str]) -> None:
    """Write the segment `number`, with which the history holds `loaded` as well."""
    files = dict.fromkeys(loaded)
    older = list(history.segments)
    while older and older[0].count <= 2 * len(files):
        files |= dict.fromkeys(sorted(_files(store, older.pop(0).number)))
    kept = [[segment.number, segment.count] for segment in older]
    store.write(number, json.dumps({"older": kept, "files": list(files)}))


def _files(store: Store, number: int) -> set[str]:
    text = store.read(number)
    assert text is not None, f"the load history lacks its segment {number}"
    return set(json.loads(text)["files"])
