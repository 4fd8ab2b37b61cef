"""Where secrets are: environment variables first, then the files of the target.

A store answers by scope and key; scopes are compared without regard to case, as on Databricks. Whatever a
store hands out is remembered (`known_secrets`), so that logs and outputs can be redacted later.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from lakeward.dbutils.secret_files import FileSecrets, checked, variable_of
from lakeward.session import Settings

_handed_out: set[str] = set()
_listeners: list[Callable[[str], None]] = []


class SecretStore(Protocol):
    """What answers for secrets; a store that does not know a scope has no keys in it."""

    def scopes(self) -> list[str]:
        """The scopes, sorted."""
        ...

    def keys(self, scope: str) -> list[str]:
        """The keys of a scope, sorted."""
        ...

    def get(self, scope: str, key: str) -> bytes | None:
        """The secret, None where there is none."""
        ...


def known_secrets() -> frozenset[str]:
    """Every secret that this process was given so far, as text: what must not be shown to anybody."""
    return frozenset(_handed_out)


def remember(value: bytes) -> None:
    """Add a secret to those known; empty ones would redact everything."""
    text = value.decode("utf-8", errors="replace")
    if text and text not in _handed_out:
        _handed_out.add(text)
        for listener in _listeners:
            listener(text)


def hear_secrets(listener: Callable[[str], None]) -> None:
    """Let `listener` know of each secret that this process is given from now on, before its code has it."""
    _listeners.append(listener)


class EnvironmentSecrets:
    """Secrets in environment variables, for CI. They can be asked for, but not all listed:
    a variable's name does not tell where the scope ends."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self._environ = environ

    def scopes(self) -> list[str]:
        return []

    def keys(self, scope: str) -> list[str]:
        prefix = variable_of(scope, "")
        return sorted(name[len(prefix) :].lower() for name in self._environ if name.startswith(prefix))

    def get(self, scope: str, key: str) -> bytes | None:
        value = self._environ.get(variable_of(scope, key))
        return None if value is None else value.encode()


class Stores:
    """Several stores as one: the first that has a secret answers."""

    def __init__(self, stores: Sequence[SecretStore]) -> None:
        self._stores = tuple(stores)

    def scopes(self) -> list[str]:
        return sorted({scope for store in self._stores for scope in store.scopes()})

    def keys(self, scope: str) -> list[str]:
        checked(scope, "scope")
        return sorted({key for store in self._stores for key in store.keys(scope)})

    def get(self, scope: str, key: str) -> bytes | None:
        checked(scope, "scope"), checked(key, "key")
        found = (store.get(scope, key) for store in self._stores)
        value = next((each for each in found if each is not None), None)
        if value is not None:
            remember(value)
        return value


def stores_of(settings: Settings) -> SecretStore:
    """The stores of a target: environment variables first, then its `secrets/` folder."""
    return Stores((EnvironmentSecrets(), FileSecrets(settings.secrets)))
