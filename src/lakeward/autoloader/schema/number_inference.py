"""Types of the numbers that a JSON or XML text writes (AL-2.2). Pure functions."""

from __future__ import annotations

import re
from decimal import Decimal

from pyspark.sql.types import DataType, DecimalType, DoubleType

# Digits of every script, which Java reads as decimals but not as doubles.
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?(?P<exponent>\d+))?")
# No decimal type holds larger ones, and Python's Decimal has limits of its own.
_MOST_EXPONENT_DIGITS = 4


def is_double(text: str) -> bool:
    """Return whether a double holds the number in a text; `NaN` and the like are not numbers here."""
    return text.isascii() and _NUMBER.fullmatch(text) is not None


def number_in_text(text: str) -> Decimal | None:
    """Return the number in a text if a decimal type holds it, else None. As in Spark, commas group digits."""
    plain = text.replace(",", "")
    found = _NUMBER.fullmatch(plain)
    if found is None or len(found["exponent"] or "") > _MOST_EXPONENT_DIGITS:
        return None
    number = Decimal(plain)
    return number if isinstance(decimal_type(number), DecimalType) else None


def decimal_type(value: Decimal) -> DataType:
    """Return the type that holds the number as written; DOUBLE if it has too many digits."""
    scale = -int(value.as_tuple().exponent)
    precision = max(len(value.as_tuple().digits), scale)
    return DecimalType(precision, scale) if scale >= 0 and precision <= 38 else DoubleType()
