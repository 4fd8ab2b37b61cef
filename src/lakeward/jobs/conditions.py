"""`condition_task`: two values compared. Equality is of texts, order of numbers.

Source: https://docs.databricks.com/aws/en/jobs/if-else
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from operator import ge, gt, le, lt
from typing import Any

from lakeward.bundle import suggestion
from lakeward.errors import ConfigurationError, JobError

__all__ = ["compared", "require_condition"]

_ORDER: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "GREATER_THAN": gt,
    "GREATER_THAN_OR_EQUAL": ge,
    "LESS_THAN": lt,
    "LESS_THAN_OR_EQUAL": le,
}
_KNOWN = ("EQUAL_TO", "NOT_EQUAL", *_ORDER)


def require_condition(key: str, spec: Mapping[str, Any]) -> None:
    """Raise ConfigurationError(TASK_INVALID) for an operator that does not exist."""
    operator = str(spec.get("op") or "")
    if operator not in _KNOWN:
        message = f"The condition `{key}` compares by `{operator}`."
        raise ConfigurationError(
            "TASK_INVALID", message, next_step=suggestion(operator, _KNOWN, what="operators")
        )


def compared(key: str, spec: Mapping[str, Any]) -> bool:
    """Return what the condition says of its two sides.

    Raises JobError(CONDITION_INVALID) when the order of what is no number is asked for.

    >>> compared("c", {"op": "GREATER_THAN", "left": "10", "right": "9"})
    True
    """
    operator, left, right = str(spec.get("op")), str(spec.get("left", "")), str(spec.get("right", ""))
    if operator in ("EQUAL_TO", "NOT_EQUAL"):
        return (left == right) == (operator == "EQUAL_TO")
    try:
        return _ORDER[operator](Decimal(left), Decimal(right))
    except InvalidOperation:
        message = (
            f"The condition `{key}` asks for the order of `{left}` and `{right}`, which are not both numbers."
        )
        raise JobError("CONDITION_INVALID", message) from None
