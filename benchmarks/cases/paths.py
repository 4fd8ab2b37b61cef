"""What the path mapping costs a file function that it does not concern."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.registry import Sides, case
from lakeward.patching import original
from lakeward.session import path_redirection
from lakeward.session.paths import PathMap

CALLS = 100_000


@case("paths.stat_100k", goal=3.0)
@contextmanager
def unmapped_stat(folder: Path) -> Iterator[Sides]:
    """100,000 × `os.stat` of a path outside of every mapped prefix, with the mapping and without."""
    file = str(folder / "file")
    Path(file).touch()
    plain = original(os, "stat")

    def ours() -> None:
        stat = os.stat
        for _ in range(CALLS):
            stat(file)

    def peer() -> None:
        for _ in range(CALLS):
            plain(file)

    path_redirection.install(
        PathMap((("/Volumes", str(folder)), ("/dbfs", str(folder)), ("/Workspace", str(folder))))
    )
    try:
        yield Sides(ours, peer)
    finally:
        path_redirection.uninstall()
