"""The SQL functions secret() and try_secret(), backed by the stores of dbutils.secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakeward.dbutils.dbutils_object import dbutils
from lakeward.dbutils.failures import JavaError
from lakeward.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def install(spark: SparkSession) -> None:
    """Register the functions with the SQL parser. Cheap and idempotent."""
    # Deferred: code that only reads secrets needs no SQL.
    from lakeward.sql import register_function

    del spark
    register_function("secret", _secret)
    register_function("try_secret", _try_secret)


def _secret(_: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"rows": [[_value(positional, named)]]}
    except JavaError as error:
        raise SqlError("SECRET_NOT_FOUND", str(error), sql_state="42704") from None


def _try_secret(_: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"rows": [[_value(positional, named)]]}
    except JavaError:
        return {"rows": [[None]]}


def _value(positional: list[Any], named: dict[str, Any]) -> str:
    given = [*positional, *(named[name] for name in ("scope", "key") if name in named)]
    if len(given) != 2 or not all(isinstance(each, str) for each in given):
        raise SqlError(
            "NON_FOLDABLE_ARGUMENT",
            "The functions secret and try_secret take two constants: the scope and the key.",
            parameters={"funcName": "`secret`", "paramName": "`scope`, `key`", "paramType": '"STRING"'},
        )
    return dbutils().secrets.get(*given)
