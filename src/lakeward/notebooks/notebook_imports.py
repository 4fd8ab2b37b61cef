"""Imports from the folders of a notebook."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lakeward.pickling_finder import PicklingFinder
from lakeward.user_code import is_user_file


@dataclass(eq=False)
class _Surroundings:
    """What a run of a notebook changes in the process, as it was before."""

    folder: Path
    entries: list[str]
    modules: set[str]


# Runs in several threads end in any order: the one that ends last restores what was before the first.
_open: list[_Surroundings] = []
_lock = threading.Lock()


@contextmanager
def notebook_imports(folder: Path, imports: Sequence[Path]) -> Iterator[None]:
    """Set the working directory to `folder` and make modules below `imports` importable in the body.

    Both belong to the process: of bodies in several threads, the last that began has its folder.
    """
    finder, added = PicklingFinder(tuple(imports)), [str(path) for path in imports]
    with _lock:
        mine = _Surroundings(Path.cwd(), list(sys.path), set(sys.modules))
        _open.append(mine)
        os.chdir(folder)
        sys.path[:0] = added
        sys.meta_path.insert(0, finder)
        importlib.invalidate_caches()
    try:
        yield
    finally:
        with _lock:
            sys.meta_path.remove(finder)
            finder.forget()
            _leave(mine, added, finder.folders)


def _leave(mine: _Surroundings, added: list[str], folders: tuple[Path, ...]) -> None:
    """Restore what was before a run, or leave that to the run that began next and has not ended."""
    place = _open.index(mine)
    later = _open[place + 1 :]
    del _open[place]
    if later:
        later[0].folder, later[0].entries, later[0].modules = mine.folder, mine.entries, mine.modules
        for entry in added:
            with suppress(ValueError):  # the user's code may have removed it
                sys.path.remove(entry)
        return
    os.chdir(mine.folder)
    sys.path[:] = mine.entries
    for name in set(sys.modules) - mine.modules:
        if is_user_file(getattr(sys.modules[name], "__file__", None), folders):
            del sys.modules[name]
