"""The SQL functions secret(), try_secret() and list_secrets(), backed by the stores of dbutils.secrets."""

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
    register_function("list_secrets", _list_secrets)
    register_function("stream_list_secrets", _list_secrets)
    register_function("secret", _secret)
    register_function("try_secret", _try_secret)


def _list_secrets(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Any:
    """Return the keys of one scope, or of all scopes.

    Source: https://docs.databricks.com/aws/en/sql/language-manual/functions/list_secrets
    """
    from lakeward.spark_internals import java_frame
    from lakeward.sql import wrong_argument_count

    given = [*positional, *named.values()]
    if len(given) > 1 or set(named) - {"scope"}:
        raise wrong_argument_count("`list_secrets`", "[0, 1]", len(given))
    secrets = dbutils().secrets
    scopes = given or [scope.name for scope in secrets.listScopes()]
    try:
        rows = [(scope, secret.key) for scope in scopes for secret in secrets.list(scope)]
    except JavaError as error:
        raise SqlError("SECRET_NOT_FOUND", str(error), sql_state="42704") from None
    return java_frame(spark.createDataFrame(rows, "scope STRING, key STRING"))


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
