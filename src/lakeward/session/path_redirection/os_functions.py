"""The functions of `os` that take a path, `open`, `os.scandir`, and the references to them.

Other modules have bound some of them before (`from os import listdir`, attributes, defaults). `os.path`,
`os.walk`, `os.makedirs`, `pathlib`, `shutil`, `glob` and `tempfile` call these functions and need no patch.
"""

from __future__ import annotations

import _io
import builtins
import errno
import glob
import io
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, final

from lakeward.patching import original
from lakeward.session.path_redirection.programs import shell_command, start_of_program
from lakeward.session.path_redirection.translator import (
    Function,
    PathTranslator,
    translate_first_path,
    translate_two_paths,
)
from lakeward.volume_folders import absent_volume, is_volume, missing_volume_texts

FIRST_PATH = (
    *("access", "chdir", "chflags", "chmod", "chown", "getxattr", "lchflags", "lchmod", "lchown", "listdir"),
    *("listxattr", "lstat", "mkfifo", "mknod", "open", "pathconf", "remove", "removexattr"),
    *("setxattr", "stat", "statvfs", "truncate", "unlink", "utime"),
)

# These modules define the plain functions, which lakeward itself also needs.
_KEEP = {"builtins", "io", "os", "posix", "_io", "nt"}

TWO_PATHS = ("link", "rename", "replace", "symlink")


def _functions(translator: PathTranslator) -> Iterator[tuple[str, Function]]:
    """Yield (name, replacement) for each of these functions that the operating system has."""
    one_path = ((name, translate_first_path) for name in FIRST_PATH)
    two_paths = ((name, translate_two_paths) for name in TWO_PATHS)
    for name, make in (
        *one_path,
        *two_paths,
        ("mkdir", _mkdir),
        ("rmdir", _rmdir),
        ("scandir", scandir),
        ("readlink", _readlink),
        ("getcwd", _getcwd),
        ("getcwdb", _getcwd),
        ("system", shell_command),
        *((each, start_of_program) for each in ("execv", "execve", "posix_spawn", "posix_spawnp")),
    ):
        if hasattr(os, name):
            plain = original(os, name)
            yield name, Function(make(translator, plain), plain, "os")


def _mkdir(translator: PathTranslator, plain: Any) -> Callable[..., Any]:
    """Make folders inside of volumes; `/Volumes` itself has only catalogs, schemas and volumes."""
    make = translate_first_path(translator, plain)

    def call(path: Any, *args: Any, **kwargs: Any) -> Any:
        volumes, local = _in_volumes(translator, path)
        if volumes and (names := absent_volume(volumes, local)) is not None:
            # No such file: what `open` reports for the same path, and what code catches.
            raise FileNotFoundError(errno.ENOENT, " ".join(missing_volume_texts(names)), os.fspath(path))
        return make(path, *args, **kwargs)

    return call


def _rmdir(translator: PathTranslator, plain: Any) -> Callable[..., Any]:
    """Remove folders inside of volumes; `shutil.rmtree` leaves a volume empty."""
    remove = translate_first_path(translator, plain)

    def call(path: Any, *args: Any, **kwargs: Any) -> Any:
        volumes, local = _in_volumes(translator, path)
        if volumes and is_volume(volumes, local) and local.is_dir():
            raise PermissionError(errno.EPERM, "A volume is removed by DROP VOLUME alone", os.fspath(path))
        return remove(path, *args, **kwargs)

    return call


def _in_volumes(translator: PathTranslator, path: Any) -> tuple[Path | None, Path]:
    """Return the folder of all volumes, None for paths that are not mapped, and the local path."""
    local = translator.find(path)
    volumes = dict(translator.map.entries).get("/Volumes") if local is not None else None
    return Path(volumes) if volumes else None, Path(os.fsdecode(local or ""))


def _readlink(translator: PathTranslator, plain: Any) -> Callable[..., Any]:
    read = translate_first_path(translator, plain)

    def call(*args: Any, **kwargs: Any) -> Any:
        return translator.user_path(read(*args, **kwargs))

    return call


def _getcwd(translator: PathTranslator, plain: Any) -> Callable[..., Any]:
    """Return the platform's name of the working folder, unless a mount of data holds the user's code.

    `--mount s3://bucket=.` gives a bucket the files of the project: the project itself keeps its name.
    """
    try:
        start = Path(os.fsdecode(plain()))
    except FileNotFoundError:
        start = Path()

    def call() -> Any:
        here = plain()
        named = translator.user_path(here)
        if named == here:
            return here
        for prefix, folder in translator.map.entries:
            if start.is_relative_to(folder) and Path(os.fsdecode(named)).is_relative_to(prefix):
                return named if prefix.startswith("/Workspace") else here
        return named

    return call


_OPENER_POSITION = 6  # position among the arguments after the file

_MODE = 0o666  # the mode with which open() creates files; os.open() would use 0o777


def open_function(translator: PathTranslator, plain: Any, os_open: Any) -> Callable[..., Any]:
    """Return `open` for mapped paths; `os_open` is the plain `os.open`. A caller's `opener` is kept."""
    find = translator.find

    def call(file: Any, *args: Any, **kwargs: Any) -> Any:
        local = find(file)
        if local is None or kwargs.get("opener") is not None or len(args) > _OPENER_POSITION:
            return plain(file, *args, **kwargs)

        def opener(name: object, flags: int) -> int:
            try:
                return int(os_open(local, flags, _MODE))
            except OSError as error:
                error.filename = name
                raise

        kwargs["opener"] = opener
        return plain(file, *args, **kwargs)

    return call


class DirectoryEntry:
    """An `os.DirEntry` with another `path`."""

    __slots__ = ("_entry", "path")

    def __init__(self, entry: os.DirEntry[Any], path: Any) -> None:
        self._entry = entry
        self.path = path

    @property
    def name(self) -> Any:
        return self._entry.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._entry, name)

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return repr(self._entry)


@final
class DirectoryIterator:
    """The iterator and context manager that `os.scandir` returns."""

    def __init__(self, entries: Any, top: Any) -> None:
        self._entries = entries
        self._top = os.fspath(top)

    def __iter__(self) -> Iterator[DirectoryEntry]:
        return self

    def __next__(self) -> DirectoryEntry:
        entry = next(self._entries)
        return DirectoryEntry(entry, os.path.join(self._top, entry.name))

    def __enter__(self) -> DirectoryIterator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the folder before the last entry is read."""
        self._entries.close()


def scandir(translator: PathTranslator, plain: Any) -> Callable[..., Any]:
    """List the folder of a mapped path as `os.scandir` does."""
    find = translator.find

    def call(path: Any = ".") -> Any:
        local = find(path)
        if local is None:
            return plain(path)
        try:
            return DirectoryIterator(plain(local), path)
        except OSError as error:
            error.filename = os.fspath(path)
            raise

    return call


def replacements(translator: PathTranslator) -> Iterator[tuple[object, str, Any]]:
    """Yield (owner, attribute, replacement) of Python's file functions, in all modules that bound them."""
    by_id: dict[int, Any] = {}
    os_open = original(os, "open")
    for name, function in _functions(translator):
        by_id[id(function.original)] = function
        yield os, name, function
    plain = original(builtins, "open")
    function = Function(open_function(translator, plain, os_open), plain, "io")
    by_id[id(plain)] = function
    yield builtins, "open", function
    yield io, "open", function
    code = original(io, "open_code")
    for owner in (io, _io):
        yield owner, "open_code", Function(translate_first_path(translator, code), code, "io")
    yield from _prebound_references(by_id)


def _prebound_references(replacements: Mapping[int, Any]) -> Iterator[tuple[object, str, Any]]:
    """Yield (owner, attribute, replacement) for each reference to a plain function; `replacements` by id."""
    yield from _modules(replacements)
    yield from _classes(replacements)
    yield from _defaults(replacements)


def _modules(replacements: Mapping[int, Any]) -> Iterator[tuple[object, str, Any]]:
    for name, module in sys.modules.copy().items():
        if name in _KEEP or name.startswith("lakeward.session.") or not isinstance(module, ModuleType):
            continue
        for attribute, value in vars(module).copy().items():
            if id(value) in replacements:
                yield module, attribute, replacements[id(value)]


def _classes(replacements: Mapping[int, Any]) -> Iterator[tuple[object, str, Any]]:
    """Yield classes with functions as attributes: pathlib's accessor (3.10) and glob's workers (3.13)."""
    for module, names in (
        (pathlib, ("_NormalAccessor",)),
        (glob, ("_GlobberBase", "_StringGlobber", "_Globber")),
    ):
        for cls in (vars(module)[name] for name in names if name in vars(module)):
            for attribute, value in vars(cls).copy().items():
                plain = value.__func__ if isinstance(value, staticmethod) else value
                if id(plain) in replacements:
                    yield cls, attribute, replacements[id(plain)]


def _defaults(replacements: Mapping[int, Any]) -> Iterator[tuple[object, str, Any]]:
    """Yield parameter defaults: NamedTemporaryFile removes its file by such an `os.unlink`."""
    cls: Any = vars(tempfile).get("_TemporaryFileCloser")
    for attribute, value in vars(cls).copy().items() if cls else ():
        if isinstance(value, FunctionType) and any(id(d) in replacements for d in value.__defaults__ or ()):
            defaults = tuple(replacements.get(id(d), d) for d in value.__defaults__ or ())
            changed = FunctionType(
                value.__code__, value.__globals__, value.__name__, defaults, value.__closure__
            )
            changed.__kwdefaults__ = value.__kwdefaults__
            yield cls, attribute, changed
