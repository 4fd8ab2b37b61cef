"""Owners, tags, comments and grants, kept in a note beside the object that they are about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.sql.commands.place import Place, place, read_note, result, write_note
from lakeward.sql.commands.tables import require_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["comment_on", "grant", "revoke", "set_owner", "set_tags", "show_grants", "unset_tags"]

_PARTS = {"CATALOG": 1, "SCHEMA": 2}


def _note(spark: SparkSession, kind: str, name: Sequence[str]) -> tuple[Place, tuple[str, ...], Path]:
    """The note of an object that exists; raises SqlError or Spark's own error when it does not."""
    here = place(spark)
    full = here.full(name, _PARTS.get(kind, 3))
    if kind == "CATALOG":
        here.require_catalog(full[0])
    elif kind == "TABLE":
        require_table(spark, table=list(name))
    else:
        here.require_schema(*full[:2])
    return here, full, here.note(kind, full)


def _change(spark: SparkSession, kind: str, name: Sequence[str], **values: Any) -> dict[str, Any]:
    path = _note(spark, kind, name)[2]
    write_note(path, {**read_note(path), **values})
    return {}


def set_owner(spark: SparkSession, *, kind: str, name: list[str], owner: str) -> dict[str, Any]:
    """Another owner."""
    return _change(spark, kind, name, owner=owner)


def comment_on(spark: SparkSession, *, kind: str, name: list[str], comment: str | None) -> dict[str, Any]:
    """Another comment."""
    return _change(spark, kind, name, comment=comment)


def set_tags(
    spark: SparkSession, *, kind: str, name: list[str], column: str | None, tags: dict[str, str]
) -> dict[str, Any]:
    """Tags added to those that are there, on the object or on one of its columns."""
    return _tag(spark, kind, name, column, add=tags, remove=())


def unset_tags(
    spark: SparkSession, *, kind: str, name: list[str], column: str | None, tags: list[str]
) -> dict[str, Any]:
    """Tags taken away."""
    return _tag(spark, kind, name, column, add={}, remove=tags)


def _tag(
    spark: SparkSession,
    kind: str,
    name: list[str],
    column: str | None,
    *,
    add: dict[str, str],
    remove: Sequence[str],
) -> dict[str, Any]:
    path = _note(spark, kind, name)[2]
    about = read_note(path)
    key = "tags" if column is None else "column_tags"
    all_tags: dict[str, Any] = about.get(key, {})
    own = all_tags if column is None else all_tags.setdefault(column.lower(), {})
    own.update(add)
    for tag in remove:
        own.pop(tag, None)
    write_note(path, {**about, key: all_tags})
    return {}


def grant(
    spark: SparkSession, *, kind: str, name: list[str], privileges: list[str], principal: str
) -> dict[str, Any]:
    """Privileges added to what a principal has."""
    return _granted(spark, kind, name, principal, lambda had: sorted({*had, *privileges}))


def revoke(
    spark: SparkSession, *, kind: str, name: list[str], privileges: list[str], principal: str
) -> dict[str, Any]:
    """Privileges taken away; ALL PRIVILEGES takes all."""
    every = "ALL PRIVILEGES" in privileges
    return _granted(
        spark,
        kind,
        name,
        principal,
        lambda had: [] if every else [each for each in had if each not in privileges],
    )


def _granted(
    spark: SparkSession,
    kind: str,
    name: Sequence[str],
    principal: str,
    change: Callable[[list[str]], list[str]],
) -> dict[str, Any]:
    """Give a principal the privileges that `change` makes of those that it has."""
    path = _note(spark, kind, name)[2]
    about = read_note(path)
    grants = {**about.get("grants", {})}
    grants[principal] = change(grants.get(principal, []))
    write_note(path, {**about, "grants": {who: held for who, held in grants.items() if held}})
    return {}


def show_grants(spark: SparkSession, *, kind: str, name: list[str], principal: str | None) -> dict[str, Any]:
    """A row for each privilege on the object and on what holds it."""
    here, full, _ = _note(spark, kind, name)
    above = [("CATALOG", full[:1]), ("SCHEMA", full[:2])][: len(full) - 1]
    rows = []
    for one, of in (*above, (kind, full)):
        for who, privileges in sorted(read_note(here.note(one, of)).get("grants", {}).items()):
            if principal is None or who == principal:
                rows += [[who, privilege, one, ".".join(of)] for privilege in privileges]
    return result("Principal STRING, ActionType STRING, ObjectType STRING, ObjectKey STRING", rows)
