"""COPY INTO in a process of its own: `python copying.py ROOT TABLE SOURCE [POINT]` is killed at the point."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from lakeward.copy_into import points
from lakeward.session import Settings, session


def main(root: str, table: str, source: str, deadly: str = "") -> None:
    def reached(point: points.Point) -> None:
        if point == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    points.reached = reached
    spark = session(Settings.here(Path(root), environ={}))
    spark.range(1).count()
    print("READY", flush=True)
    sys.stdin.readline()
    row = spark.sql(f"COPY INTO delta.`{table}` FROM '{source}' FILEFORMAT = JSON").collect()[0]
    print(f"LOADED {row[0]}", flush=True)


main(*sys.argv[1:])
