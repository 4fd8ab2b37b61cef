"""A stream that goes on: `python continuous_stream.py ROOT SECONDS` prints samples of its memory, in MB.

Files arrive all the time. A sample is what lives in the JVM's heap after a collection, and the resident size
of the Python process that finds the files.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from lakeward.session import Settings, session


def finder_mb() -> int:
    """Resident megabytes of the largest process that runs Spark's Python source, see /proc."""
    sizes = [0]
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if b"python_streaming_source_runner" in (place / "cmdline").read_bytes():
                sizes.append(int((place / "statm").read_text().split()[1]) * 4096 >> 20)
        except OSError:
            continue
    return max(sizes)


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
    end, files = time.monotonic() + seconds, 0
    while time.monotonic() < end:
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
    batches = sum(name.name.isdigit() for name in (root / "checkpoint" / "commits").iterdir())
    print("RESULT " + json.dumps({"files": files, "rows": rows, "batches": batches, "samples": samples}))


main(Path(sys.argv[1]), float(sys.argv[2]))
