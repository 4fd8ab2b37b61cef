"""Metric views: definitions of each version give the values of their measures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeward.session import ensure_schema
from lakeward.sql import rewrite

BASE = """
source: orders
dimensions:
  - name: region
    expr: region
measures:
  - name: total
    expr: SUM(amount)
"""
TOTALS = "SELECT region, MEASURE(total) AS v FROM kpis GROUP BY ALL ORDER BY region"
# The definition, a query of it, and its rows.
DEFINITIONS = {
    "version 0.1": (f"version: 0.1\n{BASE}", TOTALS, [("a", 2.0), ("b", 7.0)]),
    "version 1.1": (f"version: 1.1\n{BASE}", TOTALS, [("a", 2.0), ("b", 7.0)]),
    "no version": (BASE, TOTALS, [("a", 2.0), ("b", 7.0)]),
    "fields": (f"version: '1.1'\n{BASE.replace('dimensions', 'fields')}", TOTALS, [("a", 2.0), ("b", 7.0)]),
    "indented": (
        "\n".join(f"    {line}" for line in f"version: 1.1{BASE}".splitlines()),
        TOTALS,
        [("a", 2.0), ("b", 7.0)],
    ),
    "metadata": (
        """
version: 1.1
comment: "Totals; with a semicolon"
source: orders
filter: amount > 2
dimensions:
  - name: Order Region
    expr: region
    display_name: Region
    comment: "where it's from"
    synonyms: [area]
measures:
  - name: Total Amount
    expr: SUM(amount)
    format: {type: currency, currency_code: EUR}
materialization: {schedule: every 1 hour, mode: relaxed}
""",
        "SELECT `Order Region`, MEASURE(`Total Amount`) FROM kpis GROUP BY ALL",
        [("b", 7.0)],
    ),
    "query": (
        f"version: 1.1\n{BASE.replace('source: orders', 'source: SELECT * FROM orders WHERE id < 3')}",
        TOTALS,
        [("a", 2.0), ("b", 3.0)],
    ),
    "measures of measures": (
        BASE + '  - name: "of each"\n    expr: MEASURE(total) / MEASURE(`How many`)\n'
        "  - name: How many\n    expr: COUNT(*)\n",
        "SELECT MEASURE(`of each`) FROM kpis",
        [(3.0,)],
    ),
    "joins": (
        """
version: 1.1
source: orders
joins:
  - name: customer
    source: customers
    on: source.customer_id = customer.id
    joins:
      - name: nation
        source: SELECT * FROM nations
        on: customer.nation_id = nation.id
  - name: regions
    source: regions
    using: [region]
filter: nation.name IS NOT NULL OR source.id > 0
dimensions:
  - name: customer name
    expr: customer.name
  - name: nation
    expr: customer.nation.name
  - name: title
    expr: regions.title
measures:
  - name: total
    expr: SUM(source.amount)
""".replace("filter: nation.name", "filter: customer.nation.name"),
        "SELECT `customer name`, nation, title, MEASURE(total) FROM kpis GROUP BY ALL ORDER BY 4",
        [("Ada", "AT", "South", 2.0), ("Bob", None, "North", 3.0), (None, None, "North", 4.0)],
    ),
}
INVALID = {
    "version: 2.0\nsource: orders\n": "has version 2.0",
    "version: 1.1\nmeasures: []\n": "has no source",
    f"version: 1.1\nsources: x{BASE}": "sources",
    "version: 1.1\nsource: orders\nmeasures: [{name: a}]\n": "without name and expr",
    "version: 1.1\nsource: orders\nmeasures: [{name: a, expr: SUM(x), window: [{order: d}]}]\n": "window",
    "source: o\nmeasures: [{name: a, expr: MEASURE(b)}, {name: b, expr: MEASURE(a)}]\n": "a -> b",
    "version: 1.1\nsource: orders\njoins: [{name: a, source: b}]\n": "without on and using",
    "version: [": "is not valid YAML",
    "text": "is not a mapping",
}


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[None]:
    ensure_schema(spark, "main", "metric_views")
    spark.sql("USE main.metric_views")
    for name, rows in {
        "orders": "VALUES (1, 'a', 2.0D, 1), (2, 'b', 3.0D, 2), (3, 'b', 4.0D, 9) "
        "t(id, region, amount, customer_id)",
        "customers": "VALUES (1, 'Ada', 10), (2, 'Bob', 11) t(id, name, nation_id)",
        "nations": "VALUES (10, 'AT') t(id, name)",
        "regions": "VALUES ('a', 'South'), ('b', 'North') t(region, title)",
    }.items():
        spark.sql(f"CREATE TABLE {name} AS SELECT * FROM {rows}")
    yield
    spark.sql("USE main.default")
    spark.sql("DROP SCHEMA main.metric_views CASCADE")


@pytest.mark.usefixtures("schema")
def test_every_definition_gives_the_values_of_its_measures(spark: SparkSession) -> None:
    found = {}
    for name, (definition, query, _) in DEFINITIONS.items():
        spark.sql(f"CREATE OR REPLACE VIEW kpis WITH METRICS LANGUAGE YAML AS $$\n{definition}\n$$")
        found[name] = [tuple(row) for row in spark.sql(query).collect()]
    assert found == {name: rows for name, (_, _, rows) in DEFINITIONS.items()}


@pytest.mark.usefixtures("schema")
def test_a_view_with_a_comment_and_properties_is_changed_by_alter(spark: SparkSession) -> None:
    spark.sql(
        "create view main.metric_views.kpis comment 'of orders' with metrics language yaml "
        f"as $$\nversion: 1.1\n{BASE}\n$$"
    )
    spark.sql(f"ALTER VIEW main.metric_views.kpis AS $$\nversion: 1.1\n{BASE.replace('SUM', 'MAX')}\n$$")
    assert [tuple(row) for row in spark.sql(TOTALS).collect()] == [("a", 2.0), ("b", 4.0)]


@pytest.mark.parametrize(("definition", "reason"), INVALID.items())
def test_an_invalid_definition_names_what_is_wrong(spark: SparkSession, definition: str, reason: str) -> None:
    with pytest.raises(AnalysisException, match="INVALID_METRIC_VIEW_YAML") as error:
        spark.sql(f"CREATE VIEW never WITH METRICS LANGUAGE YAML AS $$\n{definition}\n$$")
    assert reason in str(error.value)


def test_other_views_are_left_to_spark() -> None:
    for text in ("CREATE VIEW v AS SELECT 'with metrics' AS a", "ALTER VIEW v AS SELECT 1"):
        assert rewrite(text) is None
