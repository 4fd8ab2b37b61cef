"""Map `/Volumes/…`, `dbfs:/…` and `s3://bucket/…` to local folders. Pure text: no file is read.

Prefixes match at component boundaries only (`/Volumes2` is not under `/Volumes`), the longest first. `..` is
resolved in the platform path before the prefix is looked up, as the platform does: `/Volumes/c/s/v/../w` is
the volume `w`, `/Volumes/../etc/passwd` is `/etc/passwd`. The root of a URI is a root: `dbfs:/../x` is
`dbfs:/x`. `dbfs:` takes no host, as on the platform. `/Volumes/Main/S/V/x` is `/Volumes/main/s/v/x`: names of
Unity Catalog do not depend on case (https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-names).

A mapped path lies in the folder of its prefix: only `PathMap.local` joins the two, and it refuses a path that
would leave the folder. The Java file system applies the same rules (`session/jvm/PathMap.java`).

`dbfs:/user/hive/warehouse` is the storage of `hive_metastore`: tables of its schema `default`, and a folder
`<schema>.db` for each of its other schemas. That folder is the schema's own, which is next to `default`.
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

from lakeward.errors import InvalidPathError
from lakeward.session.path_rules import paths_are_dbfs, pytest_folders

if TYPE_CHECKING:
    from lakeward.session.settings import Settings

# In scripts and tests Spark finds these in DBFS without a scheme; Python's own functions do not.
_DBFS_ROOTS = ("/mnt", "/FileStore", "/databricks-datasets")
HIVE_WAREHOUSE = "/user/hive/warehouse"
"""Where the platform stores the managed tables of `hive_metastore` in DBFS."""
_HIVE_DEFAULT = "/hive_metastore/default"
_HIVE_SCHEMA = re.compile(r"/([^/]+)\.db(?=/|$)")
_ROOT = "/"
_WORKSPACE = "/Workspace"

# Where a deployment of a bundle puts its files, by default.
_DEPLOYED = re.compile(r"/Workspace/.*/\.bundle/.*/files")

# Catalog, schema and volume are names of Unity Catalog, which do not depend on case.
_VOLUME = re.compile(r"(?P<root>(?:dbfs:|/dbfs)?/Volumes)(?P<names>(?:/[^/]+){1,3})(?=/|$)")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_DETOUR = re.compile(r"/(?:\.{1,2})?(?:/|$)")


@dataclass(frozen=True)
class PathMap:
    """Prefixes of platform paths and their local folders, longest prefix first."""

    entries: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        tidy = {
            _tidy(prefix) if prefix == folder else _canonical(_tidy(prefix)): posixpath.normpath(folder)
            for prefix, folder in self.entries
        }
        ordered = sorted(tidy.items(), key=lambda entry: -len(entry[0]))
        object.__setattr__(self, "entries", tuple(ordered))

    @classmethod
    def of(cls, settings: Settings) -> PathMap:
        """Return the map of one target: its volumes, DBFS, workspace files and mounts.

        `/Workspace` before the path of the project is the project, as code writes
        `"/Workspace" + notebookPath()`.

        Inside `dbfs_paths()` the prefix `/` is DBFS. The project, the state folder, mounted folders and
        pytest's temporary folders stay local.
        """
        dbfs, volumes = str(settings.dbfs), str(settings.volumes)
        hive = f"{settings.warehouse}{_HIVE_DEFAULT}"
        entries = [
            ("/Volumes", volumes),
            ("dbfs:/Volumes", volumes),
            ("dbfs:/", dbfs),
            ("/dbfs", dbfs),
            ("/dbfs/Volumes", volumes),
            *((f"{root}{HIVE_WAREHOUSE}", hive) for root in ("", "dbfs:", "/dbfs")),
            (_WORKSPACE, str(settings.workspace)),
        ]
        root = str(settings.root.absolute())
        if _below(_WORKSPACE, root) is None:
            entries.append((f"{_WORKSPACE}{root}", root))
        if paths_are_dbfs():
            entries.append((_ROOT, dbfs))
        else:
            entries += [(root, dbfs + root) for root in _DBFS_ROOTS]
        entries += [
            spelling
            for prefix, folder in settings.mounts
            for spelling in _spellings(_tidy(prefix), str(Path(folder).absolute()))
        ]
        real = [settings.root, settings.home, *(Path(folder) for _, folder in settings.mounts)]
        if settings.warehouse_dir is not None:
            real.append(settings.warehouse_dir)
        kept = [str(each.absolute()) for each in real]
        return cls(tuple(entries))._keeping([*kept, *(pytest_folders() if paths_are_dbfs() else ())])

    @cached_property
    def root_is_dbfs(self) -> bool:
        """Return whether a path without a scheme is a DBFS path unless a longer prefix covers it."""
        return any(prefix == _ROOT for prefix, _ in self.entries)

    def local(self, path: str) -> str:
        """Return the local path of a platform path; a path without a matching prefix is returned unchanged.

        Raises InvalidPathError for a `dbfs:` URI with a host.
        """
        plain = _strip_file_scheme(path)
        if plain is None:
            return path
        clean = _resolve(plain)
        on_driver = plain is not path
        if self.root_is_dbfs and clean.startswith("dbfs:/"):
            # `dbfs:/x` and `/x` are one path, so local folders are local in both spellings.
            _refuse_dbfs_host(clean)
            clean = clean.removeprefix("dbfs:")
        canonical = _canonical(clean)
        for prefix, folder in self.entries:
            if prefix == "dbfs:/":
                _refuse_dbfs_host(clean)
            if prefix == _ROOT and on_driver:
                continue
            # A real folder, such as a disk below a Mac's /Volumes, keeps its case.
            below = _below(prefix, clean if folder == prefix else canonical)
            if below is not None:
                if folder != prefix:
                    return _inside(folder, below)
                return clean if path.startswith("dbfs:") else path
        # A path that leaves its prefix through `..` is valid in its resolved form only.
        return clean if any(_below(prefix, plain) is not None for prefix, _ in self.entries) else path

    def local_in_workspace(self, path: str) -> str | None:
        """Return the local path of a file in the workspace, a volume or DBFS, None for any other path.

        Definitions of jobs and pipelines may leave out `/Workspace` before `/Users`, `/Shared` and `/Repos`.
        """
        if path.startswith(("/Users/", "/Shared/", "/Repos/")):
            path = _WORKSPACE + path
        return self.local(path) if path.startswith((f"{_WORKSPACE}/", "/Volumes/", "dbfs:/")) else None

    def require_local(self, path: str) -> str:
        """Return the local path like `local`, and without the scheme `file:`.

        Raises InvalidPathError, with STORAGE_NOT_MAPPED for a URI that no local folder is mapped to.
        """
        local = self.local(path)
        scheme = scheme_of(local)
        if scheme is None:
            return local
        if scheme.lower() == "file":
            return "/" + local[len("file:") :].removeprefix("//localhost").lstrip("/")
        raise InvalidPathError(
            "STORAGE_NOT_MAPPED",
            f"{path} cannot be used: no local folder is mapped to it.",
            next_step=f"Map a folder with `--mount {_split_uri(path)[0]}=FOLDER`, or under "
            "[tool.lakeward.mounts] in pyproject.toml.",
        )

    def user(self, local: str) -> str:
        """Return the platform path of a local path (`/Volumes/…` rather than `dbfs:/Volumes/…`); others
        unchanged.
        """
        for prefix, folder in self._by_folder:
            below = _below(folder, local)
            if below is not None:
                if prefix == folder:
                    return local
                return (prefix[:-1] if prefix.endswith("/") and below else prefix) + below
        return local

    def of_python(self) -> PathMap:
        """Return the map of Python's own file functions: paths without a scheme, and DBFS only as `/dbfs`."""
        dbfs = dict(self.entries).get("/dbfs")
        mapped = [
            (prefix, folder)
            for prefix, folder in self.entries
            if prefix.startswith("/")
            and prefix not in (_ROOT, folder)
            and not (prefix in _DBFS_ROOTS and folder == f"{dbfs}{prefix}")
            and not (prefix == HIVE_WAREHOUSE and folder.endswith(_HIVE_DEFAULT))
        ]
        kept = [
            (prefix, folder)
            for prefix, folder in self.entries
            if prefix == folder and any(_below(outer, prefix) for outer, _ in mapped)
        ]
        return PathMap((*mapped, *kept))

    def as_json(self) -> str:
        """Return the map as text, for an environment variable."""
        return json.dumps(self.entries)

    @classmethod
    def from_json(cls, text: str) -> PathMap:
        """Parse the output of `as_json`."""
        return cls(tuple((prefix, folder) for prefix, folder in json.loads(text)))

    @cached_property
    def _by_folder(self) -> list[tuple[str, str]]:
        """Sort by folder, deepest first; of several prefixes of one folder, the one that users write comes
        first. The project's files keep their local paths.
        """
        return sorted(
            (
                entry
                for entry in self.entries
                if entry[0] not in (_ROOT, f"{_WORKSPACE}{entry[1]}") and not _DEPLOYED.fullmatch(entry[0])
            ),
            key=lambda e: (-len(e[1]), e[0] == e[1], not e[0].startswith("/"), _is_alias(e[0]), len(e[0])),
        )

    def _keeping(self, folders: Iterable[str]) -> PathMap:
        """Return the map with real folders below a prefix kept: all of them, if the prefix `/` is DBFS.

        Otherwise a project on a Mac's `/Volumes/Disk` or WSL's `/mnt/c` would be looked up in the state
        folder.
        """
        real = [(folder, folder) for folder in folders if self.local(folder) != folder]
        return PathMap((*self.entries, *real))


_SCHEME_ALIASES = {"s3": ("s3a", "s3n"), "abfss": ("abfs",), "wasbs": ("wasb",)}


def _spellings(prefix: str, folder: str) -> Iterable[tuple[str, str]]:
    """Yield every name of a mounted place: the aliases of its scheme, or the forms of a DBFS path.

    An absolute path is a DBFS path as Spark reads it on the platform, so `/x`, `dbfs:/x` and `/dbfs/x` are
    one place. Auto Loader, `dbutils.fs` and `input_file_name()` write the `dbfs:` form. Workspace files are
    not in DBFS.
    """
    scheme, separator, rest = prefix.partition("://")
    if separator:
        yield from ((f"{each}://{rest}", folder) for each in (scheme, *_SCHEME_ALIASES.get(scheme, ())))
        return
    path = prefix.removeprefix("dbfs:")
    if path == prefix:
        path = prefix.removeprefix("/dbfs") if _below("/dbfs/", prefix) is not None else prefix
    if not path.startswith("/") or path == "/" or _below(_WORKSPACE, path) is not None:
        yield prefix, folder
        return
    yield from ((f"{root}{path}", folder) for root in ("", "dbfs:", "/dbfs"))


def scheme_of(path: str) -> str | None:
    """Return the scheme of a URI; None for a path without one."""
    found = _SCHEME.match(path)
    return found[1] if found else None


def is_absolute(path: str) -> bool:
    """Return whether it is an absolute path, or a URI with one."""
    scheme = _SCHEME.match(path)
    return path.startswith("/", scheme.end() if scheme else 0)


def _canonical(path: str) -> str:
    """Return the path with the names of catalog, schema and volume in lower case, as their folders are.

    >>> _canonical("dbfs:/Volumes/Main/Raw/In/Of/June")
    'dbfs:/Volumes/main/raw/in/Of/June'
    """
    found = _VOLUME.match(path)
    return path if found is None else f"{found['root']}{found['names'].lower()}{path[found.end() :]}"


def _is_alias(prefix: str) -> bool:
    return any(prefix.startswith(f"{each}://") for aliases in _SCHEME_ALIASES.values() for each in aliases)


def _tidy(prefix: str) -> str:
    """Remove a trailing slash, except from the root of a scheme (`dbfs:/`)."""
    short = prefix.rstrip("/")
    return f"{short}/" if short.endswith(":") or not short else short


def _below(prefix: str, path: str) -> str | None:
    """Return the rest of `path` below `prefix` with its leading slash; "" for the prefix itself, None
    outside.
    """
    if not path.startswith(prefix):
        return None
    if prefix.endswith("/"):
        return path[len(prefix) - 1 :] if len(path) > len(prefix) else ""
    rest = path[len(prefix) :]
    return rest if not rest or rest[0] == "/" else None


def _inside(folder: str, below: str) -> str:
    """Join a folder and the path below its prefix. Raises InvalidPathError if `..` remains in it."""
    if folder.endswith(_HIVE_DEFAULT) and (schema := _HIVE_SCHEMA.match(below)):
        folder, below = f"{posixpath.dirname(folder)}/{schema[1]}", below[schema.end() :]
    if ".." in below.split("/"):
        raise InvalidPathError(
            "INVALID_PARAMETER_VALUE",
            f"The path {below} leads out of its root.",
            next_step="Name a path without '..'.",
        )
    return folder + below


def _refuse_dbfs_host(path: str) -> None:
    if path.startswith("dbfs://"):
        raise InvalidPathError(
            "INVALID_PARAMETER_VALUE",
            f"Hostname not allowed in dbfs uri. Please use 'dbfs:/' instead of 'dbfs://' in uri: {path}",
        )


def _strip_file_scheme(path: str) -> str | None:
    """Return `/x` for `file:/x`, `file:///x` and `file://localhost/x`; None for a relative path."""
    if path.startswith("file:/"):
        path = path[len("file:") :]
        if path.startswith("//"):
            path = path[2:].removeprefix("localhost")
    return path if path.startswith("/") or scheme_of(path) else None


def _resolve(path: str) -> str:
    """Resolve `.`, `..` and doubled slashes, also in a URI; a trailing slash is kept."""
    if path.startswith("/"):
        root, rest = "", path
    else:
        root, rest = _split_uri(path)
    if not _DETOUR.search(rest):
        return root + rest
    clean = posixpath.normpath("/" + rest.lstrip("/"))
    return root + (clean + "/" if rest.endswith("/") and clean != "/" else clean)


def _split_uri(uri: str) -> tuple[str, str]:
    """Split into `s3://bucket` and `/key`, or `dbfs:` and `/x` (also `dbfs:///x` with empty authority)."""
    scheme, _, rest = uri.partition(":")
    if not rest.startswith("//"):
        return f"{scheme}:", rest
    authority, slash, key = rest[2:].partition("/")
    return (f"{scheme}://{authority}", slash + key) if authority else (f"{scheme}:", f"/{key}")
