"""Catalogs and schemas: USE, SHOW, CREATE, DROP, DESCRIBE."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.sql.construct import BEGINNING, Construct, as_is
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Command, Edit, Outcome
from lakeward.sql.tokens import Token

__all__ = ["CONSTRUCTS"]

_AREA = "Catalogs and schemas"


def _use(cursor: Cursor) -> Outcome:
    cursor.need("USE", "CATALOG")
    name = _name_or_string(cursor)
    cursor.end()
    return Command("use_catalog", {"catalog": name})


def _name_or_string(cursor: Cursor) -> str:
    token = cursor.next
    return cursor.string() if token is not None and token.is_string else cursor.part()


def _show(cursor: Cursor) -> Outcome:
    cursor.need("SHOW", "CATALOGS")
    like = pattern(cursor)
    cursor.end()
    return Command("show_catalogs", {"like": like})


def pattern(cursor: Cursor) -> str | None:
    """[LIKE] 'pattern', if there is one."""
    if cursor.words("LIKE"):
        return cursor.string()
    token = cursor.next
    return cursor.string() if token is not None and token.is_string else None


def _create(cursor: Cursor) -> Outcome:
    cursor.need("CREATE")
    cursor.words("FOREIGN")
    cursor.need("CATALOG")
    if_not_exists = cursor.words("IF", "NOT", "EXISTS")
    name = cursor.part()
    comment = None
    while cursor.next is not None:
        if cursor.words("COMMENT"):
            comment = cursor.string()
        elif cursor.words("MANAGED", "LOCATION"):
            cursor.string()
        elif cursor.words("DEFAULT", "COLLATION"):
            cursor.part()
        else:
            raise Unmatched
    return Command("create_catalog", {"catalog": name, "if_not_exists": if_not_exists, "comment": comment})


def _drop(cursor: Cursor) -> Outcome:
    cursor.need("DROP", "CATALOG")
    if_exists = cursor.words("IF", "EXISTS")
    name = cursor.part()
    cascade = cursor.words("CASCADE")
    cursor.words("RESTRICT")
    cursor.end()
    return Command("drop_catalog", {"catalog": name, "if_exists": if_exists, "cascade": cascade})


def _describe(cursor: Cursor) -> Outcome:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("CATALOG")
    extended = cursor.words("EXTENDED")
    name = cursor.part()
    cursor.end()
    return Command("describe_catalog", {"catalog": name, "extended": extended})


def _managed_location(tokens: Sequence[Token]) -> list[Edit]:
    """Kept as a property: Spark's LOCATION would move the tables there."""
    if tokens[0].word != "CREATE":
        return []
    edits: list[Edit] = []
    for managed, location, path in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if (managed.word, location.word) == ("MANAGED", "LOCATION") and path.is_string:
            edits.append(Edit(managed.start, location.end, "WITH DBPROPERTIES ('managedLocation' ="))
            edits.append(Edit(path.end, path.end, ")"))
    return edits


CONSTRUCTS = (
    Construct("USE CATALOG", _AREA, "added", "USE CATALOG main", starts=("USE",), statement=_use),
    Construct(
        "SHOW CATALOGS",
        _AREA,
        "added",
        "SHOW CATALOGS LIKE 'ma*'",
        "those of the lakehouse, also when another process made them",
        ("SHOW",),
        _show,
        trigger=BEGINNING + r"show\s+catalogs\b",
    ),
    Construct(
        "CREATE CATALOG",
        _AREA,
        "added",
        "CREATE CATALOG IF NOT EXISTS dev COMMENT 'for developers'",
        "MANAGED LOCATION is read and not used: tables live in the state folder",
        ("CREATE",),
        _create,
    ),
    Construct(
        "DROP CATALOG",
        _AREA,
        "added",
        "DROP CATALOG IF EXISTS dev CASCADE",
        starts=("DROP",),
        statement=_drop,
    ),
    Construct(
        "DESCRIBE CATALOG",
        _AREA,
        "added",
        "DESCRIBE CATALOG main",
        starts=("DESCRIBE", "DESC"),
        statement=_describe,
        trigger=BEGINNING + r"desc(?:ribe)?\s+catalog\s+(?:extended\s+)?[\w`]",
    ),
    as_is("Three-part names", _AREA, "SELECT * FROM main.default.t"),
    as_is("USE SCHEMA, USE c.s", _AREA, "USE main.default"),
    as_is("CREATE SCHEMA", _AREA, "CREATE SCHEMA IF NOT EXISTS main.s COMMENT 'x'"),
    Construct(
        "CREATE SCHEMA … MANAGED LOCATION",
        _AREA,
        "rewritten",
        "CREATE SCHEMA main.s MANAGED LOCATION 's3://bucket/tables'",
        "kept as a property: tables live in the state folder",
        edits=_managed_location,
    ),
    as_is("DROP SCHEMA", _AREA, "DROP SCHEMA main.s CASCADE"),
    as_is("DESCRIBE SCHEMA", _AREA, "DESCRIBE SCHEMA EXTENDED main.s"),
    as_is("SHOW SCHEMAS", _AREA, "SHOW SCHEMAS IN main"),
    as_is("SHOW TABLES", _AREA, "SHOW TABLES IN main.default"),
    as_is("SHOW VIEWS", _AREA, "SHOW VIEWS IN main.default"),
)
