"""Copy, remove and write local files; errors have the platform's texts.

On Databricks a wrong path damages a folder of DBFS. A local path is on the machine's own disk, so only paths
below the lakehouse, the project or the temporary folder are removed or replaced.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeward.atomic_files import atomic_replace, atomic_write
from lakeward.dbutils.failures import ExecutionError
from lakeward.dbutils.locations import Location


def is_removable(path: Path, *, below: Iterable[Path], keep: Iterable[Path]) -> bool:
    """Return whether `path` lies strictly below one of `below` and contains none of `keep`.

    All are real paths with links resolved. Nothing is changed.
    """
    inside = any(folder != path and folder in path.parents for folder in below if folder != Path("/"))
    return inside and not any(kept == path or path in kept.parents for kept in keep)


_IO = "java.io.IOException"

_ARGUMENT = "java.lang.IllegalArgumentException"


@contextmanager
def translate_os_errors(call: str, shown: str) -> Iterator[None]:
    """Convert OSErrors of the block to ExecutionErrors that name the path as the user wrote it."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        message = f"No such file or directory {shown}"
        raise ExecutionError(call, "java.io.FileNotFoundException", message) from None
    except FileExistsError:
        raise ExecutionError(call, "org.apache.hadoop.fs.FileAlreadyExistsException", shown) from None
    except IsADirectoryError:
        raise ExecutionError(call, "java.io.FileNotFoundException", f"{shown} is a directory") from None
    except PermissionError:
        message = f"Permission denied: {shown}"
        raise ExecutionError(call, "org.apache.hadoop.security.AccessControlException", message) from None
    except OSError as error:
        raise ExecutionError(call, _IO, f"{error.strerror or error}: {shown}") from None


def copy(source: Location, dest: Location, *, recurse: bool, call: str) -> None:
    """Copy a file, or a directory with `recurse`; replace files of the same names."""
    with translate_os_errors(call, source.shown):
        source.local.stat()
    if not source.local.is_dir():
        into = dest.local.is_dir() or dest.shown.endswith("/")
        _copy_file(source, dest.below(source.local.name) if into else dest, call)
        return
    if not recurse:
        message = f"Cannot copy directory unless recurse is set to true: {source.shown}"
        raise ExecutionError(call, _ARGUMENT, message)
    if dest.local.resolve().is_relative_to(source.local.resolve()):
        message = f"Cannot copy {source.shown} into itself: {dest.shown}"
        raise ExecutionError(call, _ARGUMENT, message)
    with translate_os_errors(call, dest.shown):
        shutil.copytree(
            source.local, dest.local, dirs_exist_ok=True, copy_function=_copy_plain, ignore=_loops
        )


def _loops(folder: str, names: list[str]) -> list[str]:
    """Name the symbolic links in `folder` that lead to themselves or to a folder around them."""
    real = Path(folder).resolve()
    return [name for name in names if _is_loop(real / name)]


def _is_loop(place: Path) -> bool:
    if not place.is_symlink():
        return False
    try:
        return place.parent.is_relative_to(place.resolve())
    except RuntimeError:
        return True


def _copy_file(source: Location, dest: Location, call: str) -> None:
    if dest.local.exists() and dest.local.samefile(source.local):
        raise ExecutionError(call, _ARGUMENT, f"Cannot copy {source.shown} to itself")
    with translate_os_errors(call, dest.shown):
        dest.local.parent.mkdir(parents=True, exist_ok=True)
        _copy_plain(source.local, dest.local)


def _copy_plain(source: os.PathLike[str] | str, dest: os.PathLike[str] | str) -> None:
    """Copy a file atomically: readers of the directory never see a partial file."""
    with atomic_replace(Path(dest)) as aside:
        shutil.copyfile(source, aside)


def refuse_mount_point(place: Location, call: str) -> None:
    """Raise ExecutionError if the path is a mount point: removing it would not remove its source."""
    if place.local.is_symlink() and place.local.is_dir():
        message = f"{place.shown} is a mount point"
        raise ExecutionError(call, _IO, message, next_step="Call dbutils.fs.unmount first.")


def remove(place: Location, *, recurse: bool, call: str, keep: bool = False) -> bool:
    """Remove a file or a directory; return False if it does not exist. `keep` leaves an empty directory."""
    local = place.local
    if not os.path.lexists(local):
        return False
    refuse_mount_point(place, call)
    with translate_os_errors(call, place.shown):
        if not local.is_dir():
            local.unlink()
        elif recurse and keep:
            for each in local.iterdir():
                remove(place.below(each.name), recurse=True, call=call)
        elif recurse:
            shutil.rmtree(local)
        elif any(local.iterdir()):
            message = f"Directory {place.shown} is not empty, and recurse is not set"
            raise ExecutionError(call, _IO, message)
        elif not keep:
            local.rmdir()
    return True


def write(place: Location, data: bytes, *, overwrite: bool, call: str) -> None:
    """Write a file, whole or not at all."""
    with translate_os_errors(call, place.shown):
        if place.local.is_dir() or (place.local.exists() and not overwrite):
            raise FileExistsError(place.shown)
        place.local.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(place.local, data)
