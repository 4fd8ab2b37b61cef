"""Spark's errors for users: condition and message, without query plan and stack trace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from lakeward.errors import SqlError
from lakeward.quoting import quote_name
from lakeward.seeds import missing_table, seed_hint
from lakeward.session import condense_error as without_plan_and_stack
from lakeward.session import is_lost, jvm_lost, message_of, schema_hint
from lakeward.suggestions import close_matches

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MISSING = ("TABLE_OR_VIEW_NOT_FOUND", "DELTA_TABLE_NOT_FOUND")
ADVICE = re.compile(
    r"\s*Verify the spelling and correctness of the schema and catalog\.\s*"
    r"(?:Search path: \[[^\]]*\]\.\s*)?"
    r"If you did not qualify the name with a schema, verify the current_schema\(\) output, or "
    r"qualify the name with the correct schema and catalog\.\s*"
    r"To tolerate the error on drop use DROP VIEW IF EXISTS or DROP TABLE IF EXISTS\.\s*"
)


def error_message(error: BaseException, spark: SparkSession) -> str | None:
    """Return what to print for an error of Spark or of a statement; None for other errors."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    if is_lost(error):
        return str(jvm_lost())
    if isinstance(error, SqlError):
        return str(error)
    if isinstance(error, Py4JJavaError):
        return condense_error(message_of(error))
    if not isinstance(error, PySparkException):
        return None
    text = condense_error(message_of(error))
    name = missing_table(text)
    if name:
        return f"{text}{similar_tables(name, spark)}"
    hint = schema_hint(text)
    return text if hint is None else f"{text}\n  → {hint}"


def condense_error(text: str) -> str:
    """Return the text in short, and without the advice that a suggestion replaces."""
    text = without_plan_and_stack(text)
    return ADVICE.sub(" ", text).strip() if text.startswith(tuple(f"[{c}" for c in MISSING)) else text


def similar_tables(name: list[str], spark: SparkSession) -> str:
    """Return the tables close to `name` in the schema that it names, else in the current one."""
    from pyspark.errors import PySparkException

    schema = quote_name(name[:-1])
    try:
        rows = spark.sql(f"SHOW TABLES IN {schema}" if schema else "SHOW TABLES").collect()
    except PySparkException:
        # The schema does not exist either: then there is nothing near in it.
        return hint_to_seed(name, spark)
    known = [row["tableName"] for row in rows]
    return did_you_mean_table(name[-1], known) + (
        "" if close_matches(name[-1], sorted(known)) else hint_to_seed(name, spark)
    )


def hint_to_seed(name: list[str], spark: SparkSession) -> str:
    """Return how a table of the workspace gets rows here, by its full name."""
    above = [spark.catalog.currentCatalog(), spark.catalog.currentDatabase()]
    return f"\n  → {seed_hint('.'.join([*above[: 3 - len(name)], *name]))}" if len(name) <= 3 else ""


def did_you_mean_table(name: str, known: Iterable[str]) -> str:
    tables = sorted(known)
    close = close_matches(name, tables)
    if close:
        return f"\n  → Did you mean {' or '.join(close)}?"
    if not tables:
        return "\n  → There are no tables in this schema yet."
    return f"\n  → There are: {', '.join(tables[:20])}{', …' if len(tables) > 20 else ''}."
