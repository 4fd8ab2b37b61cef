"""Functions that Spark lacks."""

from __future__ import annotations

from lakeward.sql.construct import Construct, as_is
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Outcome, Refusal

__all__ = ["CONSTRUCTS"]

_AREA = "Functions"


def _python(cursor: Cursor) -> Outcome:
    cursor.need("CREATE")
    cursor.words("OR", "REPLACE")
    cursor.need("FUNCTION")
    while not cursor.words("LANGUAGE", "PYTHON"):
        if cursor.next is None:
            raise Unmatched
        cursor.at += 1
    return Refusal(
        "UNSUPPORTED_SQL",
        "CREATE FUNCTION … LANGUAGE PYTHON is not supported here: spark.udf.register does it for a session.",
        "0A000",
    )


CONSTRUCTS = (
    as_is("current_user, session_user", _AREA, "SELECT current_user()", "the lakehouse's user: `$USER`"),
    Construct(
        "is_member, is_account_group_member",
        _AREA,
        "added",
        "SELECT is_member('admins')",
        "groups come from `spark.lakeward.groups` or LAKEWARD_GROUPS; everybody is in `users`",
    ),
    Construct("secret, try_secret", _AREA, "added", "SELECT secret('scope', 'key')"),
    Construct(
        "CREATE FUNCTION c.s.f",
        _AREA,
        "added",
        "CREATE FUNCTION main.default.plus(x INT) RETURNS INT RETURN x + 1",
        "functions of SQL, of values and of tables, kept with the schema",
    ),
    Construct(
        "CREATE FUNCTION … LANGUAGE PYTHON",
        _AREA,
        "refused",
        "CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON AS $$ return x $$",
        "spark.udf.register does it for a session",
        ("CREATE",),
        _python,
    ),
    Construct("DROP FUNCTION c.s.f", _AREA, "added", "DROP FUNCTION IF EXISTS main.default.plus"),
    Construct("DESCRIBE FUNCTION c.s.f", _AREA, "added", "DESCRIBE FUNCTION main.default.plus"),
)
