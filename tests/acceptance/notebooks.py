"""Samples of databricks/delta-live-tables-notebooks: snapshots of orders, and retail sales."""

from __future__ import annotations

from tests.acceptance.sample import Place, Sample

__all__ = ["NOTEBOOKS"]

REPOSITORY = "databricks/delta-live-tables-notebooks"
SNAPSHOTS = "apply-changes-from-snapshot-demo/src/notebooks"


def _orders(*rows: tuple[int, str]) -> str:
    values = ", ".join(f"({number}, '{status}')" for number, status in rows)
    return f"SELECT id order_id, id * 10 price, status order_status FROM VALUES {values} AS v(id, status)"


def _snapshot_table(place: Place) -> None:
    rows = place.spark.sql(_orders((1, "pending"), (2, "shipping")))
    rows.write.mode("overwrite").saveAsTable(f"{place.catalog}.{place.schema}.orders_snapshot")


def _snapshot_folders(place: Place) -> None:
    place.stored(place.volume("snapshots/2024-01-01 00"), _orders((1, "pending"), (2, "pending")))
    place.stored(place.volume("snapshots/2024-01-01 01"), _orders((1, "shipping"), (3, "pending")))


def _retail(place: Place) -> None:
    data = "/databricks-datasets/retail-org"
    place.text(
        f"{data}/customers/customers.csv",
        "customer_id,customer_name,state,city,lon,lat,units_purchased,loyalty_segment\n"
        "1,Ann,CA,Los Angeles,1,2,3,0\n2,Bob,IL,Chicago,1,2,3,0\n",
    )

    def order(number: int | None, customer: int, name: str, price: int) -> dict[str, object]:
        return {
            "customer_id": customer, "customer_name": name, "number_of_line_items": "1",
            "order_datetime": "1627776000", "order_number": number,
            "ordered_products": [{"curr": "USD", "price": price, "qty": 1}],
        }  # fmt: skip

    place.lines(
        f"{data}/sales_orders/0.json",
        [order(1, 1, "Ann", 10), order(2, 1, "Ann", 20), order(3, 2, "Bob", 5), order(None, 1, "Ann", 99)],
    )


NOTEBOOKS: tuple[Sample, ...] = (
    Sample(
        "15 orders from a snapshot table",
        REPOSITORY,
        (f"{SNAPSHOTS}/process_snapshot_pattern1.py",),
        ("Python notebook", "apply_changes_from_snapshot with a pair", "SCD1"),
        {"SELECT order_id, order_status FROM {schema}.orders": [(1, "pending"), (2, "shipping")]},
        lambda place: {
            "snapshot_source_catalog": place.catalog,
            "snapshot_source_database": place.schema,
        },
        _snapshot_table,
    ),
    Sample(
        "16 orders from snapshot folders",
        REPOSITORY,
        (f"{SNAPSHOTS}/process_snapshot_pattern2.py",),
        ("Python notebook", "apply_changes_from_snapshot with a function", "SCD2", "tracked columns"),
        {
            "SELECT order_id, order_status, __START_AT, __END_AT FROM {schema}.orders": [
                (1, "pending", "2024-01-01 00", "2024-01-01 01"),
                (1, "shipping", "2024-01-01 01", None),
                (2, "pending", "2024-01-01 00", "2024-01-01 01"),
                (3, "pending", "2024-01-01 01", None),
            ]
        },
        lambda place: {"snapshot_path": place.volume("snapshots")},
        _snapshot_folders,
    ),
    Sample(
        "18 retail sales, Python",
        REPOSITORY,
        ("python/Retail Sales.py",),
        ("Python notebook", "dlt.read_stream joined with dlt.read", "partition_cols",
         "streaming aggregation without watermark"),
        {
            "SELECT customer_name, currency, sales, quantity FROM {schema}.sales_order_in_la": [
                ("Ann", "USD", 30, 2)
            ],
            "SELECT customer_name, sales FROM {schema}.sales_order_in_chicago": [("Bob", 5)],
            "SELECT order_number, order_date FROM {schema}.sales_orders_cleaned": [
                (1, "2021-08-01"),
                (2, "2021-08-01"),
                (3, "2021-08-01"),
            ],
        },
        prepare=_retail,
    ),
)  # fmt: skip
