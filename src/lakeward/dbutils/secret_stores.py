"""Where secrets are: environment variables, and one file a secret in the target's `secrets/` folder.

A store answers by scope and key; scopes are compared without regard to case, as on Databricks. Whatever a
store hands out is remembered (`known_secrets`), so that logs and outputs can be redacted later.
"""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from lakeward.errors import ConfigurationError
from lakeward.session import Settings

__all__ = [
    "EnvironmentSecrets",
    "FileSecrets",
    "SecretStore",
    "Stores",
    "known_secrets",
    "stores_of",
    "variable_of",
]

_NAME = re.compile(r"[A-Za-z0-9_@.-]{1,128}")
_handed_out: set[str] = set()


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
    if text:
        _handed_out.add(text)


def checked(name: str, what: str) -> str:
    """A scope's or a key's name. Raises ValueError for what Databricks does not allow (§secrets API)."""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise ValueError(
            f"{name!r} cannot be the name of a {what}: "
            "letters, digits, `-`, `_`, `@` and `.` are allowed, up to 128 of them."
        )
    return name


def variable_of(scope: str, key: str) -> str:
    """The environment variable that holds a secret: LAKEWARD_SECRET_<SCOPE>_<KEY>."""
    return "LAKEWARD_SECRET_" + "_".join(re.sub(r"[^A-Za-z0-9]", "_", part).upper() for part in (scope, key))


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


class FileSecrets:
    """One file a secret, `<folder>/<scope>/<key>`, readable by its owner alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def scopes(self) -> list[str]:
        return _names(self.folder)

    def keys(self, scope: str) -> list[str]:
        return _names(self._scope(scope))

    def get(self, scope: str, key: str) -> bytes | None:
        """The file's bytes. Raises ConfigurationError(SECRET_FILE_EXPOSED) when others may read it, too."""
        file = self._scope(scope) / checked(key, "key")
        try:
            mode = stat.S_IMODE(file.stat().st_mode)
            if mode & 0o077:
                raise ConfigurationError(
                    "SECRET_FILE_EXPOSED",
                    f"Others than its owner may read the secret {scope}/{key}: {file} has mode {mode:o}.",
                    next_step=f"Run `chmod 600 {file}`.",
                )
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def put(self, scope: str, key: str, value: bytes) -> None:
        """Keep a secret; whoever reads it meanwhile sees the old one or the new one."""
        folder = self._scope(scope)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # mkstemp gives mode 600 from the start.
        handle, aside = tempfile.mkstemp(prefix=".", dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(value)
        Path(aside).replace(folder / checked(key, "key"))

    def create_scope(self, scope: str) -> bool:
        """Make a scope exist; False when it was there."""
        folder = self._scope(scope)
        if folder.is_dir():
            return False
        folder.mkdir(parents=True, mode=0o700)
        return True

    def delete(self, scope: str, key: str) -> bool:
        """Forget a secret; False when there was none."""
        file = self._scope(scope) / checked(key, "key")
        if not file.is_file():
            return False
        file.unlink()
        return True

    def delete_scope(self, scope: str) -> bool:
        """Forget a scope and all its secrets; False when there was none."""
        folder = self._scope(scope)
        if not folder.is_dir():
            return False
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        return True

    def _scope(self, scope: str) -> Path:
        return self.folder / checked(scope, "scope").lower()


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


def _names(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
