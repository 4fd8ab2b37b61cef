"""The current user."""

from __future__ import annotations

from typing import Any

from lakeward.standins.local_workspace.call import Call

__all__ = ["me"]


def me(call: Call) -> dict[str, Any]:
    """The user of the lakehouse's settings."""
    user = call.environment.settings().user
    return {
        "id": "0",
        "userName": user,
        "displayName": user,
        "active": True,
        "emails": [{"value": user, "primary": True, "type": "work"}],
        "groups": [{"display": "users", "value": "0"}],
    }
