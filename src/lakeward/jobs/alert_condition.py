"""The state of an alert: a value of its query's result, compared with a threshold."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

OK, TRIGGERED, ALERT_ERROR, ALERT_UNKNOWN = "OK", "TRIGGERED", "ERROR", "UNKNOWN"
_NUMBERS = frozenset(("BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "DECIMAL"))
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "EQUAL": operator.eq,
    "NOT_EQUAL": operator.ne,
    "GREATER_THAN": operator.gt,
    "GREATER_THAN_OR_EQUAL": operator.ge,
    "LESS_THAN": operator.lt,
    "LESS_THAN_OR_EQUAL": operator.le,
}
_AGGREGATIONS: Mapping[str, Callable[[list[Any]], Any]] = {
    "SUM": sum,
    "AVG": statistics.mean,
    "MEDIAN": statistics.median,
    "MIN": min,
    "MAX": max,
    "STDDEV": statistics.stdev,
}
_OF_NUMBERS = frozenset(("SUM", "AVG", "MEDIAN", "STDDEV"))
Row = Sequence[str | None]


def alert_state(
    evaluation: Mapping[str, Any], columns: Sequence[Mapping[str, Any]], rows: Sequence[Row]
) -> str:
    """Return the state that the result of an alert's query gives.

    Args:
        evaluation: The condition, as `AlertV2Evaluation` of the API.
        columns: Name and type of the result's columns, as in the manifest of a statement.
        rows: Its values as text, None for NULL.
    """
    if not rows:
        return str(evaluation.get("empty_result_state") or ALERT_UNKNOWN)
    comparison = evaluation["comparison_operator"]
    try:
        value = _value(evaluation["source"], columns, rows)
        if comparison in ("IS_NULL", "IS_NOT_NULL"):
            return TRIGGERED if (value is None) == (comparison == "IS_NULL") else OK
        threshold = _threshold(evaluation.get("threshold") or {}, columns, rows)
        if value is None or threshold is None:
            return OK
        if type(value) is not type(threshold):
            value, threshold = _as_same(value, threshold)
        return TRIGGERED if _COMPARISONS[comparison](value, threshold) else OK
    except (KeyError, ValueError, TypeError, ArithmeticError):
        # No such column, or values that cannot be aggregated or compared.
        return ALERT_ERROR


def _value(source: Mapping[str, Any], columns: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> Any:
    """Return the value of the column: of the first row, or the aggregation of all rows."""
    names = [str(column["name"]).lower() for column in columns]
    at = names.index(str(source["name"]).lower())
    kind = str(columns[at].get("type_name") or "")
    aggregation = source.get("aggregation")
    if not aggregation:
        return _parsed(rows[0][at], kind)
    if aggregation in _OF_NUMBERS and kind not in _NUMBERS:
        raise TypeError(aggregation)
    values = [parsed for row in rows if (parsed := _parsed(row[at], kind)) is not None]
    if aggregation in ("COUNT", "COUNT_DISTINCT"):
        return Decimal(len(values if aggregation == "COUNT" else set(values)))
    if not values or (aggregation == "STDDEV" and len(values) < 2):
        return None
    return _AGGREGATIONS[aggregation](values)


def _threshold(given: Mapping[str, Any], columns: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> Any:
    if given.get("column"):
        return _value(given["column"], columns, rows)
    value = given.get("value") or {}
    if value.get("double_value") is not None:
        return Decimal(str(value["double_value"]))
    return value.get("bool_value", value.get("string_value"))


def _parsed(text: str | None, kind: str) -> Any:
    if text is None:
        return None
    if kind in _NUMBERS:
        return Decimal(text)
    return text == "true" if kind == "BOOLEAN" else text


def _as_same(value: object, threshold: object) -> tuple[Any, Any]:
    """Return a text as the type of the other value."""
    if isinstance(value, bool) or isinstance(threshold, bool):
        return str(value).lower(), str(threshold).lower()
    try:
        return Decimal(str(value)), Decimal(str(threshold))
    except InvalidOperation:
        return str(value), str(threshold)
