"""Where files lie: a local disk through `os`, fastest for many small files, other stores through Arrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["ArrowStorage", "LocalStorage", "Storage", "storage_of"]

Visible = Callable[[str], bool]
Stat = tuple[int, int]


class Storage(Protocol):
    """What discovery and readers need of a store."""

    def walk(self, root: str, visible: Visible) -> Iterator[str]:
        """Paths of all files below `root` with visible names only; `root` itself if it is a file.

        FileNotFoundError when there is no `root`. What disappears during the walk is left out.
        """

    def stat(self, path: str) -> Stat:
        """Size in bytes and modification time in microseconds. FileNotFoundError when it is gone."""

    def read(self, path: str) -> bytes:
        """All bytes. FileNotFoundError when it is gone."""


class LocalStorage:
    """A mounted disk."""

    def walk(self, root: str, visible: Visible) -> Iterator[str]:
        """See Storage."""
        if Path(root).is_file():
            yield root
            return
        pending = [root.rstrip("/") or "/"]
        first = True
        while pending:
            folder = pending.pop()
            try:
                entries = os.scandir(folder)
            except (FileNotFoundError, NotADirectoryError):
                if first:
                    raise
                continue
            first = False
            with entries:
                for entry in entries:
                    if not visible(entry.name):
                        continue
                    if entry.is_dir():
                        pending.append(entry.path)
                    elif entry.is_file():
                        yield entry.path

    def stat(self, path: str) -> Stat:
        """See Storage."""
        status = os.stat(path)  # noqa: PTH116  # a Path a file is half of the cost of listing
        return status.st_size, status.st_mtime_ns // 1000

    def read(self, path: str) -> bytes:
        """See Storage."""
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123  # a Path a file is dear
            return stream.readall()


class ArrowStorage:
    """An object store, named by URI (`s3://bucket/…`)."""

    def __init__(self, file_system: FileSystem, scheme: str) -> None:
        self._files = file_system
        self._scheme = scheme
        self._seen: dict[str, Stat] = {}

    def walk(self, root: str, visible: Visible) -> Iterator[str]:
        """See Storage; the listing carries sizes and times, so that no file is asked for them again."""
        from pyarrow.fs import FileSelector, FileType

        start = self._inside(root)
        info = self._files.get_file_info([start])[0]
        if info.type == FileType.NotFound:
            raise FileNotFoundError(root)
        found = (
            [info]
            if info.type == FileType.File
            else self._files.get_file_info(FileSelector(start, recursive=True))
        )
        self._seen.clear()
        for info in found:
            below = info.path[len(start) :].strip("/")
            if info.type == FileType.File and all(map(visible, below.split("/") if below else ())):
                path = self._scheme + info.path
                self._seen[path] = (info.size, info.mtime_ns // 1000)
                yield path

    def stat(self, path: str) -> Stat:
        """See Storage."""
        from pyarrow.fs import FileType

        known = self._seen.get(path)
        if known is not None:
            return known
        info = self._files.get_file_info([self._inside(path)])[0]
        if info.type == FileType.NotFound:
            raise FileNotFoundError(path)
        return info.size, info.mtime_ns // 1000

    def read(self, path: str) -> bytes:
        """See Storage."""
        with self._files.open_input_file(self._inside(path)) as stream:
            return bytes(stream.read())

    def _inside(self, path: str) -> str:
        return path.removeprefix(self._scheme).rstrip("/")


def storage_of(path: str) -> Storage:
    """The store of a path: a URI's through `pyarrow.fs`, anything else is local."""
    scheme, separator, _ = path.partition("://")
    if not separator:
        return LocalStorage()
    from pyarrow.fs import FileSystem

    file_system, _ = FileSystem.from_uri(path.replace("s3a://", "s3://", 1))
    return ArrowStorage(file_system, f"{scheme}://")
