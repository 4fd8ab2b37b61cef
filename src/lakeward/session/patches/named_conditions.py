"""Conditions of errors that Spark and Delta raise without a name.

Spark numbers errors that have no name yet, as `_LEGACY_ERROR_TEMP_1123`. Some of them have one in the list of
Databricks (https://docs.databricks.com/aws/en/error-messages/error-classes), where users look up what to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

PREFIX = "_LEGACY_ERROR_TEMP_"


@dataclass(frozen=True)
class NamedCondition:
    """The name of the errors of a number whose text begins with `pattern`; `message` has its groups."""

    number: str
    pattern: str
    condition: str
    sql_state: str
    message: str


NAMED_CONDITIONS: tuple[NamedCondition, ...] = (
    NamedCondition(
        "0035",
        r"Operation not allowed: Clustering and partitioning cannot both be specified\.[^(\n]*",
        "SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY_IS_NOT_ALLOWED",
        "42908",
        "Cannot specify both CLUSTER BY and PARTITIONED BY.",
    ),
    NamedCondition(
        "1121",
        r"Table does not support truncates: (?P<table>.+?)\.?$",
        "UNSUPPORTED_FEATURE.TABLE_OPERATION",
        "0A000",
        "The feature is not supported: Table {table} does not support TRUNCATE TABLE. Use a Delta table.",
    ),
    NamedCondition(
        "1123",
        r"Cannot rename a table with ALTER VIEW\. Please use ALTER TABLE instead\.",
        "EXPECT_VIEW_NOT_TABLE.USE_ALTER_TABLE",
        "42809",
        "A table does not support ALTER VIEW … RENAME TO. Please use ALTER TABLE instead.",
    ),
    NamedCondition(
        "1165",
        r"It is not allowed to specify partitioning when the table schema is not defined\.",
        "SPECIFY_PARTITION_IS_NOT_ALLOWED",
        "42601",
        "A CREATE TABLE without explicit column list cannot specify PARTITIONED BY. Please use the form with "
        "explicit column list, or omit PARTITIONED BY.",
    ),
)


def with_name(converted: Any) -> Any:
    """Return the exception with the name of its condition, if the condition has a number and a name."""
    condition = converted.getCondition()
    if condition is None or not condition.startswith(PREFIX):
        return converted
    number = condition.removeprefix(PREFIX)
    shown = converted._desc.lstrip()
    for named in NAMED_CONDITIONS:
        match = re.match(named.pattern, shown) if named.number == number else None
        if match is not None:
            text = named.message.format(**match.groupdict())
            rest = shown[match.end() :]
            # A place in the statement follows the text, on the same line or on the next ones.
            gap = " " if rest.startswith("(") else ""
            converted._desc = f"[{named.condition}] {text} SQLSTATE: {named.sql_state}{gap}{rest}"
            base: Any = type(converted)
            converted.__class__ = _named_class(base)
            converted._named = named
            converted._parameters = match.groupdict()
            return converted
    return converted


@cache
def _named_class(base: Any) -> Any:
    """Return a class of exceptions with the condition of `_named`, that shows itself as `base`."""

    class Named(base):  # type: ignore[misc]  # the base is known at run time
        def getCondition(self) -> str:  # noqa: N802  # PySpark's name
            return str(self._named.condition)

        def getSqlState(self) -> str:  # noqa: N802  # PySpark's name
            return str(self._named.sql_state)

        def getMessageParameters(self) -> dict[str, str]:  # noqa: N802  # PySpark's name
            return dict(self._parameters)

        def getMessage(self) -> str:  # noqa: N802  # PySpark's name
            return str(self._desc)

    Named.__name__, Named.__qualname__, Named.__module__ = base.__name__, base.__qualname__, base.__module__
    return Named
