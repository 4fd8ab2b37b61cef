"""Who owns what and may do what: tags, owners, grants. Kept with the lakehouse and shown; not enforced."""

from __future__ import annotations

from typing import Any

from lakeward.sql.construct import Construct, refused
from lakeward.sql.cursor import Cursor, Unmatched
from lakeward.sql.outcome import Command, Outcome

__all__ = ["CONSTRUCTS"]

_AREA = "Governance"
_KINDS = ("CATALOG", "SCHEMA", "DATABASE", "TABLE", "VIEW", "MATERIALIZED VIEW", "VOLUME", "FUNCTION")
_PARTS = {"CATALOG": 1, "SCHEMA": 2}


def _kind(cursor: Cursor) -> str | None:
    for kind in _KINDS:
        if cursor.words(*kind.split()):
            return {"DATABASE": "SCHEMA", "VIEW": "TABLE", "MATERIALIZED VIEW": "TABLE"}.get(kind, kind)
    return None


def _securable(cursor: Cursor, *, needs_kind: bool = True) -> dict[str, Any]:
    kind = _kind(cursor)
    if kind is None and needs_kind:
        raise Unmatched
    kind = kind or "TABLE"
    return {"kind": kind, "name": cursor.name(_PARTS.get(kind, 3))}


def _pairs(cursor: Cursor, *, with_values: bool) -> dict[str, str]:
    cursor.need("(")
    found: dict[str, str] = {}
    while True:
        key = cursor.string()
        found[key] = cursor.string() if with_values and cursor.words("=") else ""
        if cursor.words(")"):
            return found
        cursor.need(",")


def _alter(cursor: Cursor) -> Outcome:
    cursor.need("ALTER")
    target = _securable(cursor)
    column = None
    if target["kind"] == "TABLE" and (cursor.words("ALTER", "COLUMN") or cursor.words("CHANGE", "COLUMN")):
        column = cursor.part()
    if cursor.words("SET", "TAGS"):
        tags = _pairs(cursor, with_values=True)
        cursor.end()
        return Command("set_tags", {**target, "column": column, "tags": tags})
    if cursor.words("UNSET", "TAGS"):
        names = list(_pairs(cursor, with_values=False))
        cursor.end()
        return Command("unset_tags", {**target, "column": column, "tags": names})
    if column is not None:
        raise Unmatched
    cursor.words("SET")
    cursor.need("OWNER", "TO")
    owner = _principal(cursor)
    cursor.end()
    return Command("set_owner", {**target, "owner": owner})


def _principal(cursor: Cursor) -> str:
    token = cursor.next
    return cursor.string() if token is not None and token.is_string else cursor.part()


def _set_tag(cursor: Cursor) -> Outcome:
    """SET TAG ON TABLE t key = value, UNSET TAG ON TABLE t key."""
    verb = cursor.one_of("SET", "UNSET")
    cursor.need("TAG", "ON")
    column = None
    if cursor.words("COLUMN"):
        *name, column = cursor.name(4)
        target: dict[str, Any] = {"kind": "TABLE", "name": name}
    else:
        target = _securable(cursor)
    key = _principal(cursor)
    value = _principal(cursor) if verb == "SET" and cursor.words("=") else ""
    cursor.end()
    if verb == "SET":
        return Command("set_tags", {**target, "column": column, "tags": {key: value}})
    return Command("unset_tags", {**target, "column": column, "tags": [key]})


def _privileges(cursor: Cursor) -> list[str]:
    found = []
    while True:
        words = []
        while (
            cursor.next is not None
            and cursor.next.word.replace("_", "").isalpha()
            and cursor.next.word != "ON"
        ):
            words.append(cursor.next.word)
            cursor.at += 1
        if not words:
            raise Unmatched
        found.append(" ".join(words))
        if not cursor.words(","):
            return found


def _grant(cursor: Cursor) -> Outcome:
    verb = cursor.one_of("GRANT", "REVOKE")
    privileges = _privileges(cursor)
    cursor.need("ON")
    target = _securable(cursor, needs_kind=False)
    cursor.need("TO" if verb == "GRANT" else "FROM")
    principal = _principal(cursor)
    cursor.end()
    return Command(verb.lower(), {**target, "privileges": privileges, "principal": principal})


def _show_grants(cursor: Cursor) -> Outcome:
    cursor.need("SHOW")
    cursor.one_of("GRANTS", "GRANT")
    principal = None if cursor.next is not None and cursor.next.word == "ON" else _principal(cursor)
    cursor.need("ON")
    target = _securable(cursor, needs_kind=False)
    cursor.end()
    return Command("show_grants", {**target, "principal": principal})


def _comment_on(cursor: Cursor) -> Outcome:
    cursor.need("COMMENT", "ON")
    kind = cursor.one_of("CATALOG", "VOLUME")
    name = cursor.name(_PARTS.get(kind, 3))
    cursor.need("IS")
    comment = None if cursor.words("NULL") else cursor.string()
    cursor.end()
    return Command("comment_on", {"kind": kind, "name": name, "comment": comment})


_NOT_ENFORCED = "kept and shown, never enforced: everybody who reads the folder reads the tables"
_NO_SUCH_THING = "there is nothing of the kind on one machine."

CONSTRUCTS = (
    Construct(
        "SET TAGS, UNSET TAGS, OWNER TO",
        _AREA,
        "added",
        "ALTER TABLE t SET TAGS ('pii' = 'yes')",
        "on catalogs, schemas, tables, columns, views and volumes",
        ("ALTER",),
        _alter,
    ),
    Construct("SET TAG ON", _AREA, "added", "SET TAG ON TABLE t pii = yes", "", ("SET", "UNSET"), _set_tag),
    Construct(
        "GRANT", _AREA, "added", "GRANT SELECT ON TABLE t TO `data team`", _NOT_ENFORCED, ("GRANT",), _grant
    ),
    Construct("REVOKE", _AREA, "added", "REVOKE SELECT ON TABLE t FROM `data team`", "", ("REVOKE",), _grant),
    Construct("SHOW GRANTS", _AREA, "added", "SHOW GRANTS ON TABLE t", "", ("SHOW",), _show_grants),
    Construct(
        "COMMENT ON CATALOG, VOLUME",
        _AREA,
        "added",
        "COMMENT ON CATALOG main IS 'all'",
        "",
        ("COMMENT",),
        _comment_on,
    ),
    *(
        refused(
            f"{verb} {thing}",
            _AREA,
            f"{verb} {thing}{' x' if verb != 'SHOW' else ''}",
            f"{verb} {thing}",
            _NO_SUCH_THING,
        )
        for verb, things in {
            "SHOW": (
                "SHARES",
                "RECIPIENTS",
                "PROVIDERS",
                "CONNECTIONS",
                "EXTERNAL LOCATIONS",
                "STORAGE CREDENTIALS",
            ),
            "CREATE": ("SHARE", "RECIPIENT", "CONNECTION", "EXTERNAL LOCATION", "STORAGE CREDENTIAL"),
        }.items()
        for thing in things
    ),
)
