"""Entry point `check`: what must hold after every update of the pipeline `wearables`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from wearables.transforms import summary

__all__ = ["CheckError", "check", "failures", "main"]

_KEYS = {
    "heart_rate": ("device_id", "time"),
    "workouts": ("user_id", "workout_id", "time", "action", "session_id"),
    "registered_users": ("device_id", "mac_address", "registration_timestamp", "user_id"),
    "completed_workouts": ("user_id", "session_id"),
    "workout_bpm": ("user_id", "session_id", "device_id", "time"),
    "workout_bpm_summary": ("user_id", "session_id"),
}


class CheckError(Exception):
    """The tables contradict each other; the message names every check that failed."""


def main(argv: Sequence[str] | None = None) -> None:
    """Check the tables in the catalog and schema that the arguments name (`sys.argv` when None).

    Raises CheckError when a check fails.
    """
    parser = argparse.ArgumentParser(prog="check", description=__doc__)
    parser.add_argument("--catalog", required=True)
    parser.add_argument("--schema", required=True)
    arguments, _ = parser.parse_known_args(argv)
    check(SparkSession.builder.getOrCreate(), f"`{arguments.catalog}`.`{arguments.schema}`")
    print(f"all checks hold in {arguments.catalog}.{arguments.schema}")


def check(spark: SparkSession, schema: str) -> None:
    """Raise CheckError with every check that fails for the tables of `schema`."""
    failed = list(failures(spark, schema))
    if failed:
        raise CheckError(f"{len(failed)} checks failed in {schema}: " + "; ".join(failed))


def failures(spark: SparkSession, schema: str) -> Iterator[str]:
    """Yield one sentence for each check that fails."""

    def table(name: str) -> DataFrame:
        return spark.table(f"{schema}.`{name}`")

    yield from _unaccounted(
        "bronze",
        delivered=table("bronze").filter("topic IS NULL OR topic <> 'user_info' OR unreadable IS NOT NULL"),
        silver=(table("heart_rate"), table("workouts")),
        quarantine=table("quarantine").filter("feed = 'daily'"),
    )
    yield from _unaccounted(
        "registrations",
        delivered=table("registrations"),
        silver=(table("registered_users"),),
        quarantine=table("quarantine").filter("feed = 'registrations'"),
    )
    for name, key in _KEYS.items():
        repeated = table(name).groupBy(*key).count().filter("count > 1").count()
        if repeated:
            yield f"{name} has {repeated} keys ({', '.join(key)}) with more than one row"
    gold, expected = table("workout_bpm_summary"), summary(table("workout_bpm"))
    same = gold.select(*expected.columns)
    differing = same.exceptAll(expected).count() + expected.exceptAll(same).count()
    if differing:
        yield f"workout_bpm_summary differs in {differing} rows from the aggregates of workout_bpm"


def _unaccounted(
    name: str, *, delivered: DataFrame, silver: Sequence[DataFrame], quarantine: DataFrame
) -> Iterator[str]:
    kept = repeats = 0
    for table in silver:
        row = table.agg(F.count(F.lit(1)), F.coalesce(F.sum("repeats"), F.lit(0))).collect()[0]
        kept, repeats = kept + row[0], repeats + row[1]
    rows, refused = delivered.count(), quarantine.count()
    print(f"{name}: {rows} rows = {kept} in silver + {repeats} repeats + {refused} in quarantine")
    if rows != kept + repeats + refused:
        yield (
            f"{name} has {rows} rows, but silver accounts for {kept} and {repeats} repeats, quarantine for "
            f"{refused}: {rows - kept - repeats - refused:+d} are unaccounted for"
        )


if __name__ == "__main__":
    main()
