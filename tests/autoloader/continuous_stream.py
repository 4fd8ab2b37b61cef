"""A continuous stream: `python continuous_stream.py ROOT SECONDS` prints samples of its memory, in MB.

Files arrive all the time. A sample is what lives in the JVM's heap after a collection, and the memory
of the Python process that finds the files.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from lakeward.session import Settings, session

BATCHES = 25


def finder_mb() -> int:
    """Resident megabytes of the largest process of this Spark that runs its Python source, see /proc."""
    sizes = [0]
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if b"python_streaming_source_runner" in (place / "cmdline").read_bytes() and _is_below(place):
                sizes.append(int((place / "statm").read_text().split()[1]) * 4096 >> 20)
        except OSError:
            continue
    return max(sizes)


def _is_below(process: Path) -> bool:
    """Whether a process is this one's or one of its children's."""
    while process.name not in ("0", "1"):
        process = process.with_name((process / "stat").read_text().rpartition(") ")[2].split()[1])
        if process.name == str(os.getpid()):
            return True
    return False


def batches_of(commits: Path) -> int:
    """How many batches are committed."""
    return sum(name.name.isdigit() for name in commits.iterdir()) if commits.is_dir() else 0


def main(root: Path, seconds: float) -> None:
    spark = session(Settings.here(root, environ={}))
    source = root / "in"
    source.mkdir()
    df = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").schema("a int")
    query = (
        df.load(str(source))
        .writeStream.option("checkpointLocation", str(root / "checkpoint"))
        .trigger(processingTime="1 second")
        .toTable("main.default.continuous")
    )
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    samples: list[tuple[int, int]] = []
    commits = root / "checkpoint" / "commits"
    end, files = time.monotonic() + seconds, 0
    # A slow machine needs longer for as many batches.
    while time.monotonic() < end or batches_of(commits) < BATCHES:
        for _ in range(50):
            draft = root / "draft"
            draft.write_text(f'{{"a": {files}}}\n')
            draft.rename(source / f"{files:06}.json")
            files += 1
            time.sleep(0.1)
        spark._jvm.java.lang.System.gc()
        samples.append(((runtime.totalMemory() - runtime.freeMemory()) >> 20, finder_mb()))
    query.processAllAvailable()
    query.stop()
    rows = spark.table("main.default.continuous").count()
    result = {"files": files, "rows": rows, "batches": batches_of(commits), "samples": samples}
    print("RESULT " + json.dumps(result))


main(Path(sys.argv[1]), float(sys.argv[2]))
