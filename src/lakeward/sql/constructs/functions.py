"""SQL functions that Spark lacks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lakeward.sql.commands import Rows, register_function
from lakeward.sql.construct import Construct, supported
from lakeward.sql.rewrite_result import Refusal
from lakeward.sql.token_cursor import TokenCursor, Unmatched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AREA = "Functions"
GROUPS_CONF = "spark.lakeward.groups"
GROUPS_VARIABLE = "LAKEWARD_GROUPS"
# Every user who can run a query on the platform is in these.
_DEFAULT_GROUPS = ("users", "account users")


def _groups(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Rows:
    """Return the user's groups, for is_member and is_account_group_member."""
    del positional, named
    configured = spark.conf.get(GROUPS_CONF, None) or os.environ.get(GROUPS_VARIABLE, "")
    names = [name.strip() for name in (configured or "").split(",") if name.strip()]
    return Rows("name STRING", [[name] for name in dict.fromkeys([*_DEFAULT_GROUPS, *names])])


register_function("groups", _groups)


def _python_function(cursor: TokenCursor) -> Refusal:
    cursor.need("CREATE")
    cursor.words("OR", "REPLACE")
    cursor.need("FUNCTION")
    while not cursor.words("LANGUAGE", "PYTHON"):
        if cursor.next is None:
            raise Unmatched
        cursor.at += 1
    return Refusal(
        "UNSUPPORTED_SQL",
        "CREATE FUNCTION … LANGUAGE PYTHON is not supported here. Use spark.udf.register in the session.",
        "0A000",
    )


CONSTRUCTS = (
    supported("current_user, session_user", _AREA, "SELECT current_user()", "the lakehouse's user: `$USER`"),
    Construct(
        name="is_member, is_account_group_member",
        area=_AREA,
        verdict="emulated",
        example="SELECT is_member('admins')",
        note="groups come from `spark.lakeward.groups` or LAKEWARD_GROUPS; every user is in `users`",
    ),
    Construct(
        name="secret, try_secret",
        area=_AREA,
        verdict="emulated",
        example="SELECT secret('scope', 'key')",
    ),
    Construct(
        name="CREATE FUNCTION c.s.f",
        area=_AREA,
        verdict="emulated",
        example="CREATE FUNCTION main.default.plus(x INT) RETURNS INT RETURN x + 1",
        note="scalar and table functions in SQL, stored with the schema",
    ),
    Construct(
        name="CREATE FUNCTION … LANGUAGE PYTHON",
        area=_AREA,
        verdict="unsupported",
        example="CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON AS $$ return x $$",
        note="use spark.udf.register in the session",
        starts=("CREATE",),
        statement=_python_function,
    ),
    Construct(
        name="DROP FUNCTION c.s.f",
        area=_AREA,
        verdict="emulated",
        example="DROP FUNCTION IF EXISTS main.default.plus",
    ),
    Construct(
        name="DESCRIBE FUNCTION c.s.f",
        area=_AREA,
        verdict="emulated",
        example="DESCRIBE FUNCTION main.default.plus",
    ),
)
