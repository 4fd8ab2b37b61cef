"""Entry point `purge`: replaced files out of the lakehouse, and requests of erasure to their end."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from databricks.sdk.runtime import dbutils
from pyspark.sql import SparkSession

from wearables import erasure
from wearables.jobs.maintain import tables_of
from wearables.suppression import KEY

__all__ = ["OverdueError", "main"]


class OverdueError(Exception):
    """Requests are not finished although their deadline is over; the message names them."""


def main(argv: Sequence[str] | None = None) -> None:
    """Purge the catalog and schema that the arguments name (`sys.argv` when None).

    Raises OverdueError at the end if a deadline is missed.
    """
    parser = argparse.ArgumentParser(prog="purge", description=__doc__)
    for name in ("catalog", "schema", "scope", "retention"):
        parser.add_argument(f"--{name}", required=True)
    given, _ = parser.parse_known_args(argv)
    spark, place = SparkSession.builder.getOrCreate(), f"`{given.catalog}`.`{given.schema}`"
    key = dbutils.secrets.get(scope=given.scope, key=KEY)
    counts = erasure.finish(spark, place, tables_of(spark, place), key, given.retention)
    print(
        "requests: "
        + (", ".join(f"{number} {status}" for status, number in sorted(counts.items())) or "none")
    )
    late = erasure.overdue(spark, place)
    if late:
        raise OverdueError(
            f"{len(late)} requests of erasure are open after their deadline: {', '.join(late)}. "
            "Their evidence is incomplete: see the tables erasure_requests and erasure_audit."
        )


if __name__ == "__main__":
    main()
