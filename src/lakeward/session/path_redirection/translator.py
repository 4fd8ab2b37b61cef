"""Translate path arguments of patched functions; all other paths pass unchanged.

All patched functions share one `PathTranslator`, so a change of the map needs no new patches.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from lakeward.session.paths import PathMap

_fspath, _fsdecode, _fsencode = os.fspath, os.fsdecode, os.fsencode


class PathTranslator:
    """The active path map, with a fast test for paths that need no translation."""

    __slots__ = ("map", "prefixes")

    def __init__(self, path_map: PathMap) -> None:
        self.use(path_map)

    def use(self, path_map: PathMap) -> None:
        """Replace the map; open files are not affected."""
        self.map = path_map
        self.prefixes = tuple(prefix for prefix, _ in path_map.entries)

    def find(self, path: Any) -> Any:
        """Return the local path as str or bytes like `path`; None if the argument needs no translation."""
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
        """Return the local path, or the argument unchanged."""
        found = self.find(path)
        return path if found is None else found

    def user_path(self, path: Any) -> Any:
        """Return the platform path of a local path."""
        return _fsencode(self.map.user(_fsdecode(path))) if isinstance(path, bytes) else self.map.user(path)

    def translate_message(self, message: str) -> str:
        """Replace local folders in a message by platform paths."""
        for prefix, folder in self.map.entries:
            message = message.replace(folder + "/", prefix + "/")
        return message


class Function(staticmethod):  # type: ignore[type-arg]  # generic in the stubs only
    """Replaces a builtin function.

    As a class attribute it does not bind, it is found in `os.supports_…`, and it is pickled by name: another
    process loads its own patched or plain function.
    """

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


def translate_first_path(translator: PathTranslator, original: Any) -> Callable[..., Any]:
    """Return `original` with its first argument `path` mapped; an OSError names the caller's path."""
    find = translator.find

    def call(*args: Any, **kwargs: Any) -> Any:
        if args:
            path, args_after = args[0], args[1:]
        elif "path" in kwargs:
            path, args_after = kwargs["path"], ()
        else:
            return original(**kwargs)
        local = find(path)
        if local is None:
            return original(*args, **kwargs)
        kwargs.pop("path", None)
        try:
            return original(local, *args_after, **kwargs)
        except OSError as error:
            error.filename = _fspath(path)
            raise

    return call


def translate_two_paths(translator: PathTranslator, original: Any) -> Callable[..., Any]:
    """Return `original(src, dst, …)` with both paths mapped."""
    find = translator.find

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
