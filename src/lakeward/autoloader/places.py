"""Where this process leaves notes for readers, and what the lakehouse calls its files."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from lakeward.autoloader.discovery import Names
from lakeward.session import current_settings
from lakeward.session.paths import PathMap

__all__ = ["current_names", "rendezvous"]


@cache
def rendezvous() -> Path:
    """A folder of this process alone, removed when it ends."""
    folder = Path(tempfile.mkdtemp(prefix="lakeward-cloudfiles-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def current_names() -> Names:
    """Names under the path map of the running session's lakehouse."""
    settings = current_settings()
    return Names(PathMap.of(settings) if settings else PathMap(()))
