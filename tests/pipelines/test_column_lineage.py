"""Column lineage, compared with sqlglot's; operators and lineage in the event log of an update."""

from __future__ import annotations

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from sqlglot import exp
from sqlglot.lineage import lineage

from lakeward.pipelines.execution.flow_execution import FlowExecution
from lakeward.pipelines.graph.query_plans import OperatorTimes, column_lineage
from lakeward.report import build_report
from lakeward.session import temporary_conf
from tests.pipelines.conftest import Lab

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {
    "a": {"id": "INT", "x": "STRING", "amount": "DOUBLE", "items": "ARRAY<STRING>"},
    "b": {"id": "INT", "y": "STRING"},
}
# Queries that sqlglot resolves, too.
COMPARED = (
    "SELECT * FROM {a}",
    "SELECT id AS key, upper(x) AS u, 1 AS one FROM {a} WHERE amount > 3",
    "SELECT l.id, concat(l.x, r.y) AS c FROM {a} AS l JOIN {b} AS r ON l.id = r.id",
    "SELECT x, sum(amount) AS s, count(*) AS n FROM {a} GROUP BY x HAVING max(id) > 1",
    "WITH c AS (SELECT id, amount * 2 AS d FROM {a}) SELECT id, sum(d) AS s FROM c GROUP BY id",
    "SELECT id, x AS t FROM {a} UNION ALL SELECT id, y FROM {b}",
    "SELECT id, row_number() OVER (PARTITION BY x ORDER BY amount) AS r FROM {a}",
    "SELECT id, CASE WHEN x = 'k' THEN amount ELSE 0 END AS v FROM (SELECT * FROM {a}) AS s",
    "SELECT id, x FROM {a} WHERE id IN (SELECT id FROM {b})",
    "SELECT l.id, r.x FROM {a} AS l JOIN {a} AS r ON l.id = r.id",
)
# Others, with the sources of the last column.
STATED: tuple[tuple[str, set[str]], ...] = (
    ("SELECT id, (SELECT max(y) FROM {b}) AS m FROM {a}", {"b.y"}),
    ("SELECT id, e FROM {a} LATERAL VIEW explode(items) AS e", {"a.items"}),
    ("SELECT l.id, z.y FROM {a} AS l, LATERAL (SELECT y FROM {b} AS r WHERE r.id = l.id) AS z", {"b.y"}),
    ("SELECT id, x, sum(amount) AS s FROM {a} GROUP BY ROLLUP (id, x)", {"a.amount"}),
    ("SELECT sum(amount), x FROM {a} GROUP BY ROLLUP (x)", {"a.x"}),
    ("SELECT id FROM {a} EXCEPT SELECT id FROM {b}", {"a.id"}),
    ("SELECT * FROM (SELECT x, amount FROM {a}) PIVOT (sum(amount) FOR x IN ('p'))", {"a.x", "a.amount"}),
    ("SELECT id, value FROM {a} UNPIVOT (value FOR name IN (amount))", {"a.amount"}),
    ("SELECT current_date() AS d", set()),
    ("SELECT id AS d FROM range(3)", set()),
)


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    spark.sql("CREATE SCHEMA main.lineage")
    for name, columns in TABLES.items():
        spark.sql(f"CREATE TABLE main.lineage.{name} ({', '.join(map(' '.join, columns.items()))})")
    yield "main.lineage"
    spark.sql("DROP SCHEMA main.lineage CASCADE")


def found_in(spark: SparkSession, query: str, schema: str) -> dict[str, set[str]]:
    sources = column_lineage(spark.sql(query.format(a=f"{schema}.a", b=f"{schema}.b")))
    assert all(table.startswith(f"{schema}.") for each in sources.values() for table, _ in each)
    return {
        column: {f"{table.removeprefix(f'{schema}.')}.{name}" for table, name in each}
        for column, each in sources.items()
    }


def by_sqlglot(column: str, query: str) -> set[str]:
    nodes: Any = lineage(column, query.format(a="a", b="b"), schema=TABLES, dialect="databricks").walk()
    return {
        f"{node.expression.name}.{node.name.rpartition('.')[2]}"
        for node in nodes
        if isinstance(node.expression, exp.Table)
    }


def test_the_sources_of_each_column_are_those_that_sqlglot_finds(spark: SparkSession, schema: str) -> None:
    found = {query: found_in(spark, query, schema) for query in COMPARED}
    assert found == {
        query: {column: by_sqlglot(column, query) for column in columns} for query, columns in found.items()
    }


def test_the_sources_of_the_last_column(spark: SparkSession, schema: str) -> None:
    found = {query: list(found_in(spark, query, schema).values())[-1] for query, _ in STATED}
    assert found == dict(STATED)


def test_a_stream_through_a_view_and_a_function_of_rows(spark: SparkSession, schema: str) -> None:
    spark.readStream.table(f"{schema}.a").selectExpr("id", "x || 's' AS t").createOrReplaceTempView("lined")
    assert column_lineage(spark.sql("SELECT t AS u FROM STREAM(lined)")) == {"u": [(f"{schema}.a", "x")]}
    rows = spark.table(f"{schema}.b").mapInPandas(lambda frames: frames, "v INT")
    assert column_lineage(rows) == {"v": [(f"{schema}.b", "id"), (f"{schema}.b", "y")]}
    spark.catalog.dropTempView("lined")


def test_an_update_reports_lineage_and_slow_operators_without_literals(lab: Lab) -> None:
    lab.seed("raw", "SELECT id, 'canary-' || id AS name FROM range(2000)")
    lab.file("a.py", """
        import dlt
        from pyspark.sql import functions as F
        @dlt.table
        def silver(): return spark.readStream.table("SRC.raw").where("name <> 'canary-7'")
        @dlt.view
        def named(): return spark.table("silver").withColumn("label", F.upper("name"))
        @dlt.table
        def gold(): return spark.sql("SELECT label, count(id) AS n FROM named GROUP BY label ORDER BY label")
    """)  # fmt: skip
    lab.done()
    report = build_report("p", lab.storage)
    assert report is not None
    lines = {each["name"].rpartition(".")[2]: each["flows"][0]["lineage"] for each in report["datasets"]}
    silver = f"main.{lab.schema}.silver"
    assert lines["silver"]["columns"] == {"id": [(0, "id")], "name": [(0, "name")]}
    assert lines["gold"] == {"tables": [silver], "columns": {"label": [(0, "name")], "n": [(0, "id")]}}
    operators = report["operators"]
    assert {each["dataset"].rpartition(".")[2] for each in operators} == {"silver", "gold"}
    times = [each["milliseconds"] for each in operators]
    assert times == sorted(times, reverse=True)
    assert min(times) > 0
    assert any("Aggregate" in each["operator"] and each["dataset"].endswith("gold") for each in operators)
    (event,) = [each for each in lab.log() if each["event_type"] == "operator_metrics"]
    assert "canary" not in json.dumps(json.loads(event["details"]))
    assert lab.spark.sparkContext.getLocalProperty("spark.job.tags") is None


def test_an_interrupted_update_leaves_no_tags(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    lab.file("a.sql", "CREATE MATERIALIZED VIEW a AS SELECT 1 AS one")
    monkeypatch.setattr(FlowExecution, "run", interrupted)
    assert lab.run().state == "CANCELED"
    assert lab.spark.sparkContext.getLocalProperty("spark.job.tags") is None


def test_figures_of_operators_in_generated_code_are_counted(spark: SparkSession) -> None:
    """Without code generation, as in the quick lane, every operator has its figures itself."""
    times = OperatorTimes(spark, "generated")
    with temporary_conf(spark, {"spark.sql.codegen.wholeStage": "true"}):
        times.enter(("main", "s", "sorted"))
        rows = spark.range(200_000).repartition(1).sortWithinPartitions("id")
        rows.write.format("noop").mode("overwrite").save()
        times.leave()
    (sort,) = [each for each in times.slowest() if each["operator"] == "Sort"]
    assert (sort["dataset"], sort["spilled_bytes"]) == ("main.s.sorted", 0)


class Lost:
    """A session whose JVM answers nothing any more."""

    @property
    def sparkContext(self) -> Any:  # noqa: N802  # PySpark's name
        return self

    def getLocalProperty(self, _: str) -> None:  # noqa: N802  # PySpark's name
        return None

    def setLocalProperty(self, *_: str) -> None:  # noqa: N802  # PySpark's name
        raise RuntimeError("lost")

    @property
    def _jvm(self) -> Any:
        raise RuntimeError("lost")


def test_metrics_and_lineage_that_cannot_be_read_fail_nothing(caplog: pytest.LogCaptureFixture) -> None:
    lost: Any = Lost()
    assert OperatorTimes(lost, "u").slowest() == []
    assert column_lineage(cast("Any", SimpleNamespace(sparkSession=lost))) == {}
    assert [each.levelname for each in caplog.records] == ["WARNING", "WARNING"]
