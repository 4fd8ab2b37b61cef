"""Folders of this machine that a path or URI names."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit


def local_folder(location: str) -> Path | None:
    """Return the folder of a path or `file:` URI; None for any other scheme, and for no location.

    >>> local_folder("file:/tmp/a%20b"), local_folder("s3a://bucket/x")
    (PosixPath('/tmp/a b'), None)
    """
    parts = urlsplit(location)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).absolute()
    return None if parts.scheme or not location else Path(location).absolute()
