"""Inputs that several samples share, and what comes out of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.acceptance.sample import Place

__all__ = ["CLICKS", "CUSTOMERS", "SCD1", "SCD2", "clicks", "customers"]

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


def customers(at: Callable[[Place], str]) -> Callable[[Place], None]:
    return lambda place: place.lines(f"{at(place)}/customers/part-0.json", CUSTOMERS)


CLICKS = "/databricks-datasets/wikipedia-datasets/data-001/clickstream/raw-uncompressed-json"


def clicks(place: Place) -> None:
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


SCD1 = [("1", "street 3"), ("3", "street 1")]
SCD2 = [
    ("1", "street 1", False), ("1", "street 2", False), ("1", "street 3", True), ("2", "street 1", False),
    ("3", "street 1", True),
]  # fmt: skip
