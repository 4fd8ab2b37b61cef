"""Files that are written whole or not at all: beside their place first, then put there in one step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["replacing", "write_whole"]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write the new content of `path`, which it replaces when the block ends.

    Whoever reads `path` meanwhile finds what was there. When the block fails, nothing is left beside it.
    """
    # Random, not the process's: two threads may be at the same file. Short: so may the name be long.
    aside = path.with_name(f".{os.urandom(8).hex()}.part")
    try:
        yield aside
        aside.replace(path)
    finally:
        with suppress(OSError):
            aside.unlink()


def write_whole(path: Path, content: str | bytes, *, mode: int = 0o666, synced: bool = False) -> None:
    """Replace the content of `path`, in a folder that is there; text is written as UTF-8.

    `mode` is that of the new file, less the umask, from its first byte on. With `synced` the content is on
    the disk before it is in place. Raises OSError.
    """
    with replacing(path) as aside:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            if synced:
                stream.flush()
                os.fsync(stream.fileno())
