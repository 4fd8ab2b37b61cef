"""Routes of tokens.

Source: https://docs.databricks.com/api/workspace/tokens and …/tokenmanagement
"""

from __future__ import annotations

from lakeward.databricks_shims.local_workspace import ApiError, Route, invalid_parameter, missing, user_id
from lakeward.workspace.api.fields import read_fields
from lakeward.workspace.api.permissions import require_admin
from lakeward.workspace.api.update_mask import read_update_mask
from lakeward.workspace.context import ServerRequest
from lakeward.workspace.state.store import Document
from lakeward.workspace_connection import WORKSPACE_ID

_LONGEST = 730 * 24 * 3600
_OF_OTHERS = "manage tokens of others"


def create(call: ServerRequest) -> Document:
    """Create a token for the caller."""
    return _created(call, call.caller)


def create_on_behalf(call: ServerRequest) -> Document:
    """Create a token for a service principal; only for administrators.

    It identifies the principal in requests. Code that is run with it has the rights of the server's user.
    """
    require_admin(call, _OF_OTHERS)
    return _created(call, call.required("application_id"))


def list_all(call: ServerRequest) -> Document:
    """Return the user's tokens, without their values."""
    return {"token_infos": [_to_json(info) for info in call.context.tokens.of(call.caller)]}


def delete(call: ServerRequest) -> None:
    """Revoke one of the user's tokens."""
    token_id = call.required("token_id")
    if token_id not in {info["token_id"] for info in call.context.tokens.of(call.caller)}:
        raise missing(f"Token {token_id}")
    call.context.tokens.revoke(token_id)


def update(call: ServerRequest) -> None:
    """Change the comment of one of the user's tokens."""
    if call.path_parameter not in {info["token_id"] for info in call.context.tokens.of(call.caller)}:
        raise missing(f"Token {call.path_parameter}", "NOT_FOUND")
    _update(call, call.path_parameter)


def list_of_workspace(call: ServerRequest) -> Document:
    """Return the tokens of all users, or of the one that the query names; only for administrators."""
    require_admin(call, _OF_OTHERS)
    name, number = call.query.get("created_by_username"), call.query.get("created_by_id")
    found = [_managed(info) for info in call.context.tokens.all()]
    return {
        "token_infos": [
            info
            for info in found
            if name in (None, "", info["created_by_username"])
            and number in (None, "", str(info["created_by_id"]))
        ]
    }


def get_of_workspace(call: ServerRequest) -> Document:
    """Return a token of any user; only for administrators."""
    return {"token_info": _managed(_found(call))}


def delete_of_workspace(call: ServerRequest) -> None:
    """Revoke a token of any user; only for administrators."""
    call.context.tokens.revoke(_found(call)["token_id"])


def update_of_workspace(call: ServerRequest) -> Document:
    """Change the comment of a token of any user; only for administrators."""
    return _managed(_update(call, _found(call)["token_id"]))


def _update(call: ServerRequest, token_id: str) -> Document:
    given = read_fields(call.body, {"token": dict, "update_mask": str}, required=["token", "update_mask"])
    names = read_update_mask(given["update_mask"], ("comment", "scopes"), resource="a token (comment)")
    if given["update_mask"] != "*" and "scopes" in names:
        raise ApiError(501, "NOT_IMPLEMENTED", "Tokens have no scopes here: each may do what its user may.")
    comment = read_fields(given["token"], {"comment": str}).get("comment", "")
    info = call.context.tokens.set_comment(token_id, comment)
    if info is None:
        raise missing(f"Token {token_id}", "NOT_FOUND")
    return info


def _found(call: ServerRequest) -> Document:
    require_admin(call, _OF_OTHERS)
    for info in call.context.tokens.all():
        if info["token_id"] == call.path_parameter:
            return info
    raise missing(f"Token {call.path_parameter}")


def _managed(info: Document) -> Document:
    """Return a token with the user that it identifies, who is also shown as its creator."""
    number = int(user_id(info["user"]))
    return {
        **_to_json(info),
        "owner_id": number,
        "created_by_id": number,
        "created_by_username": info["user"],
        "workspace_id": WORKSPACE_ID,
    }


def _created(call: ServerRequest, user: str) -> Document:
    seconds = call.number("lifetime_seconds", _LONGEST, least=-_LONGEST)
    if not 1 <= seconds <= _LONGEST:
        raise invalid_parameter(f"A token lives for 1 second to 730 days, and lifetime_seconds is {seconds}.")
    value, info = call.context.tokens.create(user, str(call.body.get("comment") or ""), seconds)
    return {"token_value": value, "token_info": _to_json(info)}


def _to_json(info: Document) -> Document:
    return {name: info[name] for name in ("token_id", "creation_time", "expiry_time", "comment")}


ROUTES = (
    Route("POST", "/api/2.0/token/create", create),
    Route("GET", "/api/2.0/token/list", list_all),
    Route("POST", "/api/2.0/token/delete", delete),
    Route("PATCH", "/api/2.0/token/{}", update),
    Route("POST", "/api/2.0/token-management/on-behalf-of/tokens", create_on_behalf),
    Route("GET", "/api/2.0/token-management/tokens", list_of_workspace),
    Route("GET", "/api/2.0/token-management/tokens/{}", get_of_workspace),
    Route("PATCH", "/api/2.0/token-management/tokens/{}", update_of_workspace),
    Route("DELETE", "/api/2.0/token-management/tokens/{}", delete_of_workspace),
)
