"""New files: a complete listing, filtered by the options (auto-loader.md §1.4, §6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from lakeward.autoloader.discovery.globs import Globber, name_pattern
from lakeward.autoloader.discovery.names import Names
from lakeward.autoloader.discovery.storage import Storage
from lakeward.errors import CloudFilesError

__all__ = ["FileStatus", "Lister", "missing_path"]


class FileStatus(NamedTuple):
    """A file as state and readers know it: `key` is its shown name, `mtime` in microseconds."""

    key: str
    path: str
    size: int
    mtime: int


@dataclass(frozen=True)
class Lister:
    """Lists one source; `source` is a local path or a URI and may hold wildcards."""

    source: str
    storage: Storage
    names: Names
    strict: bool = False
    name_glob: str | None = None
    ignored: str = "^[._]"
    modified: tuple[datetime | None, datetime | None] = (None, None)

    @property
    def root(self) -> str:
        """The folder that is listed; partition columns are looked for below it."""
        return Globber(self.source, strict=self.strict).root

    def new(
        self, known: Callable[[str], bool], changed: Callable[[FileStatus], bool] | None = None
    ) -> list[FileStatus]:
        """Files whose key is not known, oldest first; with `changed`, known ones too for which it says so.

        A file that disappears while being listed is not there. FileNotFoundError without a source.
        """
        found = []
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
            if self._in_time(mtime) and (not is_known or (changed is not None and changed(status))):
                found.append(status)
        found.sort(key=lambda status: (status.mtime, status.key))
        return found

    def keys(self) -> Iterator[str]:
        """The keys of all files below the root, whether they are meant or not."""
        root, root_key = self.root, self.names.key(self.root)
        return (root_key + path[len(root) :] for path in self.storage.walk(root, lambda _: True))

    def covers(self, path: str) -> bool:
        """Whether a path lies below the root (never that of the disk) and within the source's wildcards."""
        root = self.root.rstrip("/")
        segments = path[len(root) :].split("/")
        inside = root != "" and path.startswith(f"{root}/") and ".." not in segments
        return inside and Globber(self.source, strict=self.strict).matches(path)

    def below(self) -> Iterable[str]:
        """Paths of files below the root, one after the other; none without a root."""
        root = self.root
        try:
            yield from (path[len(root) :] for path in self._paths())
        except FileNotFoundError:
            return

    def _paths(self) -> Iterable[str]:
        globber = Globber(self.source, strict=self.strict)
        ignored = re.compile(self.ignored)
        paths: Iterable[str] = self.storage.walk(
            globber.root, lambda name: "=" in name or not ignored.search(name)
        )
        if globber.is_glob:
            paths = (path for path in paths if globber.matches(path))
        if self.name_glob:
            wanted = name_pattern(self.name_glob)
            paths = (path for path in paths if wanted.fullmatch(path.rpartition("/")[2]))
        return paths

    def _in_time(self, mtime: int) -> bool:
        after, before = self.modified
        seconds = mtime / 1e6
        return (after is None or seconds > after.timestamp()) and (
            before is None or seconds < before.timestamp()
        )


def missing_path(shown: str) -> CloudFilesError:
    """The error for a source that does not exist."""
    return CloudFilesError(
        "CF_PATH_DOES_NOT_EXIST",
        f"The input path {shown} does not exist.",
        next_step="Create the folder or correct the path in load(…).",
    )
