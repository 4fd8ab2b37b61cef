"""The functions of `os` that take a path.

`os.path`, `os.walk`, `os.makedirs`, `pathlib`, `shutil`, `glob` and `tempfile` are written in Python over
these, so they follow.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from lakeward.session.python_paths.listing import scandir
from lakeward.session.python_paths.reach import Function, Reach, first_path, two_paths

__all__ = ["functions"]

FIRST_PATH = (
    *("access", "chdir", "chflags", "chmod", "chown", "getxattr", "lchflags", "lchmod", "lchown", "listdir"),
    *("listxattr", "lstat", "mkdir", "mkfifo", "mknod", "open", "pathconf", "remove", "removexattr", "rmdir"),
    *("setxattr", "stat", "statvfs", "truncate", "unlink", "utime"),
)
TWO_PATHS = ("link", "rename", "replace", "symlink")


def functions(reach: Reach, original: Callable[[str], Any]) -> Iterator[tuple[str, Function]]:
    """(name, what takes its place) for each of them that this system has."""
    for name in FIRST_PATH:
        if hasattr(os, name):
            yield name, Function(first_path(reach, original(name), "path"), original(name), "os")
    for name in TWO_PATHS:
        yield name, Function(two_paths(reach, original(name)), original(name), "os")
    for name, make in (
        ("scandir", scandir),
        ("readlink", _readlink),
        ("getcwd", _getcwd),
        ("getcwdb", _getcwd),
    ):
        yield name, Function(make(reach, original(name)), original(name), "os")


def _readlink(reach: Reach, original: Any) -> Callable[..., Any]:
    read = first_path(reach, original, "path")

    def call(*args: Any, **kwargs: Any) -> Any:
        return reach.shown(read(*args, **kwargs))

    return call


def _getcwd(reach: Reach, original: Any) -> Callable[..., Any]:
    def call() -> Any:
        return reach.shown(original())

    return call
