"""Incremental refresh of materialized views against the recomputation of the same views.

The sources hold orders of 400 days in the order of days. A round appends or updates one percent, then both
sides update: ours with the policy INCREMENTAL, the peer with FULL, each with tables of its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from benchmarks.registry import Sides, case

ROWS = int(os.environ.get("LAKEWARD_MV_ROWS", "20000000"))
ORDERS = """SELECT id, id % 50000 AS customer,
date_add(DATE'2023-01-01', CAST(id * 400 / {rows} AS INT)) AS day,
CAST(id % 977 AS DECIMAL(10, 2)) AS amount, id % 7 AS kind FROM range({start}, {end})"""
JOINED = """SELECT o.day, c.segment, count(*) AS orders, sum(o.amount) AS total, max(o.amount) AS most
FROM {source}.orders o JOIN {source}.customers c ON o.customer = c.id GROUP BY o.day, c.segment"""
WINDOW = """SELECT id, day, amount, rank() OVER (PARTITION BY day, kind ORDER BY amount DESC) AS place
FROM {source}.orders WHERE kind = 1"""
CHAIN = {
    "valid": "SELECT id, customer, day, amount FROM {source}.orders WHERE amount > 100",
    "named": "SELECT v.*, c.segment FROM valid v JOIN {source}.customers c ON v.customer = c.id",
    "daily": "SELECT day, segment, sum(amount) AS total, count(*) AS n FROM named GROUP BY day, segment",
    "monthly": "SELECT trunc(day, 'MM') AS month, segment, sum(total) AS total FROM daily GROUP BY ALL",
}


@contextmanager
def _refreshes(
    folder: Path, queries: dict[str, str], change: str, *, deletion_vectors: bool = True
) -> Iterator[Sides]:
    import lakeward.session as lw
    from lakeward import pipelines

    spark = lw.session(lw.Settings.here(folder / "state", environ={}))
    rounds = count()
    for side in ("ours", "peer"):
        policy = "INCREMENTAL" if side == "ours" else "FULL"
        lw.ensure_schema(spark, "main", f"{side}_source")
        lw.ensure_schema(spark, "main", side)
        orders = ORDERS.format(rows=ROWS, start=0, end=ROWS)
        properties = f"TBLPROPERTIES ('delta.enableDeletionVectors' = '{str(deletion_vectors).lower()}')"
        spark.sql(f"CREATE TABLE main.{side}_source.orders {properties} AS {orders}")
        spark.sql(
            f"CREATE TABLE main.{side}_source.customers AS "  # noqa: S608  # fixed names
            "SELECT id, concat('s', id % 12) AS segment FROM range(50000)"
        )
        text = [
            f"CREATE MATERIALIZED VIEW {name} REFRESH POLICY {policy} AS "
            + query.format(source=f"main.{side}_source")
            for name, query in queries.items()
        ]
        (folder / f"{side}.sql").write_text(";\n".join(text) + ";\n")

    def prepare() -> None:
        # Called before each side: both tables change once per round.
        turn = next(rounds)
        if turn % 2:
            return
        number = turn // 2 + 1
        for side in ("ours", "peer"):
            table = f"main.{side}_source.orders"
            if change == "append":
                start = ROWS + (number - 1) * ROWS // 100
                rows = ORDERS.format(rows=ROWS, start=start, end=start + ROWS // 100)
                spark.sql(f"INSERT INTO {table} {rows}")
            else:
                day = f"date_add(DATE'2023-01-01', {390 - 4 * number})"
                days = f"day BETWEEN {day} AND date_add({day}, 3)"
                spark.sql(f"UPDATE {table} SET amount = amount + 1 WHERE {days}")  # noqa: S608  # fixed names

    def update(side: str) -> Any:
        done = pipelines.run(
            [folder / f"{side}.sql"],
            pipelines.UpdateOptions(name=side, schema=side, storage=folder / "storage" / side),
            session=spark,
        )
        if done.state != "COMPLETED":
            raise RuntimeError(done.error)
        return side

    def check(side: str) -> None:
        last, source = list(queries)[-1], f"main.{side}_source"
        if last != "totals":
            return
        query = queries[last].format(source=source)
        stored = spark.table(f"main.{side}.{last}")
        if stored.exceptAll(spark.sql(query)).limit(1).count():
            raise AssertionError(f"{last} differs from its query")

    update("ours")
    update("peer")
    yield Sides(lambda: update("ours"), lambda: update("peer"), prepare=prepare, check=check)


@case("mv.append_1_percent", goal=0.1)
@contextmanager
def append_1_percent(folder: Path) -> Iterator[Sides]:
    """Join and aggregate over 20 million rows, of which one percent is new."""
    with _refreshes(folder, {"totals": JOINED}, "append") as sides:
        yield sides


@case("mv.update_1_percent", goal=0.2)
@contextmanager
def update_1_percent(folder: Path) -> Iterator[Sides]:
    """The same view after an update of the orders of four days.

    The table has deletion vectors, as a new one on Databricks has.
    """
    with _refreshes(folder, {"totals": JOINED}, "update") as sides:
        yield sides


@case("mv.update_rewritten")
@contextmanager
def update_rewritten(folder: Path) -> Iterator[Sides]:
    """The same without deletion vectors: an update of one percent rewrites files of ten million rows."""
    with _refreshes(folder, {"totals": JOINED}, "update", deletion_vectors=False) as sides:
        yield sides


@case("mv.window", goal=0.2)
@contextmanager
def window(folder: Path) -> Iterator[Sides]:
    """Ranks per day, of which one percent is new."""
    with _refreshes(folder, {"ranks": WINDOW}, "append") as sides:
        yield sides


@case("mv.chain_of_4", goal=0.2)
@contextmanager
def chain_of_4(folder: Path) -> Iterator[Sides]:
    """Four views, each over the one before it, after an append of one percent."""
    with _refreshes(folder, CHAIN, "append") as sides:
        yield sides
