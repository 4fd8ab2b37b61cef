"""Distinguish the user's source files from lakeward, installed packages and the standard library."""

from __future__ import annotations

import sys
import sysconfig
import warnings
from collections.abc import Iterable
from functools import cache, lru_cache
from pathlib import Path
from types import FrameType

# Folders that hold other people's code, or what tools have made.
_OTHER_FOLDERS = frozenset(
    (
        *("__pycache__", "node_modules", "site-packages", "build", "dist", "venv", "env", "spark-warehouse"),
        *("metastore_db", "target", "htmlcov"),
    )
)
_INSTALLED = {"site-packages", "dist-packages"}
_LAKEWARD = Path(__file__).resolve().parent


def is_source_folder(name: str) -> bool:
    """Return whether a folder of this name may contain source files of the user.

    >>> [is_source_folder(name) for name in ("src", ".git", "build", "shop.egg-info")]
    [True, False, False, False]
    """
    return name not in _OTHER_FOLDERS and not name.startswith(".") and not name.endswith(".egg-info")


def is_user_file(path: object, roots: Iterable[str | Path] = ()) -> bool:
    """Return whether `path` is a source file that the user wrote.

    False for lakeward's own files, installed packages (also in an environment below the user's folder),
    the standard library, console scripts, and code without a file such as `<string>` or None.

    Args:
        path: A module's `__file__` or the file name of a frame.
        roots: The folders of the user's project; if given, the file must be in one of them.
    """
    if not isinstance(path, str | Path) or str(path).startswith("<"):
        return False
    if _is_library(str(path)):
        return False
    folders = tuple(roots)
    if not folders:
        return True
    file = Path(path)
    resolved = file.resolve()
    return any(
        file.is_relative_to(folder) or resolved.is_relative_to(Path(folder).resolve()) for folder in folders
    )


def warn_user(text: str) -> None:
    """Show a warning at the line of the user's code that is being executed, once per line."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        warnings.warn(text, stacklevel=2)
        return
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    name = frame.f_globals.get("__name__")
    warnings.warn_explicit(text, UserWarning, frame.f_code.co_filename, frame.f_lineno, name, registry)


@lru_cache(maxsize=4096)
def _is_library(path: str) -> bool:
    """Return whether the file belongs to lakeward, an installed package or the interpreter."""
    given = Path(path)
    file = given.resolve()
    if _INSTALLED & {*given.parts, *file.parts}:
        return True
    return any(file.is_relative_to(folder) for folder in (_LAKEWARD, *_interpreter_folders()))


@cache
def _interpreter_folders() -> tuple[Path, ...]:
    names = ("stdlib", "platstdlib", "scripts")
    return tuple({Path(path).resolve() for name in names if (path := sysconfig.get_path(name))})
