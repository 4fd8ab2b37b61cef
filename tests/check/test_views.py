"""Whether Databricks can refresh a materialized view incrementally: one finding per view, offline."""

from __future__ import annotations

import pytest

from tests.check.conftest import Look

SQL = [
    ("SELECT id, v FROM t WHERE d > current_date() - 7", []),
    ("SELECT g, count(*) FROM t GROUP BY g HAVING max(d) > current_date", []),
    ("SELECT * EXCEPT (a), row_number() OVER (PARTITION BY k ORDER BY d) AS r FROM t", []),
    ("WITH c AS (SELECT id FROM t) SELECT c.id FROM c JOIN (SELECT id FROM u) u ON c.id = u.id", []),
    ("SELECT extract(year FROM d) AS y, trim(BOTH ' ' FROM s) AS s, coalesce((a), b) FROM t", []),
    ("SELECT id FROM t LIMIT 10", ["LIMIT depends on all rows"]),
    ("SELECT id FROM t EXCEPT SELECT id FROM u", ["EXCEPT is not among"]),
    ("SELECT id FROM t TABLESAMPLE (10 PERCENT)", ["TABLESAMPLE draws"]),
    ("SELECT rank() OVER (ORDER BY d) AS r FROM t", ["without PARTITION BY"]),
    ("SELECT id, uuid() AS u FROM t", ["uuid() gives other values"]),
    ("SELECT id, current_timestamp() AS at FROM t", ["current_timestamp() outside of WHERE"]),
    ("SELECT id FROM t WHERE d > (SELECT max(d) FROM u)", ["a subquery in an expression"]),
    ("SELECT id FROM t WHERE id IN (SELECT id FROM u)", ["a subquery in an expression"]),
    ("SELECT n, count(*) FROM (SELECT g, count(*) AS n FROM t GROUP BY g) GROUP BY n", ["below another one"]),
    ("SELECT * FROM read_files('/Volumes/a/b/c')", ["read_files is not a Delta table"]),
    ("SELECT id, rand() AS r FROM t LIMIT 1", ["rand() gives", "LIMIT depends"]),
]


@pytest.mark.parametrize(("query", "reasons"), SQL)
def test_a_view_in_sql_names_what_prevents_it(look: Look, query: str, reasons: list[str]) -> None:
    text = f"CREATE OR REFRESH MATERIALIZED VIEW m (id INT COMMENT 'x') COMMENT 'a view' AS {query};"
    found = look({"views.sql": text}).one("materialized view m")
    assert found.verdict == ("differs" if reasons else "runs_with_lakeward"), found.cure
    assert all(reason.lower() in found.cure.lower() for reason in reasons), found.cure
    assert not reasons or "incremental-refresh" in found.cure


PYTHON = [
    ('spark.read.table("t").where(F.col("d") > F.current_date()).groupBy("g").count()', []),
    ('spark.table("t").withColumn("r", F.row_number().over(Window.partitionBy("k").orderBy("d")))', []),
    ('spark.table("t").limit(5)', [".limit() depends on all rows"]),
    ('spark.table("t").subtract(spark.table("u"))', [".subtract() is not among"]),
    ('spark.table("t").withColumn("at", F.current_timestamp())', ["current_timestamp() outside of WHERE"]),
    ('spark.table("t").withColumn("u", F.expr("1")).withColumn("i", F.rand())', ["rand() gives"]),
    ('spark.table("t").withColumn("r", F.rank().over(Window.orderBy("d")))', ["without PARTITION BY"]),
    ('spark.read.format("csv").load("/Volumes/a/b/c")', ["format csv is not a Delta table"]),
    ('spark.read.json("/Volumes/a/b/c")', ["spark.read.json is not a Delta table"]),
    ('spark.sql("SELECT id FROM t LIMIT 3")', ["LIMIT depends on all rows"]),
    ("helper(spark.table('t'))", [".sample() draws"]),
]
HEAD = """\
from pyspark import pipelines as dp
from pyspark.sql import Window, functions as F

def helper(rows):
    return rows.sample(0.1)

@dp.materialized_view(name="m")
def declared():
"""


@pytest.mark.parametrize(("body", "reasons"), PYTHON)
def test_a_view_in_python_names_what_prevents_it(look: Look, body: str, reasons: list[str]) -> None:
    found = look(f"{HEAD}    return {body}\n").one("materialized view m")
    assert found.verdict == ("differs" if reasons else "runs_with_lakeward"), found.cure
    assert all(reason in found.cure for reason in reasons), found.cure


def test_a_table_of_dlt_is_a_view_unless_it_reads_a_stream(look: Look) -> None:
    text = "import dlt\n@dlt.table\ndef {name}():\n    return {body}\n"
    found = look(text.format(name="v", body="dlt.read('a').limit(1)"))
    assert found.one("materialized view v").verdict == "differs"
    found = look(text.format(name="s", body="dlt.read_stream('a')"))
    assert not any(each.construct.startswith("materialized view") for each in found.report.findings)


def test_streaming_tables_and_plain_views_have_no_finding(look: Look) -> None:
    text = """
        CREATE OR REFRESH STREAMING TABLE s AS SELECT uuid() AS u FROM STREAM t;
        CREATE TEMPORARY VIEW v AS SELECT * FROM t LIMIT 1;
    """
    found = look({"views.sql": text})
    assert not any(each.construct.startswith("materialized view") for each in found.report.findings)
