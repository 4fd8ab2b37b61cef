"""`dbutils.secrets`."""

from __future__ import annotations

import builtins
from typing import NamedTuple

from lakeward.dbutils.failures import JavaError
from lakeward.dbutils.secret_files import secret_variable
from lakeward.dbutils.secret_stores import SecretStore
from lakeward.dbutils.utility import Utility


class SecretMetadata(NamedTuple):
    """One row of `dbutils.secrets.list`."""

    key: str


class SecretScope(NamedTuple):
    """One row of `dbutils.secrets.listScopes`."""

    name: str

    def getName(self) -> str:
        return self.name


class Secrets(Utility):
    """`dbutils.secrets`."""

    _group = "secrets"

    def get(self, scope: str, key: str) -> str:
        """Return the secret as text. Raises JavaError(IllegalArgumentException) if it does not exist."""
        return self._value("get", scope, key).decode()

    def getBytes(self, scope: str, key: str) -> bytes:
        """Return the secret. Raises JavaError(IllegalArgumentException) if it does not exist."""
        return self._value("getBytes", scope, key)

    def list(self, scope: str) -> builtins.list[SecretMetadata]:
        """Return the keys of a scope. Raises JavaError(IllegalArgumentException) for an unknown scope."""
        store = self._environment().secrets
        keys = store.keys(scope)
        if not keys and scope.lower() not in store.scopes():
            raise self._missing("list", f"Scope {scope} does not exist!", store, scope, "<key>")
        return [SecretMetadata(key) for key in keys]

    def listScopes(self) -> builtins.list[SecretScope]:
        """Return the scopes of the target."""
        return [SecretScope(scope) for scope in self._environment().secrets.scopes()]

    def _value(self, function: str, scope: str, key: str) -> bytes:
        store = self._environment().secrets
        value = store.get(scope, key)
        if value is None:
            message = f"Secret does not exist with scope: {scope} and key: {key}"
            raise self._missing(function, message, store, scope, key)
        return value

    def _missing(self, function: str, message: str, store: SecretStore, scope: str, key: str) -> JavaError:
        folder = self._environment().settings().secrets
        return JavaError(
            f"o.{function}",
            "java.lang.IllegalArgumentException",
            message,
            next_step=f"Scopes are: {', '.join(store.scopes()) or 'none'}. "
            f"Set {secret_variable(scope, key)}, "
            f"or write the file {folder / scope.lower() / key} with mode 600, "
            "or put it with databricks-sdk through `lakeward workspace`.",
        )
