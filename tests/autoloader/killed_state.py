"""`python killed_state.py FOLDER POINT` processes files or stores a schema, and kills itself at the point."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lakeward.autoloader.schema.schema_store import SchemaStore
from tests.autoloader.trackers import Source


def dying(before: Callable[..., Any], *, first: bool) -> Callable[..., Any]:
    """Wrap a function so that the process dies before (`first`) or after the call."""

    def call(*arguments: Any, **named: Any) -> None:
        if not first:
            before(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    return call


def main(folder: Path, point: str) -> None:
    what, _, when = point.rpartition(" ")
    owner, name = {
        "state written": (os, "fsync"),
        "state compacted": (Path, "replace"),
        "schema stored": (os, "link"),
    }[what]
    setattr(owner, name, dying(getattr(owner, name), first=when == "before"))
    if what == "schema stored":
        from pyspark.sql.types import StructType

        SchemaStore(str(folder)).add((StructType().add("b", "string"), StructType()))
    source = Source(folder, maxFileAge="14 days")
    source.day = 100
    source.at = (
        source.tracker().initial_offset()
        if what == "state written"
        else {**source.tracker().initial_offset(), "seqNum": 2}
    )
    source.run("new")


main(Path(sys.argv[1]), sys.argv[2])
