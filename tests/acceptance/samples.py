"""Public pipelines that run here unchanged, with small inputs whose results are worked out by hand."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from tests.acceptance.demos import LAKEHOUSE_DEMOS
from tests.acceptance.inputs import SCD1, SCD2, clicks, customers
from tests.acceptance.notebooks import NOTEBOOKS
from tests.acceptance.others import OTHERS
from tests.acceptance.sample import Place, Sample

__all__ = ["SAMPLES"]


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

SAMPLES: tuple[Sample, ...] = (
    Sample(
        "13 retail CDC, Python",
        DLT,
        ("change-data-capture-example/notebooks/2-Retail_DLT_CDC_Python.py",),
        ("Python notebook", "Auto Loader JSON", "expectations on a view", "apply_changes SCD1"),
        {"SELECT id, address FROM {schema}.customer_silver": SCD1},
        lambda place: {"source": place.volume("cdc")},
        customers(lambda place: place.volume("cdc")),
    ),
    Sample(
        "13 retail CDC, SQL",
        DLT,
        ("change-data-capture-example/notebooks/2-Retail_DLT_CDC_sql.sql",),
        ("SQL notebook", "STREAM read_files", "TEMPORARY STREAMING TABLE", "APPLY CHANGES INTO"),
        {"SELECT id, address FROM {schema}.customer_silver": SCD1},
        lambda place: {"source": place.volume("cdc")},
        customers(lambda place: place.volume("cdc")),
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
        customers(lambda place: place.volume("raw_data")),
    ),
    Sample(
        "1 CDC demo, Python",
        DEMOS,
        (f"{CDC_DEMO}/2-sdp-python/transformations/01-full_python_pipeline.py",),
        ("Python file", "loop over dbutils.fs.ls", "AUTO CDC SCD1 and SCD2"),
        {"SELECT id, address FROM {schema}.customers": SCD1},
        lambda place: {"catalog": place.catalog, "schema": place.schema},
        customers(lambda place: place.volume("raw_data")),
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
        prepare=clicks,
    ),
    Sample(
        "20 Wikipedia, SQL",
        DLT,
        ("sql/Wikipedia.sql",),
        ("SQL notebook", "json.`path`", "CONSTRAINT … FAIL UPDATE"),
        {"SELECT * FROM {schema}.top_pages": [("Apache_Spark", 12), ("Delta", 2)]},
        prepare=clicks,
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
        # It averages a literal, AVG("quantity"): an error in ANSI mode, a null in the runtimes of its time.
        lambda place: {"dataset_path": place.volume("bookstore"), "spark.sql.ansi.enabled": "false"},
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
    *LAKEHOUSE_DEMOS,
    *NOTEBOOKS,
    *OTHERS,
)
