"""COPY INTO in a separate process: `python copying.py ROOT TABLE SOURCE [POINT]` is killed at the point."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from lakeward.session import Settings, session
from tests.copy_into.fault_injection import Step, after_each_step


def main(root: str, table: str, source: str, deadly: str = "") -> None:
    def kill_at(step: Step) -> None:
        if step == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    after_each_step(kill_at)
    spark = session(Settings.here(Path(root), environ={}))
    spark.range(1).count()
    print("READY", flush=True)
    sys.stdin.readline()
    row = spark.sql(f"COPY INTO delta.`{table}` FROM '{source}' FILEFORMAT = JSON").collect()[0]
    print(f"LOADED {row[0]}", flush=True)


main(*sys.argv[1:])
