"""The current user."""

from __future__ import annotations

import hashlib
from typing import Any

from lakeward.databricks_shims.local_workspace.api_request import ApiRequest


def user_id(name: str) -> str:
    """Return the stable numeric id of a user or built-in group, 15 digits at most.

    >>> user_id("ada@example.com") == user_id("ada@example.com")
    True
    """
    return str(int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big"))


def groups_of(call: ApiRequest) -> tuple[str, ...]:
    """Return the groups that the user is in."""
    return ("users", "admins") if call.user in ("", call.owner) else ("users",)


def me(call: ApiRequest) -> dict[str, Any]:
    """Return the caller; the owner of the lakehouse is its administrator."""
    user = call.user or call.owner
    return {
        "id": user_id(user),
        "userName": user,
        "displayName": user,
        "active": True,
        "emails": [{"value": user, "primary": True, "type": "work"}],
        "groups": [{"display": group, "value": user_id(group)} for group in groups_of(call)],
    }
