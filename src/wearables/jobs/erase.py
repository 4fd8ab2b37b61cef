"""Entry point `erase`: records of erased people out of the tables and files that are filled from outside.

The pipeline's next update takes it out of all other tables; the entry point `purge` removes replaced files.
Each step can be repeated: a run after a crash continues. The task value `refresh` is `true` when computed
tables may have an erased person, and else `false`.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from databricks.sdk.runtime import dbutils
from pyspark.sql import DataFrame, SparkSession

from wearables import erasure
from wearables.streams import StreamsControl, reset
from wearables.suppression import KEY

__all__ = ["Erased", "erase", "main"]

# A pass of the streams that is running ends first.
_PATIENCE = 1800.0


@dataclass(frozen=True)
class Erased:
    """How many requests were executed, and how many rows and lines were removed."""

    requests: int
    rows: int
    lines: int


def main(argv: Sequence[str] | None = None) -> None:
    """Erase in the catalog, schema and volume that the arguments name (`sys.argv` when None)."""
    parser = argparse.ArgumentParser(prog="erase", description=__doc__)
    for name in ("catalog", "schema", "scope", "landing"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--checkpoints", default="", help="of the streams, which start over after an erasure")
    given, _ = parser.parse_known_args(argv)
    key = dbutils.secrets.get(scope=given.scope, key=KEY)
    place = f"`{given.catalog}`.`{given.schema}`"
    spark = SparkSession.builder.getOrCreate()

    def forget() -> None:
        if given.checkpoints:
            control = StreamsControl(Path(given.checkpoints))
            control.pause(_PATIENCE)
            reset(spark, place, given.checkpoints)
            control.resume()

    done = erase(spark, place, Path(given.landing), key, forget)
    needed = erasure.in_computed_tables(spark, place)
    dbutils.jobs.taskValues.set("refresh", str(needed).lower())
    print(f"{done.requests} requests: removed {done.rows} rows of tables and {done.lines} lines of files")


def erase(
    spark: SparkSession, schema: str, landing: Path, key: str, forget: Callable[[], None] | None = None
) -> Erased:
    """Execute the open requests, and remove what was delivered again of people who were erased before.

    `forget` lets streams start over whose state holds values of rows that were removed; it is called before
    the requests are marked, so that a run after a crash calls it again.
    """
    requests = erasure.collect(spark, schema, key)
    erasure.suppress(spark, schema, requests, key)
    listed = spark.table(f"{schema}.suppressed")
    if not requests and listed.isEmpty():
        return Erased(0, 0, 0)
    tables = {
        name: _computed(erasure.matches(spark, schema, name, key))
        for name in erasure.raw_tables(spark, schema)
    }
    files = _computed(erasure.landed_matches(spark, landing, listed, key))
    found = _by_subject({**tables, "landing": files.withColumnRenamed("lines", "rows")})
    if requests or found:
        erasure.note_found(spark, schema, requests, found, key)
    # Files first: a row that is still in a table names nothing that the files do not have.
    lines_of: dict[str, set[str]] = defaultdict(set)
    for row in files.select("file", "digest").collect():
        lines_of[row["file"]].add(row["digest"])
    lines = erasure.clean_landing(landing, lines_of)
    rows = sum(
        erasure.remove(spark, schema, name, each) for name, each in tables.items() if _any(name, found)
    )
    if forget is not None and (rows or requests):
        forget()
    if requests:
        erasure.mark_erased(spark, schema, requests)
    return Erased(len(requests), rows, lines)


def _computed(frame: DataFrame) -> DataFrame:
    """Compute `frame` once; it has no personal value."""
    rows = frame.collect()
    return frame.sparkSession.createDataFrame(rows, frame.schema)


def _by_subject(places: dict[str, DataFrame]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for place, frame in places.items():
        for row in frame.groupBy("subject").sum("rows").collect():
            found[row["subject"]][place] = row["sum(rows)"]
    return found


def _any(place: str, found: dict[str, dict[str, int]]) -> bool:
    return any(place in counts for counts in found.values())


if __name__ == "__main__":
    main()
