"""File stores: local disks here, object stores by their own module."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from errno import ENOTSUP, EPERM, EXDEV
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

from lakeward.autoloader.discovery.line_ranges import read_lines

Visible = Callable[[str], bool]
Stat = tuple[int, int]


class Storage(Protocol):
    """A file store."""

    def walk(self, root: str, visible: Visible) -> Iterator[str]:
        """Yield all files below `root` whose path segments are visible; `root` itself if it is a file.

        Raises FileNotFoundError if `root` does not exist. Entries that disappear during the walk are skipped.
        """

    def stat(self, path: str, *, fresh: bool = False) -> Stat:
        """Return size in bytes and modification time in microseconds; raise FileNotFoundError.

        The values may come from the last walk unless `fresh` is set.
        """

    def read(self, path: str, part: tuple[int, int] | None = None) -> bytes:
        """Return the content, or the lines that begin in a part of it; raise FileNotFoundError."""

    def is_regular_file(self, path: str, root: str) -> bool:
        """Return whether `path` is a regular file below `root`, with links resolved."""

    def delete(self, path: str) -> None:
        """Delete the file; raise FileNotFoundError or another OSError."""

    def move(self, path: str, target: str) -> None:
        """Move the file within the store; raise FileExistsError instead of overwriting."""


class LocalStorage:
    """A local or mounted disk."""

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

    def stat(self, path: str, *, fresh: bool = False) -> Stat:  # noqa: ARG002  # always current
        """See Storage."""
        status = os.stat(path)  # noqa: PTH116  # creating a Path per file doubles the cost of listing
        return status.st_size, status.st_mtime_ns // 1000

    def read(self, path: str, part: tuple[int, int] | None = None) -> bytes:
        """See Storage."""
        if part is not None:
            with Path(path).open("rb") as stream:
                return read_lines(stream, *part)
        with open(path, "rb", buffering=0) as whole:  # noqa: PTH123  # creating a Path per file is slow
            return whole.readall()

    def is_regular_file(self, path: str, root: str) -> bool:
        """See Storage."""
        inside = os.path.realpath(path).startswith(os.path.realpath(root).rstrip("/") + "/")
        return inside and S_ISREG(Path(path).lstat().st_mode)

    def delete(self, path: str) -> None:
        """See Storage."""
        Path(path).unlink()

    def move(self, path: str, target: str) -> None:
        """See Storage. Across disks the file is copied completely before it gets its name."""
        destination = Path(target)
        destination.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(path, target)
        except OSError as error:
            if error.errno not in (EXDEV, EPERM, ENOTSUP):
                raise
            draft = destination.with_name(f".{uuid.uuid4().hex}.moving")
            try:
                shutil.copy2(path, draft)
                os.link(draft, target)
            finally:
                draft.unlink(missing_ok=True)
        Path(path).unlink()


def open_storage(path: str, environ: Mapping[str, str] = os.environ) -> Storage:
    """Return the store of a path: an object store for URIs, else the local disk.

    Raises CloudFilesError(STORAGE_NOT_MAPPED) for storage that cannot be reached.
    """
    if "://" not in path:
        return LocalStorage()
    from lakeward.autoloader.discovery.object_store import open_object_store

    return open_object_store(path, environ)
