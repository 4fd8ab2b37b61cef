"""Objects and statements of Unity Catalog that a local lakehouse lacks: shares, connections, groups …"""

from __future__ import annotations

from lakeward.sql.construct import BEGINNING, Construct, Refusal, in_area, unsupported
from lakeward.sql.token_cursor import TokenCursor, Unmatched

_NO_SUCH_OBJECTS = "a local lakehouse has no such objects."
_NO_GROUPS = "the user's groups come from `spark.lakeward.groups` or LAKEWARD_GROUPS."
# What a statement begins with, and the reason.
_UNSUPPORTED = {
    **dict.fromkeys(("CREATE GROUP", "ALTER GROUP", "DROP GROUP"), _NO_GROUPS),
    "DENY": "Unity Catalog has GRANT and REVOKE alone.",
    "SYNC": "CREATE TABLE … DEEP CLONE copies a table into another catalog.",
    "REFRESH FOREIGN": _NO_SUCH_OBJECTS,
    "SHOW ARCHIVED FILES": "files of a local lakehouse are never archived: every query can read them.",
    **dict.fromkeys(
        (
            *("SHOW ALL IN SHARE", "SHOW RECIPIENTS", "SHOW PROVIDERS", "SHOW CONNECTIONS"),
            *("CREATE FOREIGN CATALOG", "VALIDATE STORAGE CREDENTIAL"),
        ),
        _NO_SUCH_OBJECTS,
    ),
}

_FOREIGN_KINDS = (
    *("CONNECTION", "PROVIDER", "RECIPIENT", "SHARE", "STORAGE CREDENTIAL"),
    *("CREDENTIAL", "SERVICE CREDENTIAL", "CLEAN ROOM", "EXTERNAL METADATA", "SERVER"),
)
_KIND_PATTERN = "|".join(_FOREIGN_KINDS).replace(" ", r"\s+")
_VERBS = ("CREATE", "ALTER", "DROP", "DESCRIBE", "DESC", "COMMENT ON")


def _refuse_foreign_object(cursor: TokenCursor) -> Refusal:
    verb = cursor.phrase(*_VERBS)
    if verb == "CREATE" and cursor.words("CATALOG"):
        cursor.words("IF", "NOT", "EXISTS")
        cursor.part()
        cursor.need("USING", "SHARE")
        return _not_here("CREATE CATALOG … USING SHARE")
    kind = cursor.phrase(*_FOREIGN_KINDS)
    if verb is None or kind is None or cursor.next is None:
        raise Unmatched
    return _not_here(f"{verb} {kind}")


def _grant_on_foreign_object(cursor: TokenCursor) -> Refusal:
    """Parse GRANT, REVOKE and SHOW GRANTS on an object that the platform alone has, or to a recipient."""
    verb = cursor.one_of("GRANT", "REVOKE", "SHOW")
    if verb == "SHOW" and not cursor.words("GRANTS"):
        cursor.need("GRANT")
    while cursor.next is not None:
        if cursor.words("TO", "RECIPIENT"):
            return _not_here(f"{verb} … TO RECIPIENT")
        kind = next((kind for kind in _FOREIGN_KINDS if cursor.words("ON", *kind.split())), None)
        if kind is not None and any(token.is_name for token in cursor.ahead(1)):
            return _not_here(f"{verb} … ON {kind}")
        cursor.at += 1
    raise Unmatched


def _not_here(statement: str) -> Refusal:
    return Refusal("UNSUPPORTED_SQL", f"{statement} is not supported here: {_NO_SUCH_OBJECTS}", "0A000")


CONSTRUCTS = in_area(
    "Governance",
    Construct(
        name="SHARE, RECIPIENT, PROVIDER, CONNECTION, CREDENTIAL",
        verdict="unsupported",
        example="CREATE SHARE s",
        note=f"{', '.join(_VERBS)}: {_NO_SUCH_OBJECTS}",
        starts=("CREATE", "ALTER", "DROP", "DESCRIBE", "DESC", "COMMENT"),
        statement=_refuse_foreign_object,
        # Spark reads a table and its column.
        trigger=BEGINNING + rf"desc(?:ribe)?\s+(?:{_KIND_PATTERN})\s+[\w`]",
    ),
    *(
        unsupported(
            words,
            example=words if words.startswith("SHOW") else f"{words} x",
            starts=words,
            reason=reason,
        )
        for words, reason in _UNSUPPORTED.items()
    ),
    Construct(
        name="GRANT, REVOKE, SHOW GRANTS ON STORAGE CREDENTIAL, SHARE …",
        verdict="unsupported",
        example="GRANT READ FILES ON STORAGE CREDENTIAL x TO u",
        note=_NO_SUCH_OBJECTS,
        starts=("GRANT", "REVOKE", "SHOW"),
        statement=_grant_on_foreign_object,
    ),
)
