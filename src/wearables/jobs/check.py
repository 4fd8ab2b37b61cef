"""Entry point `check`: what must hold after every update of the pipeline `wearables`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from functools import partial, reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from wearables.feeds import FEEDS
from wearables.topics import EVENTS, USER_INFO
from wearables.transforms import SMALLEST_GROUP, summary, user_changes
from wearables.transforms.validity import holds

__all__ = ["CheckError", "check", "failures", "main"]

_KEYS = {
    **{topic.target: topic.key for topic in EVENTS},
    **{feed.target: tuple(feed.fields) for feed in FEEDS},
    "users": ("user_id",),
    "user_keys": ("user_id",),
    "user_bins": ("pseudonym",),
    "training_load": ("pseudonym", "week_part"),
    "completed_workouts": ("user_id", "session_id"),
    "workout_bpm": ("user_id", "session_id", "device_id", "time"),
    "workout_bpm_summary": ("user_id", "session_id"),
}


# Rows of the first table whose columns are in no row of the second.
_REFERENCES = (
    ("workout_bpm", "registered_users", ("user_id", "device_id")),
    ("workout_bpm", "completed_workouts", ("user_id", "session_id")),
    ("workout_bpm_summary", "workout_bpm", ("user_id", "session_id")),
    ("registered_users", "user_keys", ("user_id",)),
    ("users", "user_keys", ("user_id",)),
    ("training_load", "user_keys", ("pseudonym",)),
    ("training_load", "date_lookup", ("week_part",)),
)

# Tables of events, which grow every day; `time` is that of the event.
_EVENTS = ("heart_rate", "workouts", "workout_bpm")

# Most checks are small queries, which spend their time in planning.
_CONCURRENT = 4
Check = Callable[[], Iterator[str]]


class CheckError(Exception):
    """The tables contradict each other; the message names every check that failed."""


def main(argv: Sequence[str] | None = None) -> None:
    """Check the tables in the catalog and schema that the arguments name (`sys.argv` when None).

    With `--days`, keys and references of events are checked for as many days before the newest record, and
    numbers of rows for all days. Raises CheckError when a check fails.
    """
    parser = argparse.ArgumentParser(prog="check", description=__doc__)
    parser.add_argument("--catalog", required=True)
    parser.add_argument("--schema", required=True)
    parser.add_argument("--days", type=int)
    arguments, _ = parser.parse_known_args(argv)
    schema = f"`{arguments.catalog}`.`{arguments.schema}`"
    check(SparkSession.builder.getOrCreate(), schema, days=arguments.days)
    print(f"all checks hold in {arguments.catalog}.{arguments.schema}")


def check(spark: SparkSession, schema: str, *, days: int | None = None) -> None:
    """Raise CheckError with every check that fails for the tables of `schema`."""
    failed = list(failures(spark, schema, days=days))
    if failed:
        raise CheckError(f"{len(failed)} checks failed in {schema}: " + "; ".join(failed))


def failures(spark: SparkSession, schema: str, *, days: int | None = None) -> Iterator[str]:
    """Yield one sentence for each check that fails; `days` limits those of keys and references of events."""

    def table(name: str) -> DataFrame:
        return spark.table(f"{schema}.`{name}`")

    first = None if days is None else _first_day(table("bronze"), days)

    def recent(name: str) -> DataFrame:
        return table(name).filter(_since("time", first)) if first and name in _EVENTS else table(name)

    def of_recent_sessions(rows: DataFrame) -> DataFrame:
        if first is None:
            return rows
        # Recordings of a session are not older than its start.
        sessions = table("completed_workouts").filter(_since("start_time", first))
        return rows.join(sessions, ["user_id", "session_id"], "left_semi")

    # Changes of users are folded: a valid one may leave no row.
    changes = user_changes(table("bronze")).filter(holds(USER_INFO.rules)).select(F.lit(0).alias("repeats"))
    events = (*(table(topic.target) for topic in EVENTS), changes)
    quarantine = table("quarantine")
    gold = of_recent_sessions(table("workout_bpm_summary"))
    users = table("users")
    open_rows = table("users_history").filter("__END_AT IS NULL").select(*users.columns)
    expected = summary(of_recent_sessions(recent("workout_bpm")))
    checks: list[Check] = [
        partial(_unaccounted, "bronze", table("bronze"), events, quarantine.filter("feed = 'daily'"))
    ]
    for feed in FEEDS:
        refused = quarantine.filter(F.col("feed") == feed.name)
        checks.append(partial(_unaccounted, feed.name, table(feed.name), [table(feed.target)], refused))
    checks += [partial(_repeated, name, recent(name), key) for name, key in _KEYS.items()]
    for name, other, columns in _REFERENCES:
        rows = gold if name == "workout_bpm_summary" else recent(name)
        checks.append(partial(_unreferenced, (name, rows), (other, recent(other)), columns))
    checks += [
        partial(_differing, "users", users, open_rows, "the open rows of users_history"),
        partial(_small_groups, table("fitness_by_group")),
        partial(
            _differing,
            "workout_bpm_summary",
            gold.select(*expected.columns),
            expected,
            "the aggregates of workout_bpm",
        ),
    ]
    with ThreadPoolExecutor(_CONCURRENT) as pool:
        for found in pool.map(lambda each: list(each()), checks):
            yield from found


def _first_day(bronze: DataFrame, days: int) -> date | None:
    newest: date | None = bronze.agg(F.max("date")).collect()[0][0]
    return None if newest is None else newest - timedelta(days=days)


def _since(column: str, first: date) -> Column:
    """Return the condition that a time is not before the beginning of a day (UTC)."""
    seconds = (first - date(1970, 1, 1)).days * 86_400
    return F.col(column) >= F.expr(f"timestamp_seconds({seconds})")


def _repeated(name: str, table: DataFrame, key: Sequence[str]) -> Iterator[str]:
    """Find the keys with more than one row: those among rows whose hash is not the only one of its value.

    Hashes take less memory than keys, and two keys with one hash are rare.
    """
    hashed = table.withColumn("_hash", F.xxhash64(*key))
    suspects = hashed.groupBy("_hash").count().filter("count > 1").select("_hash")
    if suspects.isEmpty():
        return
    repeated = hashed.join(suspects, "_hash", "left_semi").groupBy(*key).count().filter("count > 1").count()
    if repeated:
        yield f"{name} has {repeated} keys ({', '.join(key)}) with more than one row"


def _unreferenced(
    table: tuple[str, DataFrame], other: tuple[str, DataFrame], columns: Sequence[str]
) -> Iterator[str]:
    lost = table[1].join(other[1], list(columns), "left_anti").count()
    if lost:
        yield f"{table[0]} has {lost} rows whose {', '.join(columns)} are not in {other[0]}"


def _differing(name: str, table: DataFrame, expected: DataFrame, of: str) -> Iterator[str]:
    """Compare what is equal by construction, in both directions: each side is computed once."""
    sides = (rows.withColumn("_side", F.lit(side)) for rows, side in ((table, 1), (expected, -1)))
    surplus = reduce(DataFrame.unionByName, sides).groupBy(*expected.columns).agg(F.sum("_side").alias("n"))
    differing = surplus.agg(F.sum(F.abs("n"))).collect()[0][0]
    if differing:
        yield f"{name} differs in {differing} rows from {of}"


def _small_groups(groups: DataFrame) -> Iterator[str]:
    small = groups.filter(F.col("people") < SMALLEST_GROUP).count()
    if small:
        yield f"fitness_by_group has {small} groups of fewer than {SMALLEST_GROUP} people"


def _unaccounted(
    name: str, delivered: DataFrame, silver: Sequence[DataFrame], quarantine: DataFrame
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
