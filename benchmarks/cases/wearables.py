"""The sample lakehouse of this repository: a day more, gold, erasure, and queries after maintenance."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.memory import peak_memory
from benchmarks.registry import Sides, case

USERS = int(os.environ.get("LAKEWARD_WEARABLES_USERS", "2000"))
DAYS = int(os.environ.get("LAKEWARD_WEARABLES_DAYS", "60"))
ERASURE_DAYS = int(os.environ.get("LAKEWARD_ERASURE_DAYS", "2"))
ERASED = 100
TOPICS, FILES, RECORDS = 8, 20, 2_000
_ROOT = Path(__file__).resolve().parents[2]
GOLD = ("workout_bpm_summary", "training_load", "user_bins", "fitness_by_group")


class Lakehouse:
    """The bundle's target dev in a folder, with generated deliveries."""

    def __init__(
        self,
        folder: Path,
        *,
        users: int,
        days: int,
        longest: int = 60,
        conf: Mapping[str, str] | None = None,
        **variables: str,
    ) -> None:
        from fixtures.generate import generate

        from lakeward.bundle import load
        from lakeward.session import Settings, session

        self.source = folder / "source"
        generate(self.source, users=users, days=days, seed=7, longest=longest)
        self.bundle = load(_ROOT, "dev", variables, user="ann", environ={})
        self.settings = Settings.here(folder / "lakehouse", environ={}, target="dev", conf=conf)
        self.spark = session(self.settings)
        self.schema = "dev.dev_ann_wearables"

    def run(self, key: str, *only: str, **parameters: str) -> None:
        """Run a job, or some of its tasks, which must succeed."""
        from lakeward import jobs

        options = jobs.RunOptions(parameters=parameters, only=list(only))
        done = jobs.run(self.bundle, key, settings=self.settings, options=options)
        ended = ("SUCCESS", "EXCLUDED")
        failed = [(task.task_key, task.error) for task in done.tasks if task.state not in ended]
        if failed:
            raise RuntimeError(f"{key}: {failed}")

    def next_days(self, days: int, *only: str) -> None:
        """Run the daily job, or some of its tasks, with the next days."""
        self.run("daily", *only, source=str(self.source), days=str(days))

    def update(self, **selection: Any) -> set[str]:
        """Run an update of the pipeline, which must succeed; return the names of its tables."""
        from lakeward import jobs
        from lakeward.jobs import PipelineSelection

        chosen = PipelineSelection(**selection)
        done = jobs.run_pipeline(self.bundle, "wearables", settings=self.settings, selection=chosen)
        if done.state != "COMPLETED":
            raise RuntimeError(done.error)
        return {each.name.rpartition(".")[2] for each in done.datasets if each.kind != "view"}


@case("wearables.daily_increment", goal=0.15)
@contextmanager
def daily_increment(folder: Path) -> Iterator[Sides]:
    """The daily job with the next day, against the job that computes all tables of all days again."""
    lakehouse = Lakehouse(folder, users=USERS, days=DAYS + 10)
    lakehouse.next_days(DAYS)
    yield Sides(lambda: lakehouse.next_days(1), lambda: lakehouse.run("backfill", confirmed="yes"))


@case("wearables.gold", goal=0.2)
@contextmanager
def gold(folder: Path) -> Iterator[Sides]:
    """The gold tables after a day more, about one percent of 60 days, against computing them again."""
    lakehouse = Lakehouse(folder, users=USERS, days=DAYS + 20)
    lakehouse.next_days(DAYS)
    upstream = sorted(lakehouse.update() - {*GOLD})

    def prepare() -> None:
        lakehouse.next_days(1, "land")
        lakehouse.update(refresh=upstream)

    def refresh() -> None:
        lakehouse.update(refresh=GOLD)

    def recompute() -> None:
        lakehouse.update(full_refresh=GOLD, refresh=GOLD)

    yield Sides(refresh, recompute, prepare=prepare)


@case("wearables.erasure", goal=0.5, warmups=0)
@contextmanager
def erasure(folder: Path) -> Iterator[Sides]:
    """Erasing 100 of all people, replaced files included, against writing all tables again.

    The peer copies every table into another schema.
    """
    from wearables.jobs.maintain import tables_of

    # Replaced files can be deleted at once.
    lakehouse = Lakehouse(folder, users=5 * USERS, days=ERASURE_DAYS, retention="0 seconds")
    lakehouse.next_days(ERASURE_DAYS)
    spark, schema = lakehouse.spark, lakehouse.schema
    # The first run of the job creates the tables of requests.
    lakehouse.run("erasure")
    spark.sql("CREATE SCHEMA IF NOT EXISTS dev.copied")

    def request() -> None:
        people = spark.table(f"{schema}.users").selectExpr(
            "concat('r', user_id) AS request_id", "user_id", "now() AS requested"
        )
        names = ", ".join(people.columns)
        people.orderBy("user_id").limit(ERASED).createOrReplaceTempView("wanted")
        spark.sql(f"INSERT INTO {schema}.erasure_requests ({names}) SELECT * FROM wanted")  # noqa: S608

    def ours() -> None:
        request()
        lakehouse.run("erasure")

    def rewritten() -> None:
        for name in tables_of(spark, schema):
            text = f"CREATE OR REPLACE TABLE dev.copied.`{name}` AS SELECT * FROM {schema}.`{name}`"  # noqa: S608
            spark.sql(text)

    yield Sides(ours, rewritten)


@case("wearables.point_query")
@contextmanager
def point_query(folder: Path) -> Iterator[Sides]:
    """Queries of one person on silver and gold after the maintenance job, against the versions before it.

    `<table>_files` and `<table>_files_before` are the files that Delta does not skip.
    """
    lakehouse = Lakehouse(folder, users=USERS // 4, days=DAYS // 4)
    spark, schema = lakehouse.spark, lakehouse.schema
    for _ in range(DAYS // 4):
        lakehouse.next_days(1)
    queries: Mapping[str, str] = {
        "heart_rate": "device_id = (SELECT min(device_id) FROM {schema}.registered_users)",
        "workout_bpm": "user_id = {user}",
        "workout_bpm_summary": "user_id = {user}",
        "training_load": "pseudonym = '{pseudonym}'",
    }
    row = spark.table(f"{schema}.user_keys").orderBy("user_id").first()
    assert row is not None
    found = {"user": row["user_id"], "pseudonym": row["pseudonym"], "schema": schema}

    def newest(name: str) -> int:
        return int(spark.sql(f"DESCRIBE HISTORY {schema}.{name} LIMIT 1").collect()[0]["version"])

    before = {name: newest(name) for name in queries}
    lakehouse.run("maintenance")

    def texts(suffix: Mapping[str, str]) -> dict[str, str]:
        return {
            name: f"SELECT * FROM {schema}.{name}{suffix[name]} WHERE {where.format(**found)}"  # noqa: S608
            for name, where in queries.items()
        }

    after = texts(dict.fromkeys(queries, ""))
    earlier = texts({name: f" VERSION AS OF {version}" for name, version in before.items()})

    def total(statements: Mapping[str, str]) -> int:
        return sum(len(spark.sql(text).collect()) for text in statements.values())

    rows: set[int] = set()

    def check(number: int) -> None:
        rows.add(number)
        assert len(rows) == 1, f"maintenance changed rows: {rows}"

    def figures() -> dict[str, float]:
        files = {f"{name}_files": len(spark.sql(text).inputFiles()) for name, text in after.items()}
        old = {f"{name}_files_before": len(spark.sql(text).inputFiles()) for name, text in earlier.items()}
        return {**files, **old}

    yield Sides(lambda: total(after), lambda: total(earlier), check=check, figures=figures)


_BRONZE = """
@dp.table(name={name!r})
def _():
    stream = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json")
    return stream.schema(RECORD).load({folder!r})
"""
_SILVER = """
@dp.materialized_view(name="silver_{number}")
def _():
    records = spark.read.table({bronze!r}).where("topic = 'topic_{number}'")
    value = F.from_json("value", "id BIGINT, at BIGINT, amount DOUBLE")
    return records.select(value.alias("v")).select("v.*")
"""
_HEAD = """from pyspark import pipelines as dp
from pyspark.sql import functions as F

RECORD = "topic STRING, partition INT, offset BIGINT, timestamp BIGINT, value STRING"
"""


@case("wearables.multiplex", warmups=0)
@contextmanager
def multiplex(folder: Path) -> Iterator[Sides]:
    """Eight topics through one bronze table, against a bronze table for each topic; with the same silver.

    Each round has new files and an empty lakehouse. `increment_*` are seconds of a second update, with one
    file more for each topic.
    """
    import time

    import lakeward.session as lw
    from lakeward import pipelines

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    turns = count()
    increments: dict[str, list[float]] = {"multiplex": [], "simplex": []}

    def deliver(place: Path, files: range) -> None:
        for topic in range(TOPICS):
            below = place / f"topic_{topic}"
            below.mkdir(parents=True, exist_ok=True)
            for number in files:
                (below / f"{number}.json").write_text("".join(_records(topic, number)))

    def update(kind: str) -> int:
        name = f"{kind}_{next(turns)}"
        place = folder / name
        place.mkdir()
        bronze = {topic: "bronze" if kind == "multiplex" else f"bronze_{topic}" for topic in range(TOPICS)}
        below = {"bronze": ""} if kind == "multiplex" else {f"bronze_{n}": f"/topic_{n}" for n in bronze}
        text = _HEAD
        text += "".join(
            _BRONZE.format(name=key, folder=f"file:{place}/landing{at}") for key, at in below.items()
        )
        text += "".join(_SILVER.format(number=topic, bronze=name) for topic, name in bronze.items())
        file = place / "topics.py"
        file.write_text(text)
        options = pipelines.UpdateOptions(name=name, schema=name, storage=place / "storage")
        lw.ensure_schema(spark, "main", name)
        for files in (range(FILES), range(FILES, FILES + 1)):
            deliver(place / "landing", files)
            began = time.perf_counter()
            done = pipelines.run([file], options, session=spark)
            if done.state != "COMPLETED":
                raise RuntimeError(done.error)
        increments[kind].append(time.perf_counter() - began)
        return sum(spark.table(f"main.{name}.silver_{topic}").count() for topic in range(TOPICS))

    def check(rows: int) -> None:
        assert rows == TOPICS * (FILES + 1) * RECORDS, rows

    with peak_memory() as memory:
        yield Sides(
            lambda: update("multiplex"),
            lambda: update("simplex"),
            check=check,
            figures=lambda: {
                **{f"increment_{kind}": median(seconds) for kind, seconds in increments.items()},
                **memory(),
            },
        )


def _records(topic: int, file: int) -> Iterator[str]:
    """Yield the lines of a file of Kafka records."""
    for number in range(RECORDS):
        value = json.dumps({"id": number, "at": 1_576_482_430 + number, "amount": number / 7})
        record = {"topic": f"topic_{topic}", "partition": 0, "offset": file * RECORDS + number}
        yield json.dumps({**record, "timestamp": 1_576_482_430_000 + number, "value": value}) + "\n"
