"""Object stores through Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from lakeward.autoloader.discovery.line_ranges import read_lines
from lakeward.errors import CloudFilesError, first_line

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

_PATIENCE = timedelta(seconds=20)


def open_object_store(path: str, environ: Mapping[str, str]) -> ArrowStorage:
    """Return the store of a URI. Raises CloudFilesError(STORAGE_NOT_MAPPED) if it cannot be reached."""
    scheme, _, rest = path.partition("://")
    # File names are not URI-encoded: they may contain spaces and percent signs.
    root = f"{scheme}://{rest.partition('/')[0]}"
    try:
        file_system, base = _file_system(scheme, root, environ)
    except (OSError, ValueError) as error:
        raise not_mapped(path, root, str(error)) from None
    return ArrowStorage(file_system, root, base.rstrip("/"))


class ArrowStorage:
    """An object store. URIs that start with `prefix` map to paths below `base` in the file system."""

    def __init__(self, file_system: FileSystem, prefix: str, base: str = "") -> None:
        self._files = file_system
        self._prefix = prefix
        self._base = base
        self._seen: dict[str, tuple[int, int]] = {}

    def walk(self, root: str, visible: Callable[[str], bool]) -> Iterator[str]:
        """See `Storage`. Sizes and times of the listing are kept, to save requests per file."""
        from pyarrow.fs import FileSelector, FileType

        start = self._inside(root)
        try:
            info = self._files.get_file_info([start])[0]
        except OSError as error:
            # Google's client asks for credentials with the first request.
            raise not_mapped(root, self._prefix, str(error)) from None
        if info.type == FileType.NotFound:
            raise FileNotFoundError(root)
        infos = (
            [info]
            if info.type == FileType.File
            else self._files.get_file_info(FileSelector(start, recursive=True))
        )
        self._seen.clear()
        for info in infos:
            below = info.path[len(start) :].strip("/")
            if info.type == FileType.File and all(map(visible, below.split("/") if below else ())):
                path = self._prefix + info.path[len(self._base) :]
                self._seen[path] = (info.size, info.mtime_ns // 1000)
                yield path

    def stat(self, path: str, *, fresh: bool = False) -> tuple[int, int]:
        """See `Storage`."""
        from pyarrow.fs import FileType

        known = None if fresh else self._seen.get(path)
        if known is not None:
            return known
        info = self._files.get_file_info([self._inside(path)])[0]
        if info.type == FileType.NotFound:
            raise FileNotFoundError(path)
        return info.size, info.mtime_ns // 1000

    def read(self, path: str, part: tuple[int, int] | None = None) -> bytes:
        """See `Storage`."""
        with self._files.open_input_file(self._inside(path)) as stream:
            return bytes(stream.read()) if part is None else read_lines(stream, *part)

    def is_regular_file(self, path: str, root: str) -> bool:
        """See `Storage`. Object stores have no links."""
        return path.startswith(root.rstrip("/") + "/")

    def delete(self, path: str) -> None:
        """See `Storage`."""
        self._files.delete_file(self._inside(path))

    def move(self, path: str, target: str) -> None:
        """See `Storage`."""
        from pyarrow.fs import FileType

        destination = self._inside(target)
        if self._files.get_file_info([destination])[0].type != FileType.NotFound:
            raise FileExistsError(target)
        self._files.copy_file(self._inside(path), destination)
        self._files.delete_file(self._inside(path))

    def _inside(self, path: str) -> str:
        if path.startswith(self._prefix):
            return (self._base + path[len(self._prefix) :]).rstrip("/")
        return path.partition("://")[2].rstrip("/")


def not_mapped(path: str, root: str, reason: str) -> CloudFilesError:
    """Return the error for storage that is neither mapped to a folder nor within reach."""
    why = first_line(reason, "no reason was given").rstrip(".")
    return CloudFilesError(
        "STORAGE_NOT_MAPPED",
        f"{path} cannot be read, and no local folder is mapped to it: {why}.",
        next_step=f"Map a folder with `--mount {root}=FOLDER`, or under [tool.lakeward.mounts] in "
        "pyproject.toml; or set the credentials that reach it.",
    )


def _file_system(scheme: str, root: str, environ: Mapping[str, str]) -> tuple[FileSystem, str]:
    from pyarrow.fs import FileSystem, GcsFileSystem

    if scheme in ("abfss", "abfs") and not any(name.startswith("AZURE_") for name in environ):
        # Arrow's client ends the process if it finds none.
        raise OSError("no variable AZURE_… has credentials")
    if scheme in ("gs", "gcs"):
        # Without credentials it would try for a quarter of an hour.
        return GcsFileSystem(retry_time_limit=_PATIENCE), root.partition("://")[2]
    found: tuple[FileSystem, str] = FileSystem.from_uri(
        f"s3://{root.partition('://')[2]}" if scheme in ("s3a", "s3n") else root
    )
    return found
