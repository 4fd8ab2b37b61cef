"""Volumes: CREATE, DROP, DESCRIBE, SHOW and LIST."""

from __future__ import annotations

from lakeward.sql.construct import BEGINNING, Construct
from lakeward.sql.constructs.catalogs import pattern
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Command, Outcome

__all__ = ["CONSTRUCTS"]

_AREA = "Volumes"


def _create(cursor: Cursor) -> Outcome:
    cursor.need("CREATE")
    external = cursor.words("EXTERNAL")
    cursor.need("VOLUME")
    if_not_exists = cursor.words("IF", "NOT", "EXISTS")
    volume = cursor.name(3)
    location = comment = None
    while cursor.next is not None:
        if cursor.words("COMMENT"):
            comment = cursor.string()
        elif external and cursor.words("LOCATION"):
            location = cursor.string()
        else:
            raise Unmatched
    if external and location is None:
        raise Unmatched
    return Command(
        "create_volume",
        {"volume": volume, "if_not_exists": if_not_exists, "location": location, "comment": comment},
    )


def _drop(cursor: Cursor) -> Outcome:
    cursor.need("DROP", "VOLUME")
    if_exists = cursor.words("IF", "EXISTS")
    volume = cursor.name(3)
    cursor.end()
    return Command("drop_volume", {"volume": volume, "if_exists": if_exists})


def _describe(cursor: Cursor) -> Outcome:
    cursor.one_of("DESCRIBE", "DESC")
    cursor.need("VOLUME")
    volume = cursor.name(3)
    cursor.end()
    return Command("describe_volume", {"volume": volume})


def _show(cursor: Cursor) -> Outcome:
    cursor.need("SHOW", "VOLUMES")
    schema = cursor.name(2) if cursor.words("IN") or cursor.words("FROM") else None
    like = pattern(cursor)
    cursor.end()
    return Command("show_volumes", {"schema": schema, "like": like})


def _list(cursor: Cursor) -> Outcome:
    cursor.need("LIST")
    path = cursor.string()
    limit = cursor.integer() if cursor.words("LIMIT") else None
    cursor.end()
    return Command("list_files", {"path": path, "limit": limit})


CONSTRUCTS = (
    Construct(
        "CREATE VOLUME",
        _AREA,
        "added",
        "CREATE VOLUME IF NOT EXISTS main.default.landing COMMENT 'files'",
        "an EXTERNAL volume takes a folder of this machine",
        ("CREATE",),
        _create,
    ),
    Construct(
        "DROP VOLUME",
        _AREA,
        "added",
        "DROP VOLUME IF EXISTS main.default.landing",
        starts=("DROP",),
        statement=_drop,
    ),
    Construct(
        "DESCRIBE VOLUME",
        _AREA,
        "added",
        "DESCRIBE VOLUME main.default.landing",
        starts=("DESCRIBE", "DESC"),
        statement=_describe,
        trigger=BEGINNING + r"desc(?:ribe)?\s+volume\s+[\w`]",
    ),
    Construct(
        "SHOW VOLUMES",
        _AREA,
        "added",
        "SHOW VOLUMES IN main.default",
        starts=("SHOW",),
        statement=_show,
    ),
    Construct(
        "LIST",
        _AREA,
        "added",
        "LIST '/Volumes/main/default/landing' LIMIT 10",
        starts=("LIST",),
        statement=_list,
    ),
)
