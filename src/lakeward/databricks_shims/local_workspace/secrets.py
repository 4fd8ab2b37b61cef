"""Secret scopes and secrets: reading as `dbutils.secrets` does, writing to the target's folder."""

from __future__ import annotations

import base64
from typing import Any

from lakeward.databricks_shims.local_workspace.api_error import ApiError, invalid_parameter, missing
from lakeward.databricks_shims.local_workspace.api_request import ApiRequest, decode_base64, exclusively
from lakeward.databricks_shims.local_workspace.users import groups_of
from lakeward.dbutils import FileSecrets

_LEVELS = ("READ", "WRITE", "MANAGE")


def list_scopes(call: ApiRequest) -> dict[str, Any]:
    """List all scopes."""
    names = map(_files(call).display_name, call.environment.secrets.scopes())
    return {"scopes": [{"name": name, "backend_type": "DATABRICKS"} for name in names]}


@exclusively
def create_scope(call: ApiRequest) -> None:
    """Create a scope, managed by its creator (or all users). Raises ApiError if it exists."""
    scope = call.required("scope")
    backend = call.body.get("scope_backend_type") or "DATABRICKS"
    if backend != "DATABRICKS":
        raise invalid_parameter(f"A scope of type {backend} needs Azure Key Vault.")
    manager = call.body.get("initial_manage_principal")
    if manager not in (None, "", "users"):
        raise invalid_parameter("The only supported value of initial_manage_principal is 'users'.")
    if not _files(call).create_scope(scope):
        raise ApiError(400, "RESOURCE_ALREADY_EXISTS", f"Scope {scope} already exists!")
    _files(call).set_acls(scope, {manager or call.user or call.owner: "MANAGE"})


@exclusively
def delete_scope(call: ApiRequest) -> None:
    """Delete a scope with all its secrets."""
    scope = _allowed(call, "MANAGE")
    if not _files(call).delete_scope(scope):
        raise missing(f"Scope {scope}")


def list_secrets(call: ApiRequest) -> dict[str, Any]:
    """List the keys of a scope."""
    scope = _allowed(call, "READ")
    keys = call.environment.secrets.keys(scope)
    if not keys:
        _require(call, scope)
    files = _files(call)
    return {"secrets": [{"key": key, "last_updated_timestamp": files.changed_at(scope, key)} for key in keys]}


def get_secret(call: ApiRequest) -> dict[str, Any]:
    """Return a secret, its value in base64."""
    scope, key = _allowed(call, "READ"), call.required("key")
    value = call.environment.secrets.get(scope, key)
    if value is None:
        raise missing(f"Secret with scope {scope} and key {key}")
    return {"key": key, "value": base64.b64encode(value).decode()}


@exclusively
def put_secret(call: ApiRequest) -> None:
    """Store a secret in an existing scope."""
    scope, key = _allowed(call, "WRITE"), call.required("key")
    _require(call, scope)
    given = [name for name in ("string_value", "bytes_value") if call.body.get(name) is not None]
    if len(given) != 1:
        raise invalid_parameter("Exactly one of string_value and bytes_value must be specified.")
    if given == ["bytes_value"]:
        value = decode_base64(call.body["bytes_value"], "bytes_value")
    else:
        value = str(call.body["string_value"]).encode()
    if len(value) > 128 * 1024:
        raise ApiError(400, "MAX_SECRET_SIZE_EXCEEDED", "A secret has 128 KB at most.")
    _files(call).put(scope, key, value)


@exclusively
def delete_secret(call: ApiRequest) -> None:
    """Delete a secret."""
    scope, key = _allowed(call, "WRITE"), call.required("key")
    if not _files(call).delete(scope, key):
        raise missing(f"Secret with scope {scope} and key {key}")


def list_acls(call: ApiRequest) -> dict[str, Any]:
    """List the permissions of a scope."""
    scope = _allowed(call, "MANAGE")
    _require(call, scope)
    acls = _files(call).acls(scope)
    return {"items": [{"principal": name, "permission": level} for name, level in sorted(acls.items())]}


def get_acl(call: ApiRequest) -> dict[str, Any]:
    """Return the permission of one principal."""
    scope, principal = _allowed(call, "MANAGE"), call.required("principal")
    level = _files(call).acls(scope).get(principal)
    if level is None:
        raise missing(f"The permission of {principal} on scope {scope}")
    return {"principal": principal, "permission": level}


@exclusively
def put_acl(call: ApiRequest) -> None:
    """Let a principal READ, WRITE or MANAGE a scope."""
    scope, principal, level = (
        _allowed(call, "MANAGE"),
        call.required("principal"),
        call.required("permission"),
    )
    _require(call, scope)
    if level not in _LEVELS:
        raise invalid_parameter(f"A permission on a scope is READ, WRITE or MANAGE, not {level}.")
    _files(call).set_acls(scope, {**_files(call).acls(scope), principal: level})


@exclusively
def delete_acl(call: ApiRequest) -> None:
    """Revoke a principal's permission."""
    scope, principal = _allowed(call, "MANAGE"), call.required("principal")
    acls = _files(call).acls(scope)
    if acls.pop(principal, None) is None:
        raise missing(f"The permission of {principal} on scope {scope}")
    _files(call).set_acls(scope, acls)


def _files(call: ApiRequest) -> FileSecrets:
    return FileSecrets(call.environment.settings().secrets)


def _allowed(call: ApiRequest, level: str) -> str:
    """Return the scope of the request. Raises ApiError where its list does not let the user do this."""
    scope = call.required("scope")
    groups = groups_of(call)
    if "admins" in groups:
        return scope
    acls = _files(call).acls(scope)
    held = [acls[name] for name in (call.user, *groups) if name in acls]
    if not any(_LEVELS.index(each) >= _LEVELS.index(level) for each in held):
        message = f"{call.user} does not have {level} permission on scope: {scope}"
        raise ApiError(403, "PERMISSION_DENIED", message)
    return scope


def _require(call: ApiRequest, scope: str) -> None:
    if scope.lower() not in call.environment.secrets.scopes():
        raise missing(f"Scope {scope}")
