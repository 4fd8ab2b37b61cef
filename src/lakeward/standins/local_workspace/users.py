"""The current user."""

from __future__ import annotations

from typing import Any

from lakeward.standins.local_workspace.call import Call

__all__ = ["groups_of", "me"]


def groups_of(call: Call) -> tuple[str, ...]:
    """The groups that the user is in."""
    return ("users", "admins") if call.user in ("", call.owner) else ("users",)


def me(call: Call) -> dict[str, Any]:
    """Who asks; the owner of the lakehouse is its administrator."""
    user = call.user or call.owner
    return {
        "id": "0",
        "userName": user,
        "displayName": user,
        "active": True,
        "emails": [{"value": user, "primary": True, "type": "work"}],
        "groups": [{"display": group, "value": str(number)} for number, group in enumerate(groups_of(call))],
    }
