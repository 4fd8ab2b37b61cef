"""Bearer tokens: made with a comment and a lifetime, kept as hashes, compared in constant time.

Source: https://docs.databricks.com/api/workspace/tokens and …/tokenmanagement. A token has 256 random bits,
so one round of SHA-256 is as good as a slow hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from typing import Any

from lakeward.standins.local_workspace import Failure, groups_of, missing
from lakeward.workspace.call import ServerCall, now
from lakeward.workspace.store import Document, Store

__all__ = ["Tokens", "create", "create_on_behalf", "delete", "list_all"]

_DAY = 24 * 3600
_LONGEST = 730 * _DAY


class Tokens:
    """The tokens of a workspace."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: list[tuple[bytes, Document]] | None = None

    def create(self, user: str, comment: str, seconds: int) -> tuple[str, Document]:
        """A new token and what is kept of it."""
        value = f"dapi{secrets.token_hex(32)}"
        made = now()
        info = {
            "token_id": secrets.token_hex(32),
            "creation_time": made,
            "expiry_time": made + seconds * 1000,
            "comment": comment,
            "user": user,
            "digest": _digest(value).hex(),
        }
        self._store.put("token", info["token_id"], info, parent=user)
        self._forget()
        return value, info

    def owner_of(self, value: str) -> Document | None:
        """What is known of a token, expired or not; None for one that was never made, or revoked."""
        digest, found = _digest(value), None
        for known, info in self._all():
            # No early way out: the time says nothing about which token it was.
            if hmac.compare_digest(known, digest):
                found = info
        return found

    def of(self, user: str) -> list[Document]:
        """A user's tokens."""
        return self._store.find("token", parent=user)

    def revoke(self, token_id: str) -> bool:
        """Forget a token; False where there was none."""
        done = self._store.delete("token", token_id)
        self._forget()
        return done

    def _all(self) -> list[tuple[bytes, Document]]:
        with self._lock:
            if self._known is None:
                tokens = self._store.find("token")
                self._known = [(bytes.fromhex(each["digest"]), each) for each in tokens]
            return self._known

    def _forget(self) -> None:
        with self._lock:
            self._known = None


def create(call: ServerCall) -> Any:
    """A token for the user who asks."""
    return _created(call, call.asker)


def create_on_behalf(call: ServerCall) -> Any:
    """A token for a service principal; for administrators."""
    if "admins" not in groups_of(call):
        raise Failure(403, "PERMISSION_DENIED", "Only administrators make tokens for others.")
    return _created(call, call.given("application_id"))


def list_all(call: ServerCall) -> Any:
    """The user's tokens, without their values."""
    return {"token_infos": [_shown(info) for info in call.office.tokens.of(call.asker)]}


def delete(call: ServerCall) -> None:
    """Revoke one of the user's tokens."""
    token_id = call.given("token_id")
    if token_id not in {info["token_id"] for info in call.office.tokens.of(call.asker)}:
        raise missing(f"Token {token_id}")
    call.office.tokens.revoke(token_id)


def _created(call: ServerCall, user: str) -> dict[str, Any]:
    seconds = call.number("lifetime_seconds", _LONGEST)
    if not _DAY <= seconds <= _LONGEST:
        message = f"A token lives for 1 to 730 days, and lifetime_seconds is {seconds}."
        raise Failure(400, "INVALID_PARAMETER_VALUE", message)
    value, info = call.office.tokens.create(user, str(call.body.get("comment") or ""), seconds)
    return {"token_value": value, "token_info": _shown(info)}


def _shown(info: Document) -> dict[str, Any]:
    return {name: info[name] for name in ("token_id", "creation_time", "expiry_time", "comment")}


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode()).digest()
