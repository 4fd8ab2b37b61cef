"""Bearer tokens: created with a comment and a lifetime, stored as hashes, compared in constant time.

A token has 256 random bits, so one round of SHA-256 protects it as well as a slow hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading

from lakeward.workspace.state.store import Document, Store, now

_YEAR = 365 * 24 * 3600 * 1000


class Tokens:
    """The tokens of a workspace."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: list[tuple[bytes, Document]] | None = None
        self._unstored: list[tuple[bytes, Document]] = []

    def accept(self, value: str, user: str) -> None:
        """Accept a token for as long as this process runs, without storing it."""
        info = {"token_id": "", "expiry_time": now() + _YEAR, "user": user}
        self._unstored.append((_digest(value), info))

    def create(self, user: str, comment: str, seconds: int) -> tuple[str, Document]:
        """Store a new token; return it and its record."""
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
        """Return the document of a token, expired or not; None for an unknown or revoked one."""
        digest, found = _digest(value), None
        for known, info in (*self._unstored, *self._all()):
            # No early return: the duration must not depend on which token matches.
            if hmac.compare_digest(known, digest):
                found = info
        return found

    def of(self, user: str) -> list[Document]:
        """Return a user's tokens."""
        return self._store.find("token", parent=user)

    def all(self) -> list[Document]:
        """Return the tokens of all users."""
        return self._store.find("token")

    def set_comment(self, token_id: str, comment: str) -> Document | None:
        """Change the comment of a token and return its record, None for an unknown token."""
        info = self._store.change("token", token_id, lambda body: body.update(comment=comment))
        self._forget()
        return info

    def revoke(self, token_id: str) -> bool:
        """Delete a token; return False without one."""
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


def _digest(value: str) -> bytes:
    return hashlib.sha256(value.encode()).digest()
