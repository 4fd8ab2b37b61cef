"""Listings of the files of a source: complete, filtered by the options, with names as users see them.

`key=value` directories below the source are partition values (AL-5.2, AL-7.4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.discovery.globs import Globber, name_pattern
from lakeward.autoloader.discovery.storage import Storage
from lakeward.errors import CloudFilesError

DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def parse_partition_values(below: str) -> dict[str, str | None]:
    """Return partition keys and unescaped values of a relative path (AL-5.2)."""
    out: dict[str, str | None] = {}
    for segment in below.split("/")[:-1]:
        key, equals, value = segment.partition("=")
        if equals and key:
            out[unquote(key)] = None if value == DEFAULT_PARTITION else unquote(value)
    return out


def partition_value(below: str, name: str) -> str | None:
    """Return the value of a partition column in a relative path, which may have its name in another case."""
    values = parse_partition_values(below)
    return next((value for key, value in values.items() if key.lower() == name.lower()), None)


COMPRESSED_SUFFIXES = (".gz", ".bz2", ".zst", ".zstd", ".deflate", ".snappy")
"""The names of compressed files of text formats end in one of these."""


class FileStatus(NamedTuple):
    """A discovered file: key, local path or URI, size in bytes, modification time in microseconds.

    With `part`, a task reads the lines that begin from its first position up to its second.
    """

    key: str
    path: str
    size: int
    mtime: int
    part: tuple[int, int] | None = None


@dataclass(frozen=True)
class FileLister:
    """Lists one source: a local path or a URI, possibly with wildcards."""

    source: str
    storage: Storage
    names: FileNames
    strict: bool = False
    name_glob: str | None = None
    ignored: str = "^[._]"
    modified: tuple[datetime | None, datetime | None] = (None, None)

    @cached_property
    def _globber(self) -> Globber:
        return Globber(self.source, strict=self.strict)

    @property
    def root(self) -> str:
        """Return the listed directory; partition columns are below it."""
        return self._globber.root

    def list_new(
        self, known: Callable[[str], bool], changed: Callable[[FileStatus], bool] | None = None
    ) -> list[FileStatus]:
        """Return unknown files, oldest first; known ones too if `changed` returns true for them.

        Files that disappear during the listing are skipped. Raises FileNotFoundError if the source does not
        exist.
        """
        files = []
        root, root_key = self.root, self.names.key(self.root)
        for path in self._paths():
            key = root_key + path[len(root) :]
            is_known = known(key)
            if is_known and changed is None:
                continue
            try:
                size, mtime = self.storage.stat(path)
            except FileNotFoundError:
                continue
            status = FileStatus(key, path, size, mtime)
            if self._is_in_time_range(mtime) and (not is_known or (changed is not None and changed(status))):
                files.append(status)
        files.sort(key=lambda status: (status.mtime, status.key))
        return files

    def list_keys(self) -> Iterator[str]:
        """Return the keys of all files below the root, regardless of filters."""
        root, root_key = self.root, self.names.key(self.root)
        return (root_key + path[len(root) :] for path in self.storage.walk(root, lambda _: True))

    def covers(self, path: str) -> bool:
        """Return whether a path is below the root (never the disk's) and matches the wildcards."""
        root = self.root.rstrip("/")
        segments = path[len(root) :].split("/")
        inside = root != "" and path.startswith(f"{root}/") and ".." not in segments
        return inside and self._globber.matches(path)

    def relative_paths(self) -> Iterable[str]:
        """Yield paths relative to the root; nothing if the root does not exist."""
        root = self.root
        try:
            yield from (path[len(root) :] for path in self._paths())
        except FileNotFoundError:
            return

    def _paths(self) -> Iterable[str]:
        ignored = re.compile(self.ignored)
        paths: Iterable[str] = self.storage.walk(
            self.root, lambda name: "=" in name or not ignored.search(name)
        )
        if self._globber.is_glob:
            paths = (path for path in paths if self._globber.matches(path))
        if self.name_glob:
            pattern = name_pattern(self.name_glob)
            paths = (path for path in paths if pattern.fullmatch(path.rpartition("/")[2]))
        return paths

    def _is_in_time_range(self, mtime: int) -> bool:
        after, before = self.modified
        seconds = mtime / 1e6
        return (after is None or seconds > after.timestamp()) and (
            before is None or seconds < before.timestamp()
        )


def path_not_found(shown: str) -> CloudFilesError:
    """Return the error for a source that does not exist."""
    return CloudFilesError(
        "CF_PATH_DOES_NOT_EXIST",
        f"The input path {shown} does not exist.",
        next_step="Create the folder or correct the path in load(…).",
    )
