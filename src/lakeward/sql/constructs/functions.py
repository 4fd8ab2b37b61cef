"""SQL functions that Spark lacks."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakeward.session import users_schema
from lakeward.sql.construct import (
    BEGINNING,
    Command,
    Construct,
    Rows,
    in_area,
    register_function,
    supported,
    wrong_argument_count,
)
from lakeward.sql.session_context import run_with_delta
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STORED = re.compile(r"^(Function:\s+)spark_catalog\.(\w+)\.")
# As FunctionBodies.java stores calls.
_CALL = re.compile(r"lakeward_(?:table_)?call\('([^']*)'(?:, )?")
GROUPS_CONF = "spark.lakeward.groups"
GROUPS_VARIABLE = "LAKEWARD_GROUPS"
_RUNTIME_CONF = "spark.databricks.clusterUsageTags.sparkVersion"
# Every user who can run a query on the platform is in these.
_DEFAULT_GROUPS = ("users", "account users")
# As `global_metastore_id` of the local workspace.
GLOBAL_METASTORE_ID = "local:local:00000000-0000-0000-0000-000000000001"


def calls_as_written(text: str) -> str:
    """Return a function's body, or a default value, with the names of functions instead of stored calls.

    >>> calls_as_written("lakeward_call('`main`.`s`.`f`', x) + lakeward_call('`main`.`s`.`g`')")
    '`main`.`s`.`f`(x) + `main`.`s`.`g`()'
    """
    return _CALL.sub(r"\1(", text)


def configured_groups(spark: SparkSession) -> list[str]:
    """Return the user's groups by the setting or the variable."""
    configured = spark.conf.get(GROUPS_CONF, None) or os.environ.get(GROUPS_VARIABLE, "")
    return [name.strip() for name in (configured or "").split(",") if name.strip()]


def user_groups(spark: SparkSession) -> list[str]:
    """Return the user's groups, those of every user included."""
    return list(dict.fromkeys([*_DEFAULT_GROUPS, *configured_groups(spark)]))


def _groups(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Rows:
    """Return the user's groups, for is_member and is_account_group_member."""
    del positional, named
    return Rows("name STRING", [[name] for name in user_groups(spark)])


def _current_version(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Rows:
    """Return the fields of current_version(), a name and a value each.

    Outside of SQL warehouses the platform fills `dbr_version` and leaves `dbsql_version` NULL; the hashes are
    for its support. Serverless compute names a runtime with a suffix: DQX's tests expect `18.2.x-photon-…`.
    """
    from lakeward.session import DEFAULT_PROFILE

    _refuse_arguments("current_version", len(positional) + len(named))
    runtime = spark.conf.get(_RUNTIME_CONF, None)
    release = runtime.split(".x-")[0] if runtime else f"{DEFAULT_PROFILE}.x-photon-scala2.13"
    values = {"dbr_version": release, "dbsql_version": None, "u_build_hash": "", "r_build_hash": ""}
    return Rows("name STRING, value STRING", list(values.items()))


def _current_metastore(_: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Rows:
    """Return the id that the local workspace gives its metastore: cloud, region and a UUID."""
    _refuse_arguments("current_metastore", len(positional) + len(named))
    return Rows("value STRING", [[GLOBAL_METASTORE_ID]])


def _refuse_arguments(name: str, count: int) -> None:
    if count:
        raise wrong_argument_count(f"`{name}`", 0, count)


@dataclass(frozen=True)
class DescribeFunction(Command):
    """Runs Spark's DESCRIBE FUNCTION, and shows the user's names of functions instead of the stored ones."""

    text: str

    def run(self, spark: SparkSession) -> Rows:
        lines = [row[0] for row in run_with_delta(spark, self.text).collect()]
        named = [
            _STORED.sub(lambda found: f"{found[1]}{users_schema(spark, found[2])}.", each) for each in lines
        ]
        return Rows("function_desc STRING", [[calls_as_written(each)] for each in named])


def _describe_function(cursor: TokenCursor) -> DescribeFunction:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("FUNCTION")
    cursor.finish()
    return DescribeFunction(cursor.text(0))


register_function("groups", _groups)
register_function("current_version", _current_version)
register_function("current_metastore", _current_metastore)


CONSTRUCTS = in_area(
    "Functions",
    supported("current_user, session_user", "SELECT current_user()", "the lakehouse's user: `$USER`"),
    Construct(
        name="is_member, is_account_group_member",
        example="SELECT is_member('admins')",
        note="groups come from `spark.lakeward.groups` or LAKEWARD_GROUPS; every user is in `users`",
    ),
    Construct(
        name="current_version",
        example="SELECT current_version().dbr_version",
        note="`dbr_version` is the runtime; `dbsql_version` is NULL, and the hashes are empty",
    ),
    Construct(
        name="current_metastore",
        example="SELECT current_metastore()",
        note="the id that the local workspace gives its metastore, always the same",
    ),
    Construct(
        name="secret, try_secret",
        example="SELECT secret('scope', 'key')",
    ),
    Construct(
        name="CREATE FUNCTION c.s.f",
        example="CREATE FUNCTION main.default.plus(x INT) RETURNS INT RETURN x + 1",
        note="scalar and table functions in SQL, stored with the schema",
    ),
    Construct(
        name="DROP FUNCTION c.s.f",
        example="DROP FUNCTION IF EXISTS main.default.plus",
    ),
    Construct(
        name="DESCRIBE FUNCTION c.s.f",
        example="DESCRIBE FUNCTION main.default.plus",
        starts=("DESCRIBE", "DESC"),
        statement=_describe_function,
        trigger=BEGINNING + r"desc(?:ribe)?\s+function\b",
    ),
)
