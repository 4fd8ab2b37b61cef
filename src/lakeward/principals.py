"""The users and groups of a workspace, as the database of its server has them.

The server writes them (SCIM); SQL reads them, also while no server runs.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SERVER_FOLDER, DATABASE = "server", "workspace.db"
USERS, GROUPS, SERVICE_PRINCIPALS = "scim_users", "scim_groups", "scim_serviceprincipals"
"""Kinds of the documents."""
BUILT_IN_GROUPS = ("users", "admins")
"""`users` has all users and service principals as members, `admins` has the owner of the lakehouse."""


@dataclass(frozen=True)
class Principals:
    """Users and service principals by name, and the names of the direct members of each group."""

    users: tuple[str, ...]
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def memberships(self, name: str) -> dict[str, bool]:
        """Return the groups that a principal is in, and whether it is a direct member.

        >>> Principals(("ada",), {"a": frozenset({"ada"}), "b": frozenset({"a"})}).memberships("ADA")
        {'a': True, 'b': False}
        """
        found: dict[str, bool] = {}
        searched, direct = [name.lower()], True
        while searched:
            inside = [
                group
                for group, members in self.groups.items()
                if group not in found and any(member.lower() in searched for member in members)
            ]
            found.update(dict.fromkeys(inside, direct))
            searched, direct = [group.lower() for group in inside], False
        return found


def read_principals(state: Path, owner: str, groups_of_owner: Iterable[str] = ()) -> Principals:
    """Return the principals of a target.

    Args:
        state: The state folder of the target.
        owner: The user of the lakehouse, who exists before a server has run.
        groups_of_owner: Further groups that the owner is in.
    """
    documents = _documents(state / SERVER_FOLDER / DATABASE)
    users = {each["id"]: str(each.get("userName")) for each in documents.get(USERS, ())}
    machines = {each["id"]: str(each.get("applicationId")) for each in documents.get(SERVICE_PRINCIPALS, ())}
    stored = {each["id"]: str(each.get("displayName")) for each in documents.get(GROUPS, ())}
    if owner not in users.values():
        users[f"user {owner}"] = owner
    names = {**machines, **stored, **users}
    groups = {"users": frozenset([*users.values(), *machines.values()]), "admins": frozenset([owner])}
    for each in documents.get(GROUPS, ()):
        if stored[each["id"]] != "users":
            members = [member_id(member) for member in each.get("members") or ()]
            groups[stored[each["id"]]] = frozenset(names[member] for member in members if member in names)
    for group in groups_of_owner:
        groups[group] = groups.get(group, frozenset()) | {owner}
    return Principals(tuple(users.values()), groups)


def _documents(file: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the documents of principals by kind; none without a database, and none that is damaged."""
    found: dict[str, list[dict[str, Any]]] = {}
    if not file.is_file():
        return found
    query = "SELECT kind, body FROM documents WHERE kind IN (?, ?, ?) ORDER BY number"
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute(query, (USERS, GROUPS, SERVICE_PRINCIPALS)).fetchall()
    except sqlite3.DatabaseError:
        return found
    for kind, body in rows:
        try:
            document = json.loads(body)
        except ValueError:
            continue
        if isinstance(document, dict) and "id" in document:
            found.setdefault(kind, []).append(document)
    return found


def member_id(member: object) -> str:
    """Return the id of a member of a group, as SCIM has it."""
    return str(member.get("value") if isinstance(member, dict) else member)
