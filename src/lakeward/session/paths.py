"""Which local folder stands behind `/Volumes/…`, `dbfs:/…` or `s3://bucket/…`: pure text, no file is touched.

A path is taken apart by prefix, the longest first, at component boundaries only (`/Volumes2` is not under
`/Volumes`). `..` is resolved in the user's name before the prefix is looked up, as the platform does:
`/Volumes/c/s/v/../w` is the volume `w`, `/Volumes/../etc/passwd` is `/etc/passwd`, and no spelling reaches
the folders beside a mapped one. A URI cannot be left through `..`: its root is a root.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeward.session.settings import Settings

__all__ = ["DBFS_ROOTS", "PathMap"]

DBFS_ROOTS = ("/mnt", "/FileStore", "/databricks-datasets")
"""Spark looks for these in DBFS when a path names no scheme; Python on the platform does not."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DETOUR = re.compile(r"/(?:\.{1,2})?(?:/|$)")


@dataclass(frozen=True)
class PathMap:
    """The user's prefixes and the local folders behind them, longest prefix first."""

    entries: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        tidy = {_tidy(prefix): posixpath.normpath(folder) for prefix, folder in self.entries}
        ordered = sorted(tidy.items(), key=lambda entry: -len(entry[0]))
        object.__setattr__(self, "entries", tuple(ordered))

    @classmethod
    def of(cls, settings: Settings) -> PathMap:
        """The map of one target: its volumes, DBFS and workspace folders, and the mounts of the settings."""
        dbfs, volumes = str(settings.dbfs), str(settings.volumes)
        entries = [
            ("/Volumes", volumes),
            ("dbfs:/Volumes", volumes),
            ("dbfs:/", dbfs),
            ("/dbfs", dbfs),
            ("/dbfs/Volumes", volumes),
            ("/Workspace", str(settings.workspace)),
            *((root, dbfs + root) for root in DBFS_ROOTS),
        ]
        entries += [
            spelling
            for prefix, folder in settings.mounts
            for spelling in _spellings(_tidy(prefix), str(Path(folder).absolute()))
        ]
        return cls(tuple(entries))._keeping([str(settings.root.absolute()), str(settings.home.absolute())])

    def local(self, path: str) -> str:
        """The local path behind what the user wrote; any path that no prefix covers comes back unchanged."""
        plain = _without_file_scheme(path)
        if plain is None:
            return path
        clean = _resolved(plain)
        for prefix, folder in self.entries:
            below = _below(prefix, clean)
            if below is not None:
                return folder + below if folder != prefix else path
        # A name under a prefix that leaves it through `..` exists only in its resolved form.
        return clean if any(_below(prefix, plain) is not None for prefix, _ in self.entries) else path

    def user(self, local: str) -> str:
        """The user's name of a local path (`/Volumes/…` rather than `dbfs:/Volumes/…`); others unchanged."""
        for prefix, folder in self._by_folder:
            below = _below(folder, local)
            if below is not None:
                if prefix == folder:
                    return local
                return (prefix[:-1] if prefix.endswith("/") and below else prefix) + below
        return local

    def of_python(self) -> PathMap:
        """What Python's own file functions see on the platform: paths, no URIs, and DBFS only as `/dbfs`."""
        dbfs = dict(self.entries).get("/dbfs")
        return PathMap(
            tuple(
                (prefix, folder)
                for prefix, folder in self.entries
                if prefix.startswith("/") and not (prefix in DBFS_ROOTS and folder == f"{dbfs}{prefix}")
            )
        )

    def as_json(self) -> str:
        """The map as text, for an environment variable."""
        return json.dumps(self.entries)

    @classmethod
    def from_json(cls, text: str) -> PathMap:
        """The map that `as_json` wrote."""
        return cls(tuple((prefix, folder) for prefix, folder in json.loads(text)))

    @cached_property
    def _by_folder(self) -> list[tuple[str, str]]:
        """Deepest folder first; among several names of one folder the one a user would write."""
        return sorted(self.entries, key=lambda e: (-len(e[1]), not e[0].startswith("/"), len(e[0])))

    def _keeping(self, folders: Iterable[str]) -> PathMap:
        """With real folders below a prefix kept: a project on a Mac's `/Volumes/Disk`, WSL's `/mnt/c`.

        Without it the state folder itself would be looked up in the state folder.
        """
        real = [(folder, folder) for folder in folders if self.local(folder) != folder]
        return PathMap((*self.entries, *real))


def _spellings(prefix: str, folder: str) -> Iterable[tuple[str, str]]:
    """The names under which a mount is met: `s3a://` and `s3n://` are Hadoop's spellings of `s3://`."""
    yield prefix, folder
    if prefix.startswith("s3://"):
        yield "s3a" + prefix[2:], folder
        yield "s3n" + prefix[2:], folder
    elif prefix.startswith("/mnt/"):
        yield "dbfs:" + prefix, folder
        yield "/dbfs" + prefix, folder
    elif prefix.startswith("dbfs:/"):
        yield "/dbfs" + prefix[len("dbfs:") :], folder


def _tidy(prefix: str) -> str:
    """Without a slash at the end, except where the root of a scheme is meant (`dbfs:/`)."""
    short = prefix.rstrip("/")
    return f"{short}/" if short.endswith(":") or not short else short


def _below(prefix: str, path: str) -> str | None:
    """The rest of `path` below `prefix`, with its leading slash; "" for the prefix itself, None outside."""
    if not path.startswith(prefix):
        return None
    if prefix.endswith("/"):
        return path[len(prefix) - 1 :] if len(path) > len(prefix) else ""
    rest = path[len(prefix) :]
    return rest if not rest or rest[0] == "/" else None


def _without_file_scheme(path: str) -> str | None:
    """`file:/x`, `file:///x` and `file://localhost/x` name the path `/x`; None for a relative one."""
    if path.startswith("file:/"):
        path = path[len("file:") :]
        if path.startswith("//"):
            path = path[2:].removeprefix("localhost")
    return path if path.startswith("/") or _SCHEME.match(path) else None


def _resolved(path: str) -> str:
    """Without `.`, `..` and doubled slashes, behind the root of a URI too; a slash at the end stays."""
    if path.startswith("/"):
        root, rest = "", path
    else:
        root, rest = _split_uri(path)
    if not _DETOUR.search(rest):
        return root + rest
    clean = posixpath.normpath("/" + rest.lstrip("/"))
    return root + (clean + "/" if rest.endswith("/") and clean != "/" else clean)


def _split_uri(uri: str) -> tuple[str, str]:
    """`s3://bucket` and `/key`; `dbfs:` and `/x` (`dbfs:///x` too, whose authority is empty)."""
    scheme, _, rest = uri.partition(":")
    if not rest.startswith("//"):
        return f"{scheme}:", rest
    authority, slash, key = rest[2:].partition("/")
    return (f"{scheme}://{authority}" if authority else f"{scheme}:"), slash + key
