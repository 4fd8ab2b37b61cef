"""Conditions of errors that Spark and Delta raise without a name.

Spark numbers errors that have no name yet, as `_LEGACY_ERROR_TEMP_1123`. Some of them have one in the list of
Databricks (https://docs.databricks.com/aws/en/error-messages/error-classes), where users look up what to do,
or in a later version of Spark. Numbers in neither list stay: the platform has them, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import wraps
from typing import Any

from lakeward.patching import PatchSpec, Wrapped

PREFIX = "_LEGACY_ERROR_TEMP_"
# The SQLSTATE of numbers: scripts need one, and Spark has none (`completeStates` in PythonSqlBridge.java).
_STATE = " SQLSTATE: 42000"
# Attribute of an exception with a named condition: what its methods return, by their names.
_ANSWERS = "_lakeward_answers"


@dataclass(frozen=True)
class NamedCondition:
    """The name of the errors of a number whose text begins with `pattern`; `message` has its groups.

    Errors of Java have no number: "".
    """

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
        "1012",
        r"Cannot write into v1 table: (?P<table>.+?)\.(?=;|\n|$)",
        "UNSUPPORTED_FEATURE.TABLE_OPERATION",
        "0A000",
        "The feature is not supported: Table {table} does not support REPLACE WHERE and DataFrameWriterV2. "
        "Use a Delta table, or INSERT OVERWRITE and DataFrameWriter.",
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
    # SPARK-58350
    NamedCondition(
        "1228",
        r"Decimal scale \((?P<scale>-?\d+)\) cannot be greater than precision \((?P<precision>-?\d+)\)\.",
        "DECIMAL_SCALE_EXCEEDS_PRECISION",
        "22003",
        "Decimal scale ({scale}) cannot be greater than precision ({precision}).",
    ),
    NamedCondition(
        "3058",
        r"Found duplicate column\(s\) in the partitioning: (?P<columns>[^;\n]+?)\.?(?=;|\n|$)",
        "DELTA_DUPLICATE_COLUMNS_FOUND",
        "42711",
        "Found duplicate column(s) in the partitioning: {columns}.",
    ),
    NamedCondition(
        "3060",
        r"Couldn't find column (?P<column>.+?) in:(?=\n|$)",
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        "42703",
        "Couldn't find column {column} in the schema.",
    ),
    # https://docs.databricks.com/aws/en/error-messages/invalid-line-separator-error-class
    NamedCondition(
        "",
        r"requirement failed: 'lineSep' cannot be an empty string\.",
        "INVALID_LINE_SEPARATOR.EMPTY",
        "22023",
        "Invalid line separator configuration. The 'lineSep' option cannot be an empty string.",
    ),
    NamedCondition(
        "",
        r"requirement failed: 'lineSep' can contain only 1 character\.",
        "INVALID_LINE_SEPARATOR.TOO_LONG",
        "22023",
        "Invalid line separator configuration. The 'lineSep' option can contain at most 2 characters.",
    ),
)


def with_name(converted: Any) -> Any:
    """Give the exception the name of its condition, if the condition has no name of its own; return it."""
    condition = converted.getCondition() or PREFIX
    if not condition.startswith(PREFIX) or not converted._desc:
        return converted
    number = condition.removeprefix(PREFIX)
    converted._desc = converted._desc.replace(_STATE, "", 1)
    shown = converted._desc.lstrip()
    for named in NAMED_CONDITIONS:
        match = re.match(named.pattern, shown) if named.number == number else None
        if match is not None:
            text = named.message.format(**match.groupdict())
            rest = shown[match.end() :]
            # A place in the statement follows the text, on the same line or on the next ones.
            gap = " " if rest.startswith("(") else ""
            converted._desc = f"[{named.condition}] {text} SQLSTATE: {named.sql_state}{gap}{rest}"
            vars(converted)[_ANSWERS] = {
                "getCondition": named.condition,
                "getSqlState": named.sql_state,
                "getMessageParameters": match.groupdict(),
            }
            return converted
    return converted


def named_answer(error: Any, method: str) -> Any:
    """Return what a method of an exception with a named condition returns; None for other exceptions."""
    return vars(error).get(_ANSWERS, {}).get(method)


def _by_name(before: Wrapped) -> Any:
    @wraps(before)
    def method(self: Any) -> Any:
        answer = named_answer(self, before.__name__)
        return before(self) if answer is None else answer

    return method


PATCHES = tuple(
    PatchSpec(
        "pyspark.errors.exceptions.captured:CapturedException",
        method,
        "session",
        "errors that have a number have the name of the platform's list",
        _by_name,
    )
    for method in ("getCondition", "getSqlState", "getMessageParameters")
)
