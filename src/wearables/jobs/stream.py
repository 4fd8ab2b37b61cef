"""Entry point `stream`: the Structured Streaming queries, on what is available or without a pause."""

from __future__ import annotations

import argparse
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from wearables.streams import Streams, StreamsControl, reset

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the streams of the schema that the arguments name (`sys.argv` when None)."""
    parser = argparse.ArgumentParser(prog="stream", description=__doc__)
    for name in ("catalog", "schema", "checkpoints"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument(
        "--reset", action="store_true", help="empty the tables and delete the state; run nothing"
    )
    parser.add_argument("--every", type=float, help="repeat every so many seconds, until --pause or SIGTERM")
    parser.add_argument("--pause", type=float, metavar="SECONDS", help="end a repeated run; wait so long")
    parser.add_argument("--resume", action="store_true", help="the streams may run again")
    parser.add_argument("--ready", type=float, metavar="SECONDS", help="wait so long for the first pass")
    given, _ = parser.parse_known_args(argv)
    control = StreamsControl(Path(given.checkpoints))
    if given.pause is not None:
        control.pause(given.pause)
        print("the streams are paused")
        return
    if given.resume:
        control.resume()
        print("the streams may run again")
        return
    if given.ready is not None:
        control.wait_until_ready(given.ready)
        print("the streams have completed a pass")
        return
    spark, place = SparkSession.builder.getOrCreate(), f"`{given.catalog}`.`{given.schema}`"
    if given.reset:
        reset(spark, place, given.checkpoints)
        print("all streams start over with the next run")
        return
    streams = Streams(spark, place, given.checkpoints)
    if given.every is not None:
        passes = control.run(streams.run, given.every, _stopped_by_sigterm())
        print(f"the streams have stopped after {passes} passes")
        return
    late = streams.run()
    print("events behind the watermark: " + ", ".join(f"{count} of {name}" for name, count in late.items()))


def _stopped_by_sigterm() -> threading.Event:
    stop = threading.Event()
    # Signals reach the main thread alone; elsewhere `--pause` ends the run.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: stop.set())
    return stop


if __name__ == "__main__":
    main()
