"""Public pipelines that run here unchanged: which files, which input, and what must come out.

Inputs are made here, small enough for the expectations to be worked out by hand.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["SAMPLES", "Place", "Sample"]

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Place:
    """Where a sample runs: its catalog and schema, and how paths of the platform lead to folders."""

    catalog: str
    schema: str
    local: Callable[[str], Path]

    def volume(self, path: str) -> str:
        """A path in a volume of the sample's own schema."""
        return f"/Volumes/{self.catalog}/{self.schema}/{path}"

    def lines(self, path: str, rows: list[Mapping[str, Any]]) -> None:
        """Write rows as one JSON object a line."""
        file = self.local(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))


@dataclass(frozen=True)
class Sample:
    """One public pipeline. `expected`: a query over `{schema}` and its rows, sorted."""

    key: str
    repository: str
    sources: tuple[str, ...]
    features: tuple[str, ...]
    expected: Mapping[str, Rows]
    configuration: Callable[[Place], dict[str, str]] = field(default=lambda _: {})
    prepare: Callable[[Place], None] = field(default=lambda _: None)
    root: str | None = None


CUSTOMERS: list[Mapping[str, Any]] = [
    {
        "id": str(number) if number else None,
        "address": f"street {version}",
        "email": f"{number}@x",
        "firstname": f"first {number}",
        "lastname": f"last {number}",
        "operation": operation,
        "operation_date": f"2024-01-0{version} 00:00:00",
    }
    for number, version, operation in [
        *((1, 1, "APPEND"), (2, 1, "APPEND"), (3, 1, "APPEND"), (1, 3, "UPDATE"), (1, 2, "UPDATE")),
        *((2, 2, "DELETE"), (0, 1, "APPEND"), (3, 2, None)),
    ]
]
"""Late, deleted and invalid change events: 1 ends at version 3, 2 is gone, 3 keeps version 1."""


def _customers(at: Callable[[Place], str]) -> Callable[[Place], None]:
    return lambda place: place.lines(f"{at(place)}/customers/part-0.json", CUSTOMERS)


CLICKS = "/databricks-datasets/wikipedia-datasets/data-001/clickstream/raw-uncompressed-json"


def _clicks(place: Place) -> None:
    rows: list[Mapping[str, Any]] = [
        {
            "curr_id": "1",
            "curr_title": title,
            "n": str(n),
            "prev_id": "2",
            "prev_title": before,
            "type": "link",
        }
        for title, before, n in [
            ("Apache_Spark", "Hadoop", 5),
            ("Apache_Spark", "Scala", 7),
            ("Delta", "River", 2),
        ]
    ]
    place.lines(f"{CLICKS}/2015_2_clickstream.json", rows)


def _bookstore(place: Place) -> None:
    def event(topic: str, value: Mapping[str, Any], at: int) -> Mapping[str, Any]:
        encoded = {
            name: base64.b64encode(text.encode()).decode()
            for name, text in (("key", "k"), ("value", json.dumps(value)))
        }
        return {**encoded, "topic": topic, "partition": 0, "offset": at, "timestamp": 1_700_000_000_000 + at}

    def order(number: int, quantity: int) -> Mapping[str, Any]:
        books = [{"book_id": "B1", "quantity": quantity, "subtotal": quantity * 10}]
        ordered = {"order_id": f"O{number}", "order_timestamp": "2023-05-01T10:01:00", "customer_id": "C1"}
        return {**ordered, "quantity": quantity, "total": quantity * 10, "books": books}

    def book(price: float, updated: str) -> Mapping[str, Any]:
        return {"book_id": "B1", "title": "T", "author": "A", "price": price, "updated": updated}

    customer = {
        **{name: name for name in ("email", "first_name", "last_name", "gender", "street", "city")},
        "customer_id": "C1",
        "country_code": "FR",
        "row_status": "insert",
        "row_time": "2023-01-01T00:00:00",
    }
    base = place.volume("bookstore")
    place.lines(
        f"{base}/kafka-raw-etl/0.json",
        [
            event("orders", order(1, 2), 1),
            event("orders", order(2, 0), 2),
            event("books", book(8.0, "2023-01-01T00:00:00"), 3),
            event("books", book(10.0, "2023-02-01T00:00:00"), 4),
            event("customers", customer, 5),
        ],
    )
    place.lines(f"{base}/country_lookup/0.json", [{"code": "FR", "country": "France"}])


BOOKSTORE = "7 - ETL Pipelines/Bookstore Pro Pipeline/transformations"
DLT = "databricks/delta-live-tables-notebooks"
DEMOS = "databricks-demos/dbdemos-notebooks"
CDC_DEMO = "product_demos/Delta-Live-Table/declarative-pipeline-cdc"
TAXI = "databricks-tools-core/tests/integration/sdp/pipelines"
SCD1 = [("1", "street 3"), ("3", "street 1")]
SCD2 = [
    ("1", "street 1", False), ("1", "street 2", False), ("1", "street 3", True), ("2", "street 1", False),
    ("3", "street 1", True),
]  # fmt: skip

SAMPLES: tuple[Sample, ...] = (
    Sample(
        "13 retail CDC, Python",
        DLT,
        ("change-data-capture-example/notebooks/2-Retail_DLT_CDC_Python.py",),
        ("Python notebook", "Auto Loader JSON", "expectations on a view", "apply_changes SCD1"),
        {"SELECT id, address FROM {schema}.customer_silver": SCD1},
        lambda place: {"source": place.volume("cdc")},
        _customers(lambda place: place.volume("cdc")),
    ),
    Sample(
        "13 retail CDC, SQL",
        DLT,
        ("change-data-capture-example/notebooks/2-Retail_DLT_CDC_sql.sql",),
        ("SQL notebook", "STREAM read_files", "TEMPORARY STREAMING TABLE", "APPLY CHANGES INTO"),
        {"SELECT id, address FROM {schema}.customer_silver": SCD1},
        lambda place: {"source": place.volume("cdc")},
        _customers(lambda place: place.volume("cdc")),
    ),
    Sample(
        "2 CDC demo, SQL",
        DEMOS,
        (f"{CDC_DEMO}/1-sdp-sql/transformations/01-sql_cdc_pipeline.sql",),
        ("SQL file", "STREAM read_files", "${…}", "AUTO CDC SCD1 and SCD2"),
        {
            "SELECT id, address FROM {schema}.customers": SCD1,
            "SELECT id, address, __END_AT IS NULL FROM {schema}.SCD2_customers": SCD2,
        },
        lambda place: {"catalog": place.catalog, "schema": place.schema},
        _customers(lambda place: place.volume("raw_data")),
    ),
    Sample(
        "1 CDC demo, Python",
        DEMOS,
        (f"{CDC_DEMO}/2-sdp-python/transformations/01-full_python_pipeline.py",),
        ("Python file", "loop over dbutils.fs.ls", "AUTO CDC SCD1 and SCD2"),
        {"SELECT id, address FROM {schema}.customers": SCD1},
        lambda place: {"catalog": place.catalog, "schema": place.schema},
        _customers(lambda place: place.volume("raw_data")),
    ),
    Sample(
        "20 Wikipedia, Python",
        DLT,
        ("python/Wikipedia.py",),
        ("Python notebook", "dlt.read", "expect, expect_or_fail"),
        {
            "SELECT referrer, click_count FROM {schema}.top_spark_referrers": [("Hadoop", 5), ("Scala", 7)],
            "SELECT current_page_title, total_clicks FROM {schema}.top_pages": [
                ("Apache_Spark", 12),
                ("Delta", 2),
            ],
        },
        prepare=_clicks,
    ),
    Sample(
        "20 Wikipedia, SQL",
        DLT,
        ("sql/Wikipedia.sql",),
        ("SQL notebook", "json.`path`", "CONSTRAINT … FAIL UPDATE"),
        {"SELECT * FROM {schema}.top_pages": [("Apache_Spark", 12), ("Delta", 2)]},
        prepare=_clicks,
    ),
    Sample(
        "22 Bookstore",
        "derar-alhussein/Databricks-Certified-Data-Engineer-Professional",
        tuple(
            f"{BOOKSTORE}/{name}"
            for name in ("1_data_ingestion.py", "2_expectations.py", "3_auto_cdc.py", "4_auto_cdc.sql")
        ),
        ("Python and SQL", "multiplex bronze", "SCD1 and SCD2", "aliases in constraints", "LATERAL EXPLODE"),
        {
            "SELECT order_id FROM {schema}.orders_silver": [("O1",)],
            "SELECT order_id FROM {schema}.orders_quarantine": [("O2",)],
            "SELECT price, __END_AT IS NULL FROM {schema}.books_silver": [(8.0, False), (10.0, True)],
            "SELECT order_id, price FROM {schema}.books_sales": [("O1", 10.0)],
            "SELECT country, orders_count, books_count FROM {schema}.countries_stats": [("France", 1, 2)],
            "SELECT author, orders_count FROM {schema}.authors_stats": [("A", 1)],
        },
        lambda place: {"dataset_path": place.volume("bookstore")},
        _bookstore,
    ),
    Sample(
        "26 bundle template, Python",
        "databricks/bundle-examples",
        ("lakeflow_pipelines_python/src/lakeflow_pipelines_python_etl/transformations",),
        ("@dp.table over a batch", "samples.nyctaxi.trips"),
        {
            "SELECT count(*) = (SELECT count(*) FROM samples.nyctaxi.trips) "
            "FROM {schema}.sample_trips_lakeflow_pipelines_python": [(True,)]
        },
    ),
    Sample(
        "26 bundle template, SQL",
        "databricks/bundle-examples",
        ("lakeflow_pipelines_sql/src/lakeflow_pipelines_sql_etl/transformations",),
        ("SQL files without a semicolon", "samples.nyctaxi.trips"),
        {
            "SELECT count(*) = (SELECT count(DISTINCT pickup_zip) FROM samples.nyctaxi.trips) "
            "FROM {schema}.sample_zones_lakeflow_pipelines_sql": [(True,)]
        },
    ),
    Sample(
        "33 taxi trips",
        "databricks-solutions/ai-dev-kit",
        (f"{TAXI}/nyctaxi_bronze.sql", f"{TAXI}/nyctaxi_silver.sql"),
        ("STREAM of a sample table", "LIVE.", "TIMESTAMPDIFF"),
        {
            "SELECT count(*) = (SELECT count(*) FROM samples.nyctaxi.trips) FROM {schema}.silver_trips": [
                (True,)
            ],
        },
    ),
)
