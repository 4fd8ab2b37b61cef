"""The way from a path argument to the local one, cheap where there is nothing to do.

Every patched function shares one `Reach`, so that a change of the map needs no new patches.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from lakeward.session.paths import PathMap

__all__ = ["Function", "Reach", "first_path", "two_paths"]

_fspath, _fsdecode, _fsencode = os.fspath, os.fsdecode, os.fsencode


class Reach:
    """The map in force and the quick test that lets every other path pass."""

    __slots__ = ("map", "prefixes")

    def __init__(self, path_map: PathMap) -> None:
        self.use(path_map)

    def use(self, path_map: PathMap) -> None:
        """Put another map in force; files that are open stay open."""
        self.map = path_map
        self.prefixes = tuple(prefix for prefix, _ in path_map.entries)

    def find(self, path: Any) -> Any:
        """The local path, of the same kind (str, bytes), or None where the argument is to pass as it is."""
        if path.__class__ is str:
            text = path
        elif path is None or isinstance(path, int):
            return None
        else:
            try:
                text = _fspath(path)
            except TypeError:
                return None
            if isinstance(text, bytes):
                found = self.find(_fsdecode(text))
                return None if found is None else _fsencode(found)
        # A detour (`//`, `/./`, `/../`) may lead to a prefix that the text does not begin with.
        if not (text.startswith(self.prefixes) or "/../" in text or "//" in text or "/./" in text):
            return None
        local = self.map.local(text)
        return None if local == text else local

    def local(self, path: Any) -> Any:
        """The local path, or the argument itself."""
        found = self.find(path)
        return path if found is None else found

    def shown(self, path: Any) -> Any:
        """The user's name of a path that the system gave."""
        return _fsencode(self.map.user(_fsdecode(path))) if isinstance(path, bytes) else self.map.user(path)

    def told(self, message: str) -> str:
        """A library's message with the user's names in place of local folders."""
        for prefix, folder in self.map.entries:
            message = message.replace(folder + "/", prefix + "/")
        return message


class Function(staticmethod):  # type: ignore[type-arg]  # generic in the stubs only
    """Stands for a builtin function: no method when it is a class attribute, found in `os.supports_…`,
    pickled by name, and so again the patched or the plain one at the other end."""

    def __init__(self, call: Callable[..., Any], original: Any, module: str) -> None:
        call.__name__ = call.__qualname__ = original.__name__
        call.__module__, call.__doc__ = module, original.__doc__
        super().__init__(call)
        self.original = original

    def __eq__(self, other: object) -> bool:
        return other is self or other == self.original

    def __hash__(self) -> int:
        return hash(self.original)

    def __reduce__(self) -> str:
        return self.__name__

    def __repr__(self) -> str:
        return repr(self.original)


def first_path(reach: Reach, original: Any, keyword: str) -> Callable[..., Any]:
    """`original` with its first argument mapped; an OSError names the path as the caller wrote it."""
    find = reach.find

    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            path, args_after = args[0], args[1:]
        elif keyword in kwargs:
            path, args_after = kwargs[keyword], ()
        else:
            return original(**kwargs)
        local = find(path)
        if local is None:
            return original(*args, **kwargs)
        kwargs.pop(keyword, None)
        try:
            return original(local, *args_after, **kwargs)
        except OSError as error:
            error.filename = _fspath(path)
            raise

    return call


def two_paths(reach: Reach, original: Any) -> Callable[..., Any]:
    """`original(src, dst, …)` with both mapped."""
    find = reach.find

    def call(src: Any, dst: Any, *args: Any, **kwargs: Any) -> Any:
        local_src, local_dst = find(src), find(dst)
        if local_src is None and local_dst is None:
            return original(src, dst, *args, **kwargs)
        here = src if local_src is None else local_src
        there = dst if local_dst is None else local_dst
        try:
            return original(here, there, *args, **kwargs)
        except OSError as error:
            error.filename, error.filename2 = _fspath(src), _fspath(dst)
            raise

    return call
