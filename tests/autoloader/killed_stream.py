"""A stream in a separate process, to be killed: `python killed_stream.py ROOT` prints the table's rows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lakeward.session import Settings, session


def main(root: Path) -> None:
    spark = session(Settings.here(root, environ={}))
    print("READY", flush=True)
    df = (
        spark.readStream.format("cloudFiles")
        .option("cloudFiles.format", "json")
        .option("cloudFiles.maxFilesPerTrigger", 2)
        .schema("file int, row int")
        .load(str(root / "in"))
    )
    query = (
        df.writeStream.option("checkpointLocation", str(root / "checkpoint"))
        .trigger(availableNow=True)
        .toTable("main.default.killed")
    )
    query.awaitTermination()
    rows = spark.table("main.default.killed").groupBy("file").count().collect()
    print("ROWS " + json.dumps(sorted((row["file"], row["count"]) for row in rows)), flush=True)


main(Path(sys.argv[1]))
