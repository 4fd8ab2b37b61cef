"""The functions of `os` that take a path, `open`, and `os.scandir`.

`os.path`, `os.walk`, `os.makedirs`, `pathlib`, `shutil`, `glob` and `tempfile` call these functions and need
no patch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any, final

from lakeward.session.path_redirection.programs import shell_command, start_of_program
from lakeward.session.path_redirection.translator import (
    Function,
    PathTranslator,
    translate_first_path,
    translate_two_paths,
)

FIRST_PATH = (
    *("access", "chdir", "chflags", "chmod", "chown", "getxattr", "lchflags", "lchmod", "lchown", "listdir"),
    *("listxattr", "lstat", "mkdir", "mkfifo", "mknod", "open", "pathconf", "remove", "removexattr", "rmdir"),
    *("setxattr", "stat", "statvfs", "truncate", "unlink", "utime"),
)

TWO_PATHS = ("link", "rename", "replace", "symlink")


def functions(translator: PathTranslator, original: Callable[[str], Any]) -> Iterator[tuple[str, Function]]:
    """Yield (name, replacement) for each of these functions that the operating system has."""
    for name in FIRST_PATH:
        if hasattr(os, name):
            yield (
                name,
                Function(translate_first_path(translator, original(name), "path"), original(name), "os"),
            )
    for name in TWO_PATHS:
        yield name, Function(translate_two_paths(translator, original(name)), original(name), "os")
    for name, make in (
        ("scandir", scandir),
        ("readlink", _readlink),
        ("getcwd", _getcwd),
        ("getcwdb", _getcwd),
        ("system", shell_command),
        *((each, start_of_program) for each in ("execv", "execve", "posix_spawn", "posix_spawnp")),
    ):
        if hasattr(os, name):
            yield name, Function(make(translator, original(name)), original(name), "os")


def _readlink(translator: PathTranslator, original: Any) -> Callable[..., Any]:
    read = translate_first_path(translator, original, "path")

    def call(*args: Any, **kwargs: Any) -> Any:
        return translator.user_path(read(*args, **kwargs))

    return call


def _getcwd(translator: PathTranslator, original: Any) -> Callable[..., Any]:
    def call() -> Any:
        return translator.user_path(original())

    return call


_OPENER_POSITION = 6  # position among the arguments after the file

_MODE = 0o666  # the mode with which open() creates files; os.open() would use 0o777


def open_function(translator: PathTranslator, original: Any, os_open: Any) -> Callable[..., Any]:
    """Return `open` for mapped paths; `os_open` is the plain `os.open`. A caller's `opener` is kept."""
    find = translator.find

    def call(file: Any, *args: Any, **kwargs: Any) -> Any:
        local = find(file)
        if local is None or kwargs.get("opener") is not None or len(args) > _OPENER_POSITION:
            return original(file, *args, **kwargs)

        def opener(name: object, flags: int) -> int:
            try:
                return int(os_open(local, flags, _MODE))
            except OSError as error:
                error.filename = name
                raise

        kwargs["opener"] = opener
        return original(file, *args, **kwargs)

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


def scandir(translator: PathTranslator, original: Any) -> Callable[..., Any]:
    """List the folder of a mapped path as `os.scandir` does."""
    find = translator.find

    def call(path: Any = ".") -> Any:
        local = find(path)
        if local is None:
            return original(path)
        try:
            return DirectoryIterator(original(local), path)
        except OSError as error:
            error.filename = os.fspath(path)
            raise

    return call
