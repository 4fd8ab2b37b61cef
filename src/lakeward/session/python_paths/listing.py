"""`os.scandir` under the user's names: the entries' `path` begins with what the caller asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, final

from lakeward.session.python_paths.reach import Reach

__all__ = ["scandir"]


class Entry:
    """An `os.DirEntry` with another `path`; everything else is the entry's own."""

    __slots__ = ("_entry", "path")

    def __init__(self, entry: os.DirEntry[Any], path: Any) -> None:
        self._entry = entry
        self.path = path

    @property
    def name(self) -> Any:
        return self._entry.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return repr(self._entry)


@final
class Listing:
    """The iterator and context manager that `os.scandir` gives."""

    def __init__(self, entries: Any, top: Any) -> None:
        self._entries = entries
        self._top = os.fspath(top)

    def __iter__(self) -> Iterator[Entry]:
        return self

    def __next__(self) -> Entry:
        entry = next(self._entries)
        return Entry(entry, os.path.join(self._top, entry.name))

    def __enter__(self) -> Listing:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder before the last entry was read."""
        self._entries.close()


def scandir(reach: Reach, original: Any) -> Callable[..., Any]:
    """`os.scandir` that lists the folder behind a mapped path."""
    find = reach.find

    def call(path: Any = ".") -> Any:
        local = find(path)
        if local is None:
            return original(path)
        try:
            return Listing(original(local), path)
        except OSError as error:
            error.filename = os.fspath(path)
            raise

    return call
