"""Secret stores: environment variables first, then the files of the target.

Scopes are compared without regard to case, as on Databricks. Every secret that is read is recorded
(`known_secrets`), so that logs and outputs can be redacted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Protocol

from lakeward.dbutils.secret_files import FileSecrets, check_name, secret_variable
from lakeward.errors import LakewardError
from lakeward.session import Settings

_VARIABLES = "LAKEWARD_SECRET_"
_handed_out: set[str] = set()
_listeners: list[Callable[[str], None]] = []


class SecretStore(Protocol):
    """A store of secrets by scope and key; an unknown scope has no keys."""

    def scopes(self) -> list[str]:
        """Return the scopes, sorted."""
        ...

    def keys(self, scope: str) -> list[str]:
        """Return the keys of a scope, sorted."""
        ...

    def get(self, scope: str, key: str) -> bytes | None:
        """Return the secret, or None."""
        ...


def known_secrets() -> frozenset[str]:
    """Return every secret that this process has read so far, as text."""
    return frozenset(_handed_out)


def record_secret(value: bytes) -> None:
    """Record a secret for redaction; an empty one is ignored because it would match everywhere."""
    text = value.decode("utf-8", errors="replace")
    if text and text not in _handed_out:
        _handed_out.add(text)
        for listener in _listeners:
            listener(text)


def watch_secrets(listener: Callable[[str], None]) -> None:
    """Call `listener` with each secret that this process reads from now on, before its code receives it."""
    _listeners.append(listener)


class EnvironmentSecrets:
    """Secrets in environment variables, for CI.

    They can be read by name but not listed completely: a variable's name does not show where the scope ends.
    """

    def scopes(self) -> list[str]:
        return []

    def keys(self, scope: str) -> list[str]:
        prefix = secret_variable(scope, "")
        return sorted(name[len(prefix) :].lower() for name in os.environ if name.startswith(prefix))

    def get(self, scope: str, key: str) -> bytes | None:
        value = os.environ.get(secret_variable(scope, key))
        return None if value is None else value.encode()


class Stores:
    """Several stores as one: the first that has a secret wins."""

    def __init__(self, stores: Sequence[SecretStore]) -> None:
        self._stores = tuple(stores)

    def scopes(self) -> list[str]:
        return sorted({scope for store in self._stores for scope in store.scopes()})

    def keys(self, scope: str) -> list[str]:
        check_name(scope, "scope")
        return sorted({key for store in self._stores for key in store.keys(scope)})

    def get(self, scope: str, key: str) -> bytes | None:
        check_name(scope, "scope"), check_name(key, "key")
        found = (store.get(scope, key) for store in self._stores)
        value = next((each for each in found if each is not None), None)
        if value is not None:
            record_secret(value)
        return value


def open_stores(settings: Settings) -> SecretStore:
    """Return the stores of a target: environment variables first, then its `secrets/` folder."""
    return Stores((EnvironmentSecrets(), FileSecrets(settings.secrets)))


def record_stored_secrets(settings: Settings) -> list[str]:
    """Record all secrets of a target for redaction, also those that this process has not read.

    Returns:
        Scope and key of those that cannot be read: text that contains them cannot be redacted.
    """
    for name, value in os.environ.items():
        if name.startswith(_VARIABLES):
            record_secret(value.encode())
    store, unreadable = FileSecrets(settings.secrets), []
    for scope in store.scopes():
        for key in store.keys(scope):
            try:
                record_secret(store.get(scope, key) or b"")
            except (LakewardError, OSError, ValueError):
                unreadable.append(f"{scope}/{key}")
    return unreadable
