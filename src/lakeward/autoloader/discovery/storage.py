"""Where files lie: a local disk through `os`, fastest for many small files, other stores through Arrow."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from errno import ENOTSUP, EPERM, EXDEV
from pathlib import Path
from stat import S_ISREG
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

    def stat(self, path: str, *, fresh: bool = False) -> Stat:
        """Size in bytes and modification time in microseconds. FileNotFoundError when it is gone.

        What the last walk saw may be answered, unless it has to be `fresh`.
        """

    def read(self, path: str) -> bytes:
        """All bytes. FileNotFoundError when it is gone."""

    def is_plain(self, path: str, root: str) -> bool:
        """Whether `path` is a file of its own that lies below `root`, also when links are followed."""

    def delete(self, path: str) -> None:
        """Take the file away. FileNotFoundError when it is gone, other OSErrors where it must stay."""

    def move(self, path: str, target: str) -> None:
        """Put the file at `target` of the same store. FileExistsError, not an overwrite, where one is."""


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

    def stat(self, path: str, *, fresh: bool = False) -> Stat:  # noqa: ARG002  # a disk is always fresh
        """See Storage."""
        status = os.stat(path)  # noqa: PTH116  # a Path a file is half of the cost of listing
        return status.st_size, status.st_mtime_ns // 1000

    def read(self, path: str) -> bytes:
        """See Storage."""
        with open(path, "rb", buffering=0) as stream:  # noqa: PTH123  # a Path a file is dear
            return stream.readall()

    def is_plain(self, path: str, root: str) -> bool:
        """See Storage."""
        inside = os.path.realpath(path).startswith(os.path.realpath(root).rstrip("/") + "/")
        return inside and S_ISREG(Path(path).lstat().st_mode)

    def delete(self, path: str) -> None:
        """See Storage."""
        Path(path).unlink()

    def move(self, path: str, target: str) -> None:
        """See Storage; across disks by a copy that is whole before it has its name."""
        place = Path(target)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target)
        except OSError as error:
            if error.errno not in (EXDEV, EPERM, ENOTSUP):
                raise
            draft = place.with_name(f".{uuid.uuid4().hex}.moving")
            try:
                shutil.copy2(path, draft)
                os.link(draft, target)
            finally:
                draft.unlink(missing_ok=True)
        Path(path).unlink()


class ArrowStorage:
    """An object store: what a URI names that starts with `prefix` stands below `base` in the file system."""

    def __init__(self, file_system: FileSystem, prefix: str, base: str = "") -> None:
        self._files = file_system
        self._prefix = prefix
        self._base = base
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
                path = self._prefix + info.path[len(self._base) :]
                self._seen[path] = (info.size, info.mtime_ns // 1000)
                yield path

    def stat(self, path: str, *, fresh: bool = False) -> Stat:
        """See Storage."""
        from pyarrow.fs import FileType

        known = None if fresh else self._seen.get(path)
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

    def is_plain(self, path: str, root: str) -> bool:
        """See Storage; a store has no links."""
        return path.startswith(root.rstrip("/") + "/")

    def delete(self, path: str) -> None:
        """See Storage."""
        self._files.delete_file(self._inside(path))

    def move(self, path: str, target: str) -> None:
        """See Storage."""
        from pyarrow.fs import FileType

        place = self._inside(target)
        if self._files.get_file_info([place])[0].type != FileType.NotFound:
            raise FileExistsError(target)
        self._files.copy_file(self._inside(path), place)
        self._files.delete_file(self._inside(path))

    def _inside(self, path: str) -> str:
        if path.startswith(self._prefix):
            return (self._base + path[len(self._prefix) :]).rstrip("/")
        return path.partition("://")[2].rstrip("/")


def storage_of(path: str) -> Storage:
    """The store of a path: a URI's through `pyarrow.fs`, anything else is local."""
    scheme, separator, rest = path.partition("://")
    if not separator:
        return LocalStorage()
    from pyarrow.fs import FileSystem

    # Names of files are no URIs: they may hold spaces and percent signs.
    place = rest.partition("/")[0]
    file_system, base = FileSystem.from_uri(f"{'s3' if scheme in ('s3a', 's3n') else scheme}://{place}")
    return ArrowStorage(file_system, f"{scheme}://{place}", base.rstrip("/"))
