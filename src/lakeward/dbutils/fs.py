"""`dbutils.fs`: files under the platform's paths."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, NoReturn

from lakeward.dbutils import files, mounts
from lakeward.dbutils.failures import ExecutionError, unsupported_function
from lakeward.dbutils.files import is_removable
from lakeward.dbutils.locations import Location, locate
from lakeward.dbutils.mounts import MountInfo
from lakeward.dbutils.utility import Utility, also_named
from lakeward.object_metadata import is_stored_data
from lakeward.volume_folders import absent_volume, is_volume, missing_volume_texts

_CALL = "z:com.databricks.backend.daemon.dbutils.FSUtils."
_MOUNT_NAMES = also_named(
    mountPoint="mount_point", encryptionType="encryption_type", extraConfigs="extra_configs"
)


class FileInfo(NamedTuple):
    """One entry of a directory; subdirectories end with a slash and have the size 0."""

    path: str
    name: str
    size: int
    modificationTime: int

    def isDir(self) -> bool:
        return self.name.endswith("/")

    def isFile(self) -> bool:
        return not self.isDir()


class FileSystem(Utility):
    """`dbutils.fs`. Failures raise ExecutionError, whose text names the platform's Java class."""

    _group = "fs"

    def __call__(self) -> FileSystem:
        """Return itself: code that was written after Scala's has `dbutils.fs().ls(…)`."""
        return self

    @also_named(dir="path")
    def ls(self, path: str) -> list[FileInfo]:
        """Return the entries of a directory sorted by name, or the single entry of a file."""
        place, call = self._at(path, "ls")
        with files.translate_os_errors(call, place.shown):
            if not place.local.is_dir():
                return [_info(Location(place.shown.rstrip("/"), place.local), place.local.name)]
            warehouse = self._environment().settings().warehouse
            entries = sorted(each for each in place.local.iterdir() if is_stored_data(each, warehouse))
            return [_info(place.below(each.name, is_dir=each.is_dir()), each.name) for each in entries]

    @also_named(from_="source", to="dest")
    def cp(self, source: str, dest: str, recurse: bool = False) -> bool:
        """Copy a file; a directory only with `recurse`, merged into an existing directory of that name."""
        (here, call), (there, _) = self._at(source, "cp"), self._at(dest, "cp")
        self._require_volume(there, call)
        self._refuse_protected_target(here, there, call)
        files.copy(here, there, recurse=recurse, call=call)
        return True

    @also_named(from_="source", to="dest")
    def mv(self, source: str, dest: str, recurse: bool = False) -> bool:
        """Copy, then remove the source."""
        (here, call), (there, _) = self._at(source, "mv"), self._at(dest, "mv")
        self._require_volume(there, call)
        files.refuse_mount_point(here, call)
        self._refuse_protected(here, call)
        self._refuse_protected_target(here, there, call)
        files.copy(here, there, recurse=recurse, call=call)
        files.remove(here, recurse=True, call=call)
        return True

    @also_named(path="dir")
    def rm(self, dir: str, recurse: bool = False) -> bool:
        """Remove a file, or a directory; a non-empty one requires `recurse`. Return False if it does not
        exist. Of a volume the content is removed: DROP VOLUME removes the volume.
        """
        place, call = self._at(dir, "rm")
        files.refuse_mount_point(place, call)
        self._refuse_protected(place, call)
        keep = is_volume(self._environment().settings().volumes, place.local)
        return files.remove(place, recurse=recurse, call=call, keep=keep)

    @also_named(path="dir")
    def mkdirs(self, dir: str) -> bool:
        """Create a directory and its parents; an existing one is accepted."""
        place, call = self._at(dir, "mkdirs")
        self._require_volume(place, call)
        with files.translate_os_errors(call, place.shown):
            place.local.mkdir(parents=True, exist_ok=True)
        return True

    @also_named(maxBytes="max_bytes")
    def head(self, file: str, max_bytes: int = 65536) -> str:
        """Return the first bytes of a file as text; print a note if the file is longer."""
        place, call = self._at(file, "head")
        with files.translate_os_errors(call, place.shown), place.local.open("rb") as opened:
            start = opened.read(max_bytes + 1)
        if len(start) > max_bytes:
            print(f"[Truncated to first {max_bytes} bytes]")
        return start[:max_bytes].decode("utf-8", errors="replace")

    def put(self, file: str, contents: str, overwrite: bool = False) -> bool:
        """Write text to a file and create its parent directories."""
        place, call = self._at(file, "put")
        self._require_volume(place, call)
        if overwrite and place.local.exists():
            self._refuse_protected(place, call)
        data = contents.encode()
        files.write(place, data, overwrite=overwrite, call=call)
        print(f"Wrote {len(data)} bytes.")
        return True

    @_MOUNT_NAMES
    def mount(
        self,
        source: str,
        mount_point: str,
        encryption_type: str = "",
        owner: str | None = None,
        extra_configs: Mapping[str, str] | None = None,
    ) -> bool:
        """Make `source` available under `mount_point`; credentials in `extra_configs` are ignored.

        The source is the local folder to which the path mapping leads. Without a mapping, an empty folder is
        used, and a line on stderr reports it.
        """
        environment = self._environment()
        mounted = mounts.mount(
            environment.settings(), environment.paths, source, mount_point, encryption_type
        )
        if mounted is not None:
            print(
                f"dbutils.fs.mount: {source} is not mapped to a local folder (--mount {source}=FOLDER); "
                f"the empty folder {mounted} is used instead.",
                file=sys.stderr,
            )
        return True

    @_MOUNT_NAMES
    def updateMount(
        self,
        source: str,
        mount_point: str,
        encryption_type: str = "",
        owner: str | None = None,
        extra_configs: Mapping[str, str] | None = None,
    ) -> bool:
        """Mount `source`, replacing an existing mount."""
        if any(each.mountPoint == mounts.normalize_mount_point(mount_point) for each in self.mounts()):
            self.unmount(mount_point)
        return self.mount(source, mount_point, encryption_type, owner, extra_configs)

    @_MOUNT_NAMES
    def unmount(self, mount_point: str) -> bool:
        """Remove a mount point; the files of its source are kept."""
        mounts.unmount(self._environment().settings(), mount_point)
        print(f"{mounts.normalize_mount_point(mount_point)} has been unmounted.")
        return True

    def mounts(self) -> list[MountInfo]:
        """Return the mount points of the platform, of the settings, and those created by `mount`."""
        return mounts.list_mounts(self._environment().settings())

    def refreshMounts(self) -> bool:
        """Do nothing: every process reads the mounts from the same folder."""
        return True

    def cacheFiles(self, *files: str) -> NoReturn:
        """Raise DbutilsError(NOT_SUPPORTED)."""
        raise _no_cache("cacheFiles")

    def cacheTable(self, name: str) -> NoReturn:
        """Raise DbutilsError(NOT_SUPPORTED)."""
        raise _no_cache("cacheTable")

    def uncacheFiles(self, *files: str) -> NoReturn:
        """Raise DbutilsError(NOT_SUPPORTED)."""
        raise _no_cache("uncacheFiles")

    def uncacheTable(self, name: str) -> NoReturn:
        """Raise DbutilsError(NOT_SUPPORTED)."""
        raise _no_cache("uncacheTable")

    def _at(self, path: str, function: str) -> tuple[Location, str]:
        return locate(path, self._environment().paths, _CALL + function), _CALL + function

    def _require_volume(self, place: Location, call: str) -> None:
        """Raise ExecutionError for a path below `/Volumes` that is in no volume which exists."""
        names = absent_volume(self._environment().settings().volumes, place.local)
        if names is not None:
            message, next_step = missing_volume_texts(names)
            raise ExecutionError(call, "java.io.FileNotFoundException", message, next_step=next_step)

    def _refuse_protected_target(self, source: Location, dest: Location, call: str) -> None:
        target = dest.below(source.local.name) if source.local.is_file() and dest.local.is_dir() else dest
        if target.local.exists():
            self._refuse_protected(target, call)

    def _refuse_protected(self, place: Location, call: str) -> None:
        environment = self._environment()
        settings, mapped = environment.settings(), environment.paths.entries
        below = [settings.root, settings.state, Path(tempfile.gettempdir()), *(Path(f) for _, f in mapped)]
        home = Path.home()
        below = [folder for folder in below if folder != home and folder not in home.parents]
        roots = (settings.dbfs, settings.volumes, settings.workspace)
        keep = [settings.root, settings.state, *roots, home, Path.cwd()]
        if not is_removable(
            place.local.resolve(),
            below=[folder.resolve() for folder in below],
            keep=[folder.resolve() for folder in keep],
        ):
            raise ExecutionError(
                call,
                "java.io.IOException",
                f"{place.shown} is left alone: only what lies below the lakehouse, {settings.root} or "
                f"{tempfile.gettempdir()} is removed or replaced.",
                next_step="Name a path in /Volumes or dbfs:/, or map it to a folder with --mount.",
            )


def _info(place: Location, name: str) -> FileInfo:
    status = place.local.stat() if place.local.exists() else place.local.lstat()
    directory = place.shown.endswith("/")
    size = 0 if directory else status.st_size
    return FileInfo(place.shown, f"{name}/" if directory else name, size, status.st_mtime_ns // 1_000_000)


def _no_cache(function: str) -> Exception:
    return unsupported_function(
        f"dbutils.fs.{function}", "DBFS caching has no successor.", "Use df.cache() instead."
    )
