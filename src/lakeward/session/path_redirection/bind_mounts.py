"""Bind mounts for libraries that open files in native code: `/Volumes` as the kernel sees it.

Python's redirection of paths does not reach duckdb, polars, rasterio, GDAL or a program that computes its
paths. With `bind-mounts = true` under `[tool.lakeward]`, or LAKEWARD_BIND_MOUNTS=1, the process moves into a
mount namespace of its own, in which the mapped prefixes are bind mounts of the local folders. Other processes
see nothing of it. It needs Linux and the right to make namespaces, which Docker's default profile and the
AppArmor rules of some distributions take from users.

It is not the default: in a namespace of an ordinary user, files of other users belong to the overflow user
(65534), which `sudo` and `ssh` refuse.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from lakeward.errors import ConfigurationError
from lakeward.session.mount_table import BIND_MOUNTS_VARIABLE
from lakeward.session.paths import PathMap

_NEW_NAMESPACE, _NEW_USER = 0x00020000, 0x10000000
_BIND, _RECURSIVE, _PRIVATE = 0x1000, 0x4000, 1 << 18
_DETACH = 2

_bound: dict[str, str] = {}
"""What this process has mounted: prefix → folder."""


def bind_folders(path_map: PathMap) -> None:
    """Move this process into a mount namespace in which the prefixes of `path_map` are bind mounts.

    A later map changes the folders of its prefixes and keeps others. Without
    LAKEWARD_BIND_MOUNTS=1 nothing happens.

    Raises ConfigurationError(BIND_MOUNTS_UNAVAILABLE) if the system does not allow it.
    """
    if os.environ.get(BIND_MOUNTS_VARIABLE) != "1":
        return
    entries = path_map.of_python().entries
    # `/Workspace` before the project's own path needs a folder of that name among the workspace files.
    wanted = {prefix: folder for prefix, folder in entries if prefix != f"/Workspace{folder}"}
    if wanted.items() <= _bound.items():
        return
    if not sys.platform.startswith("linux"):
        raise _unavailable(f"{sys.platform} has no mount namespaces")
    here = os.getcwd()
    try:
        _build_root(sorted(wanted.items()))
    except OSError as error:
        raise _unavailable(str(error)) from None
    os.chdir(here)
    _bound.update(wanted)


def _build_root(binds: list[tuple[str, str]]) -> None:
    """Make a root folder with everything of the present one and `binds`, and change to it.

    The prefixes do not exist in `/`, and only the administrator could make them there.
    """
    kernel = _Kernel()
    if not _bound:
        kernel.unshare()
        kernel.mount("none", "/", _RECURSIVE | _PRIVATE)
    root = Path(tempfile.mkdtemp(prefix="lakeward-root-"))
    try:
        kernel.mount("tmpfs", str(root), 0, b"tmpfs")
        for entry in os.scandir("/"):
            place = root / entry.name
            if entry.is_symlink():
                place.symlink_to(os.readlink(entry.path))
                continue
            place.mkdir() if entry.is_dir() else place.touch()
            kernel.mount(entry.path, str(place), _BIND | _RECURSIVE)
        for prefix, folder in binds:
            place = root / prefix.lstrip("/")
            for each in (Path(folder), place):
                each.mkdir(parents=True, exist_ok=True)
            kernel.mount(folder, str(place), _BIND | _RECURSIVE)
        former = root / ".former"
        former.mkdir(exist_ok=True)
        kernel.call("pivot_root", os.fsencode(root), os.fsencode(former))
        os.chdir("/")
        kernel.call("umount2", b"/.former", _DETACH)
        os.rmdir("/.former")
    finally:
        # After the change the temporary folder is a copy with the mount in it.
        with suppress(OSError):
            kernel.call("umount2", os.fsencode(root), _DETACH)
        with suppress(OSError):
            root.rmdir()


class _Kernel:
    """The system calls for namespaces, which `os` has from Python 3.12 on and then in part."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)

    def call(self, name: str, *arguments: object) -> None:
        if getattr(self._library, name)(*arguments):
            number = ctypes.get_errno()
            raise OSError(number, f"{name}: {os.strerror(number)}")

    def mount(self, source: str, place: str, flags: int, kind: bytes | None = None) -> None:
        self.call("mount", os.fsencode(source), os.fsencode(place), kind, ctypes.c_ulong(flags), None)

    def unshare(self) -> None:
        """Enter a mount namespace; without the right to, in a user namespace with the same user and group."""
        try:
            self.call("unshare", _NEW_NAMESPACE)
        except PermissionError:
            user, group = os.getuid(), os.getgid()
            self.call("unshare", _NEW_NAMESPACE | _NEW_USER)
            own = Path("/proc/self")
            (own / "setgroups").write_text("deny", encoding="ascii")
            (own / "uid_map").write_text(f"{user} {user} 1", encoding="ascii")
            (own / "gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _unavailable(reason: str) -> ConfigurationError:
    return ConfigurationError(
        "BIND_MOUNTS_UNAVAILABLE",
        f"The system does not allow bind mounts for this process: {reason}.",
        next_step="Remove `bind-mounts` from [tool.lakeward] (or LAKEWARD_BIND_MOUNTS), and give native "
        "libraries open files or local copies, or make symbolic links such as /Volumes, for example in a "
        "container.",
    )
