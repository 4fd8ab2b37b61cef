"""Entry point `stream`: the Structured Streaming queries on what is available."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pyspark.sql import SparkSession

from wearables.streams import Streams, reset

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the streams of the schema that the arguments name (`sys.argv` when None)."""
    parser = argparse.ArgumentParser(prog="stream", description=__doc__)
    for name in ("catalog", "schema", "checkpoints"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument(
        "--reset", action="store_true", help="empty the tables and delete the state; run nothing"
    )
    given, _ = parser.parse_known_args(argv)
    spark, place = SparkSession.builder.getOrCreate(), f"`{given.catalog}`.`{given.schema}`"
    if given.reset:
        reset(spark, place, given.checkpoints)
        print("all streams start over with the next run")
        return
    late = Streams(spark, place, given.checkpoints).run()
    print("events behind the watermark: " + ", ".join(f"{count} of {name}" for name, count in late.items()))


if __name__ == "__main__":
    main()
