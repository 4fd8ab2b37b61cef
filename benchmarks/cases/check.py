"""`lakeward check` on a repository of 300 files, against Python's own reading of the same files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.registry import Sides, case

PYTHON, SQL, NOTEBOOKS = 220, 50, 30
MODULE = '''"""Module {n}."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

CATALOG = "main"


class Orders{n}:
    """Reads, refines and writes."""

    def __init__(self, spark: SparkSession, schema: str) -> None:
        self.spark = spark
        self.schema = schema

    def read(self) -> DataFrame:
        return self.spark.read.table(f"{{CATALOG}}.{{self.schema}}.orders_{n}")

    def refine(self, orders: DataFrame) -> DataFrame:
        return orders.withColumn("day", F.to_date("at")).where("amount > 0").cache()

    def report(self):
        return self.spark.sql(f"""
            SELECT o.day, sum(o.amount) AS amount
              FROM {{CATALOG}}.{{self.schema}}.orders_{n} o
              JOIN {{CATALOG}}.{{self.schema}}.customers c ON o.customer = c.id
             GROUP BY ALL
        """)

    def write(self, orders: DataFrame) -> None:
        orders.write.mode("overwrite").saveAsTable(f"{{CATALOG}}.gold.orders_{n}")
'''
HELPER = '''

def helper_{k}(value: int, other: dict[str, int]) -> int:
    """What helpers do."""
    found = [each for each in range(value) if each % 2 == 0 and other.get(str(each), 0) > 1]
    if not found:
        raise ValueError(f"nothing of {{value}} in {{other}}")
    return sum(found) + max(found, default=0) * len(other)
'''
STATEMENTS = """\
CREATE OR REPLACE TABLE main.gold.daily_{n} AS
WITH days AS (SELECT to_date(at) AS day, amount FROM main.silver.orders_{n})
SELECT day, sum(amount) AS amount FROM days GROUP BY day;
OPTIMIZE main.gold.daily_{n};
"""
CELL = """\
# MAGIC %sql
# MAGIC SELECT * FROM main.gold.orders_{n}
# COMMAND ----------
display(df)
"""


def repository(folder: Path) -> None:
    """300 files: modules of some 120 lines, SQL, notebooks."""
    for n in range(PYTHON):
        helpers = "".join(HELPER.format(k=k) for k in range(10))
        (folder / f"module_{n}.py").write_text(MODULE.format(n=n) + helpers)
    for n in range(SQL):
        (folder / f"daily_{n}.sql").write_text(STATEMENTS.format(n=n) * 5)
    for n in range(NOTEBOOKS):
        (folder / f"notebook_{n}.py").write_text(f"# Databricks notebook source\n{CELL.format(n=n) * 5}")


@case("check.check_300")
@contextmanager
def check_300(folder: Path) -> Iterator[Sides]:
    """The whole command, start of Python included; the peer only parses the Python files, in one process."""
    repository(folder)
    names = [str(file) for file in sorted(folder.glob("*.py"))]
    parse = f"import ast\nfor name in {names!r}:\n    ast.parse(open(name, 'rb').read())\n"

    def ours() -> str:
        command = [sys.executable, "-m", "lakeward", "check", str(folder)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def peer() -> str:
        subprocess.run([sys.executable, "-c", parse], check=True)
        return ""

    def check(told: str) -> None:
        if told and "300 files will run" not in told:
            raise AssertionError(told[:500])

    yield Sides(ours, peer, check=check)
