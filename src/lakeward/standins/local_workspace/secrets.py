"""Secret scopes and secrets: reading as `dbutils.secrets` does, writing to the target's folder."""

from __future__ import annotations

import base64
from typing import Any

from lakeward.dbutils import FileSecrets
from lakeward.standins.local_workspace.call import Call, Failure, missing

__all__ = [
    "create_scope",
    "delete_scope",
    "delete_secret",
    "get_secret",
    "list_scopes",
    "list_secrets",
    "put_secret",
]


def list_scopes(call: Call) -> Any:
    """All scopes."""
    names = call.environment.secrets.scopes()
    return {"scopes": [{"name": name, "backend_type": "DATABRICKS"} for name in names]}


def create_scope(call: Call) -> None:
    """A new scope; an existing one is an error."""
    scope = call.given("scope")
    if not _files(call).create_scope(scope):
        raise Failure(400, "RESOURCE_ALREADY_EXISTS", f"Scope {scope} already exists!")


def delete_scope(call: Call) -> None:
    """A scope with all its secrets."""
    if not _files(call).delete_scope(call.given("scope")):
        raise missing(f"Scope {call.given('scope')}")


def list_secrets(call: Call) -> Any:
    """The keys of a scope."""
    scope = call.given("scope")
    keys = call.environment.secrets.keys(scope)
    if not keys:
        _require(call, scope)
    return {"secrets": [{"key": key} for key in keys]}


def get_secret(call: Call) -> Any:
    """A secret, its value in base64."""
    scope, key = call.given("scope"), call.given("key")
    value = call.environment.secrets.get(scope, key)
    if value is None:
        raise missing(f"Secret with scope {scope} and key {key}")
    return {"key": key, "value": base64.b64encode(value).decode()}


def put_secret(call: Call) -> None:
    """Keep a secret in an existing scope."""
    scope, key = call.given("scope"), call.given("key")
    _require(call, scope)
    if "bytes_value" in call.body:
        value = base64.b64decode(call.body["bytes_value"], validate=True)
    else:
        value = str(call.body.get("string_value", "")).encode()
    _files(call).put(scope, key, value)


def delete_secret(call: Call) -> None:
    """Forget a secret."""
    scope, key = call.given("scope"), call.given("key")
    if not _files(call).delete(scope, key):
        raise missing(f"Secret with scope {scope} and key {key}")


def _files(call: Call) -> FileSecrets:
    return FileSecrets(call.environment.settings().secrets)


def _require(call: Call, scope: str) -> None:
    if scope.lower() not in call.environment.secrets.scopes():
        raise missing(f"Scope {scope}")
