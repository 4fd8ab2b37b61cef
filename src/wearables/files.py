"""Files that appear under their name when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["UNFINISHED", "replacing"]

UNFINISHED = ".*.unfinished"
"""Pattern of what a crash leaves: Auto Loader does not see names that start with a dot."""


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """Yield a new file that takes the place of `file` in one step; after an error nothing of it stays."""
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        with unfinished.open("wb") as new:
            yield new
            new.flush()
            os.fsync(new.fileno())
        unfinished.replace(file)
    except BaseException:
        # A full disk needs the space.
        unfinished.unlink(missing_ok=True)
        raise
