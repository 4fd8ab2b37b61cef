"""States of alerts: comparisons × types, aggregations × columns, missing values. No Spark."""

from __future__ import annotations

import operator
import statistics
from decimal import Decimal
from typing import Any

import pytest

from lakeward.jobs import ALERT_ERROR, ALERT_UNKNOWN, alert_state

OPERATORS = {
    "EQUAL": operator.eq,
    "NOT_EQUAL": operator.ne,
    "GREATER_THAN": operator.gt,
    "GREATER_THAN_OR_EQUAL": operator.ge,
    "LESS_THAN": operator.lt,
    "LESS_THAN_OR_EQUAL": operator.le,
}
# Text of a value and a threshold of each type: smaller, equal, larger.
SCALARS: dict[str, list[tuple[str, dict[str, Any], int]]] = {
    "INT": [
        ("9", {"double_value": 10}, -1),
        ("10", {"double_value": 10.0}, 0),
        ("11", {"double_value": 10}, 1),
    ],
    "DOUBLE": [("1.0E-5", {"double_value": 0.1}, -1), ("0.1", {"double_value": 0.1}, 0)],
    "DECIMAL": [("0.10", {"double_value": 0.1}, 0), ("0.11", {"string_value": "0.1"}, 1)],
    "STRING": [
        ("a", {"string_value": "b"}, -1),
        ("b", {"string_value": "b"}, 0),
        ("9", {"double_value": 10}, -1),
    ],
    "DATE": [("2026-01-02", {"string_value": "2026-01-10"}, -1)],
}


def state(
    operator: str,
    threshold: dict[str, Any],
    rows: list[list[str | None]],
    kind: str = "INT",
    **fields: Any,
) -> str:
    source = {"name": "N", "aggregation": fields.pop("aggregation", None)}
    given = {"source": source, "comparison_operator": operator, "threshold": threshold, **fields}
    return alert_state(
        given, [{"name": "other", "type_name": "STRING"}, {"name": "n", "type_name": kind}], rows
    )


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("kind", SCALARS)
def test_the_value_of_the_first_row_is_compared(operator: str, kind: str) -> None:
    for text, threshold, order in SCALARS[kind]:
        expected = "TRIGGERED" if OPERATORS[operator](order, 0) else "OK"
        assert state(operator, {"value": threshold}, [["x", text], ["y", None]], kind) == expected


@pytest.mark.parametrize(("text", "expected"), [("true", "TRIGGERED"), ("false", "OK"), (None, "OK")])
def test_booleans_are_compared(text: str | None, expected: str) -> None:
    assert state("EQUAL", {"value": {"bool_value": True}}, [["x", text]], "BOOLEAN") == expected


@pytest.mark.parametrize("operator", OPERATORS)
def test_null_triggers_no_comparison(operator: str) -> None:
    assert state(operator, {"value": {"double_value": 0}}, [["x", None]]) == "OK"
    assert state("IS_NULL", {}, [["x", None]]) == state("IS_NOT_NULL", {}, [["x", "1"]]) == "TRIGGERED"
    assert state("IS_NULL", {}, [["x", "1"]]) == state("IS_NOT_NULL", {}, [["x", None]]) == "OK"


NUMBERS = [Decimal(each) for each in ("1", "1", "4", "10")]
AGGREGATIONS = {
    "SUM": sum(NUMBERS),
    "AVG": statistics.mean(NUMBERS),
    "MEDIAN": Decimal("2.5"),
    "MIN": 1,
    "MAX": 10,
    "STDDEV": Decimal("18").sqrt(),
    "COUNT": 4,
    "COUNT_DISTINCT": 3,
}


@pytest.mark.parametrize("aggregation", AGGREGATIONS)
@pytest.mark.parametrize("kind", ["INT", "DECIMAL"])
def test_an_aggregation_is_of_all_rows_that_are_not_null(aggregation: str, kind: str) -> None:
    rows = [["x", str(each)] for each in NUMBERS] + [["x", None]]
    for comparison, offset in (("EQUAL", 0), ("GREATER_THAN", -1), ("LESS_THAN", 1)):
        threshold = {"value": {"string_value": str(AGGREGATIONS[aggregation] + offset)}}
        found = state(comparison, threshold, rows, kind, aggregation=aggregation)
        assert found == "TRIGGERED", comparison


@pytest.mark.parametrize("aggregation", ["SUM", "AVG", "MEDIAN", "STDDEV"])
@pytest.mark.parametrize(("kind", "texts"), [("STRING", "abc"), ("BOOLEAN", ("true", "true", "false"))])
def test_aggregations_of_numbers_refuse_other_types(aggregation: str, kind: str, texts: Any) -> None:
    rows = [["x", text] for text in texts]
    found = state("NOT_EQUAL", {"value": {"string_value": "1"}}, rows, kind, aggregation=aggregation)
    assert found == ALERT_ERROR


def test_a_threshold_may_be_another_column() -> None:
    column = {"column": {"name": "other", "aggregation": "COUNT"}}
    assert state("EQUAL", column, [["x", "2"], ["y", "5"]]) == "TRIGGERED"
    assert state("EQUAL", {"column": {"name": "missing"}}, [["x", "2"]]) == ALERT_ERROR


def test_no_rows_have_a_state_of_their_own() -> None:
    assert state("EQUAL", {"value": {"double_value": 0}}, [], aggregation="COUNT") == ALERT_UNKNOWN
    assert state("EQUAL", {}, [], empty_result_state="TRIGGERED") == "TRIGGERED"
