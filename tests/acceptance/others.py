"""Samples of repositories that the specification does not name."""

from __future__ import annotations

from tests.acceptance.inputs import SCD1, SCD2, clicks, customers
from tests.acceptance.sample import Place, Sample

__all__ = ["OTHERS"]

TUTORIAL = "source/my-pipelines/ingestion/events/my-bundle/bundle_tutorial/src/transformations"
FAKE = "/Volumes/test_catalog/test_schema/test_volume/fake_source"
SALES = "/Volumes/lakeflow_demo/default/dataset/landing"


def _fake(place: Place) -> None:
    place.spark.sql("CREATE CATALOG IF NOT EXISTS test_catalog")
    for name, columns, rows in (
        ("users", "Person_Name,personal_email,nonsense_column", ("Ann,a@x,1", "Ann Lee,a@x,1")),
        ("products", "product_name,price,nonsense_column", ("tea,5,1", "tea,6,1")),
        ("orders", "product_name,price,nonsense_column", ("tea,5,1", "tea,6,1")),
    ):
        lines = [f"id,timestamp,{columns}", *(f"1,2024-01-0{n},{row}" for n, row in enumerate(rows, 1))]
        place.text(f"{FAKE}/fake_{name}/0.csv", "\n".join(lines) + "\n")


def _sales(place: Place) -> None:
    place.text(
        f"{SALES}/customers/0.csv",
        "customer_id,customer_name,city,state,district,postcode,street,lat,lon,unit,loyalty_segment,"
        "operation,source_timestamp\n1,Ann,Paris,P,D,1,S,1.5,2.5,3,0,INSERT,1\n",
    )
    place.text(
        f"{SALES}/loyalty_segments/0.csv",
        "loyalty_segment_id,loyalty_segment_description,unit_threshold,valid_from,valid_to\n"
        "0,gold,10,2020-01-01,2030-01-01\n",
    )
    product = {"product_id": "P1", "product_name": "tea", "product_category": "drinks", "sales_price": 2.5}
    place.lines(f"{SALES}/products/0.json", [{**product, "EAN13": 1, "EAN5": 2}])
    order = {
        "order_number": 1, "customer_id": 1, "customer_name": "Ann", "order_datetime": "2024-01-02T10:00:00",
        "number_of_line_items": 1, "product_id": "P1", "product_name": "tea", "unit_price": 2.5,
        "currency": "EUR", "unit": "box",
    }  # fmt: skip
    place.lines(f"{SALES}/sales_orders/0.json", [{**order, "quantity": 4}, {**order, "quantity": 0}])


ORDERS = [number for number in range(5000) if number % 211 and number % 137]
"""The orders that a public pipeline makes up and does not drop: numbers 0, 137, 211 … are bad ones."""

OTHERS: tuple[Sample, ...] = (
    Sample(
        "tutorial bundle with CDC",
        "Camilovelez1/Pipeline-with-CDC-tutorial",
        (TUTORIAL,),
        ("Python files of a glob", "append_flow", "expect_all_or_drop on a target", "AUTO CDC SCD1 and SCD2"),
        {
            "SELECT id, address FROM {schema}.customers": SCD1,
            "SELECT id, address, __END_AT IS NULL FROM {schema}.customers_history": SCD2,
            "SELECT id, address_count FROM {schema}.customers_history_agg": [("1", 3), ("2", 1), ("3", 1)],
        },
        prepare=customers(lambda _: "/Volumes/dbdemos/brz_landing/raw_data_cdc_tutorial"),
    ),
    Sample(
        "tables of three schemas",
        "MikolajSedek/lakeflow_declarative_pipelines_demo",
        ("02.simple_pipeline.py", "03.advanced_pipeline.py"),
        ("Python files run as __main__", "three-part names", "dlt.readStream", "_metadata.file_name",
         "AUTO CDC SCD1"),
        {
            "SELECT id, person_name, file_name FROM test_catalog.test_gold_schema.fake_users_clean": [
                ("1", "Ann Lee", "0.csv")
            ],
            "SELECT table_rows, unique_ids FROM test_catalog.test_gold_schema.summary_statistics_gold": [
                (1, 1),
                (1, 1),
                (1, 1),
            ],
        },
        prepare=_fake,
        stand_ins={
            "pydantic/__init__.py": "",
            "pydantic/dataclasses.py": "from dataclasses import dataclass",
        },
    ),
    Sample(
        "retail star schema, SQL",
        "Bureyz/lakeflow-retail-pipelines",
        ("Lakeflow_demo/SQL",),
        ("SQL files in folders", "_metadata columns", "APPLY CHANGES INTO", "stream joined with its targets",
         "read_files CSV and JSON"),
        {
            "SELECT customer_id, is_current FROM {schema}.dim_customer": [(1, True)],
            "SELECT customer_id, date_key, product_id, total_line_amount FROM {schema}.fact_sales": [
                (1, 20240102, "P1", 10.0)
            ],
            "SELECT loyalty_segment_description FROM {schema}.silver_sales": [("gold",)],
            "SELECT count(*) FROM {schema}.dim_date": [(3650,)],
        },
        prepare=_sales,
    ),
    Sample(
        "made-up orders of a starter bundle",
        "mughees3/databricks-dab-lakeflow-starter",
        ("src/pipeline/transformations",),
        ("materialized views of a glob", "three stacked expect_or_drop", "orderBy in a materialized view"),
        {
            "SELECT count(*), sum(quantity) FROM {schema}.silver_orders": [
                (len(ORDERS), sum(number % 5 + 1 for number in ORDERS))
            ],
            "SELECT sum(order_count) FROM {schema}.gold_daily_category_revenue": [(len(ORDERS),)],
        },
    ),
    Sample(
        "datasets of a loop",
        "dave90/delta-live-tables-examples",
        ("Notebooks/DLT Sample.py",),
        ("Python notebook", "dataset functions defined in a loop", "union of datasets"),
        {"SELECT count(*) FROM {schema}.clickstream_raw": [(3,)]},
        prepare=clicks,
    ),
)  # fmt: skip
