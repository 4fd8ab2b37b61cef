"""`open`, in builtins and `io`: the file is the local one, its `name` and its errors are the user's path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.session.python_paths.reach import Reach

__all__ = ["opening"]

_OPENER_POSITION = 6  # among the arguments after the file
_MODE = 0o666  # what open() creates files with; os.open() alone would use 0o777


def opening(reach: Reach, original: Any, os_open: Any) -> Callable[..., Any]:
    """`open` for mapped paths; `os_open` is the plain `os.open`. A caller's own `opener` is left alone."""
    find = reach.find

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
