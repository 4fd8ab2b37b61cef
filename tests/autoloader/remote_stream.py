"""A stream on remote storage or executors: `python remote_stream.py ROOT SOURCE MASTER` prints its rows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lakeward.session import Settings, session


def main(root: Path, source: str, master: str) -> None:
    spark = session(Settings.here(root, environ={}, conf={"spark.master": master}))
    for _ in range(2):
        df = (
            spark.readStream.format("cloudFiles")
            .option("cloudFiles.format", "json")
            .option("cloudFiles.inferColumnTypes", "true")
            .option("cloudFiles.schemaLocation", str(root / "schemas"))
            .load(source)
            .selectExpr("*", "_metadata.file_path as path")
        )
        query = (
            df.writeStream.option("checkpointLocation", str(root / "checkpoint"))
            .trigger(availableNow=True)
            .toTable("main.default.placed")
        )
        query.awaitTermination()
    rows = spark.table("main.default.placed").select("a", "path").collect()
    print("ROWS " + json.dumps(sorted((row["a"], row["path"]) for row in rows)), flush=True)
    # A local cluster that is not stopped starts executors again while the JVM ends.
    spark.stop()


main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
