"""A statement as Spark and Delta carry it out, past this front end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["by_delta"]


def by_delta(spark: SparkSession, text: str) -> Any:
    """The Dataset that Spark's own parser and Delta make of the statement. Raises what they raise."""
    jvm: Any = spark._jvm
    session: Any = spark._jsparkSession
    plan = session.sessionState().sqlParser().sparks().parsePlan(text)
    return jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, plan)
