"""Glob patterns and file listings: complete, filtered by the options, with names as users see them.

A file has a local path or URI and a key, the name that Databricks shows (`dbfs:/Volumes/…`, `file:/…`).
`key=value` directories below the source are partition values. Globs are lenient or strict
(AL-1.4, AL-5.2, AL-6, AL-7.4).
"""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from errno import ENOTSUP, EPERM, EXDEV
from functools import cached_property
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple, Protocol
from urllib.parse import quote, unquote

from lakeward.autoloader.discovery.line_ranges import read_lines
from lakeward.errors import CloudFilesError
from lakeward.session.paths import PathMap

_SPECIAL = re.compile(r"[*?\[{]")


def literal_root(path: str) -> str:
    """Return the directory above the first segment with a wildcard; the path itself without wildcards."""
    match = _SPECIAL.search(path)
    if match is None:
        return path.rstrip("/") or "/"
    return path[: match.start()].rpartition("/")[0] or "/"


# What an opening bracket in a glob is not: an escaped character, or a character of a class.
_LITERAL = re.compile(r"\\.|\[[^\]]+\]", re.DOTALL)


class Globber:
    """Matches files against a path that may have wildcards.

    Lenient: `*` crosses directories, a trailing slash is ignored, and after a wildcard the last segment is a
    prefix. Strict: `*` stays within a name. `?` and `[…]` always do. Both include everything below a matched
    directory.
    """

    def __init__(self, path: str, *, strict: bool = False) -> None:
        self.root = literal_root(path)
        self.is_glob = _SPECIAL.search(path) is not None
        star = "[^/]*" if strict else ".*"
        body = _translate_glob(path.rstrip("/"), star)
        if not self.is_glob or strict:
            end = r"(?:/.*)?" if not path.endswith("/") or not self.is_glob else r"/.*"
        else:
            end = ".*"
        self._pattern = _compile_glob(body + end, path)

    def matches(self, path: str) -> bool:
        """Return whether the file `path` matches."""
        return self._pattern.fullmatch(path) is not None


def name_pattern(glob: str) -> re.Pattern[str]:
    """Return the pattern of `pathGlobFilter`, which is matched against the file name only."""
    require_closed_brackets(glob)
    return _compile_glob(_translate_glob(glob, "[^/]*"), glob)


def require_closed_brackets(glob: str) -> None:
    """Raise CF_INVALID_GLOB for a bracket or brace that is not closed, which Spark's readers refuse.

    In a path it may be a part of a folder's name. In a pattern it would match nothing, without an error.
    """
    bare = _LITERAL.sub("", glob)
    for opening, closing in ("[]", "{}"):
        if opening in bare.rpartition(closing)[2]:
            raise _invalid_glob(glob, f"{opening} is not closed")


def _invalid_glob(glob: str, reason: str) -> CloudFilesError:
    return CloudFilesError(
        "CF_INVALID_GLOB",
        f"The glob {glob!r} is invalid: {reason}.",
        next_step="Correct the brackets, or escape literal ones with a backslash.",
    )


def _compile_glob(pattern: str, glob: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.DOTALL)
    except re.error as error:
        raise _invalid_glob(glob, error.msg) from None


def _translate_glob(glob: str, star: str) -> str:
    out, depth, i = [], 0, 0
    while i < len(glob):
        char = glob[i]
        i += 1
        if char == "*":
            while i < len(glob) and glob[i] == "*":
                i += 1
            out.append(star)
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := glob.find("]", i + 1)) > 0:
            inside = glob[i:end].replace("\\", "\\\\").replace("[", "\\[")
            out.append("(?!/)[" + ("^" + inside[1:] if inside[0] in "^!" else inside) + "]")
            i = end + 1
        elif char == "{" and "}" in glob[i:]:
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "\\" and i < len(glob):
            out.append(re.escape(glob[i]))
            i += 1
        else:
            out.append(re.escape(char))
    return "".join(out)


_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
# Java's URI does not encode these, nor letters of any script.
_TO_ENCODE = re.compile(r"[^A-Za-z0-9/:!$&'()*+,;=@._~\x80-\U0010ffff-]")
_SAFE = "/:!$&'()*+,;=@-._~"


@dataclass(frozen=True)
class FileNames:
    """Translates between local paths and keys. A key is a display name that is not URI-encoded."""

    path_map: PathMap

    def local(self, path: str) -> str:
        """Return the local path or store URI of a key or of a path as the user wrote it."""
        mapped = self.path_map.local(path)
        if mapped.startswith("file:/"):
            rest = mapped[len("file:") :]
            mapped = "/" + rest.lstrip("/")
        if mapped.startswith("/") or _SCHEME.match(mapped):
            return mapped
        return str(Path(mapped).absolute()) + ("/" if mapped.endswith("/") else "")

    def key(self, local: str) -> str:
        """Return the name for state and users; it is stable when the lakehouse moves."""
        user = self.path_map.user(local)
        if user.startswith("/") and user != local and not user.startswith("/Workspace/"):
            return "dbfs:" + (user[len("/dbfs") :] if user.startswith("/dbfs/") else user)
        return user if _SCHEME.match(user) else "file:" + user

    @staticmethod
    def encode(key: str) -> str:
        """Return a key as `_metadata.file_path` and `_file_path` show it, encoded like Spark's paths."""
        if _TO_ENCODE.search(key) is None:
            return key
        return "".join(part if ord(part[0]) > 127 else quote(part, _SAFE) for part in _split_by_ascii(key))


def session_file_names() -> FileNames:
    """Names under the path map of the active session's lakehouse."""
    from lakeward.session import current_settings

    settings = current_settings()
    return FileNames(PathMap.of(settings) if settings else PathMap(()))


def _split_by_ascii(text: str) -> list[str]:
    """Split into runs of ASCII and other characters; Spark does not encode the latter."""
    return re.findall(r"[\x00-\x7f]+|[^\x00-\x7f]+", text)


DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def parse_partition_values(below: str) -> dict[str, str | None]:
    """Return partition keys and unescaped values of a relative path (AL-5.2)."""
    out: dict[str, str | None] = {}
    for segment in below.split("/")[:-1]:
        key, equals, value = segment.partition("=")
        if equals and key:
            out[unquote(key)] = None if value == DEFAULT_PARTITION else unquote(value)
    return out


def partition_value(below: str, name: str) -> str | None:
    """Return the value of a partition column in a relative path, which may have its name in another case."""
    values = parse_partition_values(below)
    return next((value for key, value in values.items() if key.lower() == name.lower()), None)


COMPRESSED_SUFFIXES = (".gz", ".bz2", ".zst", ".zstd", ".deflate", ".snappy")
"""The names of compressed files of text formats end in one of these."""


class FileStatus(NamedTuple):
    """A discovered file: key, local path or URI, size in bytes, modification time in microseconds.

    With `part`, a task reads the lines that begin from its first position up to its second.
    """

    key: str
    path: str
    size: int
    mtime: int
    part: tuple[int, int] | None = None


@dataclass(frozen=True)
class FileLister:
    """Lists one source: a local path or a URI, possibly with wildcards."""

    source: str
    storage: Storage
    names: FileNames
    strict: bool = False
    name_glob: str | None = None
    ignored: str = "^[._]"
    modified: tuple[datetime | None, datetime | None] = (None, None)

    @cached_property
    def _globber(self) -> Globber:
        return Globber(self.source, strict=self.strict)

    @property
    def root(self) -> str:
        """Return the listed directory; partition columns are below it."""
        return self._globber.root

    def list_new(
        self, known: Callable[[str], bool], changed: Callable[[FileStatus], bool] | None = None
    ) -> list[FileStatus]:
        """Return unknown files, oldest first; known ones too if `changed` returns true for them.

        Files that disappear during the listing are skipped. Raises FileNotFoundError if the source does not
        exist.
        """
        files = []
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
            if self._is_in_time_range(mtime) and (not is_known or (changed is not None and changed(status))):
                files.append(status)
        files.sort(key=lambda status: (status.mtime, status.key))
        return files

    def list_keys(self) -> Iterator[str]:
        """Return the keys of all files below the root, regardless of filters."""
        root, root_key = self.root, self.names.key(self.root)
        return (root_key + path[len(root) :] for path in self.storage.walk(root, lambda _: True))

    def covers(self, path: str) -> bool:
        """Return whether a path is below the root (never the disk's) and matches the wildcards."""
        root = self.root.rstrip("/")
        segments = path[len(root) :].split("/")
        inside = root != "" and path.startswith(f"{root}/") and ".." not in segments
        return inside and self._globber.matches(path)

    def relative_paths(self) -> Iterable[str]:
        """Yield paths relative to the root; nothing if the root does not exist."""
        root = self.root
        try:
            yield from (path[len(root) :] for path in self._paths())
        except FileNotFoundError:
            return

    def _paths(self) -> Iterable[str]:
        ignored = re.compile(self.ignored)
        paths: Iterable[str] = self.storage.walk(
            self.root, lambda name: "=" in name or not ignored.search(name)
        )
        if self._globber.is_glob:
            paths = (path for path in paths if self._globber.matches(path))
        if self.name_glob:
            pattern = name_pattern(self.name_glob)
            paths = (path for path in paths if pattern.fullmatch(path.rpartition("/")[2]))
        return paths

    def _is_in_time_range(self, mtime: int) -> bool:
        after, before = self.modified
        seconds = mtime / 1e6
        return (after is None or seconds > after.timestamp()) and (
            before is None or seconds < before.timestamp()
        )


def path_not_found(shown: str) -> CloudFilesError:
    """Return the error for a source that does not exist."""
    return CloudFilesError(
        "CF_PATH_DOES_NOT_EXIST",
        f"The input path {shown} does not exist.",
        next_step="Create the folder or correct the path in load(…).",
    )


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
