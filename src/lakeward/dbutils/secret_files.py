"""Secrets in files of the state folder, readable by their owner only."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from lakeward.atomic_files import atomic_write, read_regular
from lakeward.dbutils.secret_encryption import decrypt, encrypt, refuse_exposed
from lakeward.errors import ConfigurationError
from lakeward.private_folders import private_folder

_ALLOWED_NAME = re.compile(r"[A-Za-z0-9_@.-]{1,128}")


def check_name(name: str, what: str) -> str:
    """Return the name of a scope or key. Raises ValueError for a name that Databricks refuses (BN-5.2)."""
    if not _ALLOWED_NAME.fullmatch(name) or name in (".", ".."):
        raise ValueError(
            f"{name!r} cannot be the name of a {what}: "
            "use at most 128 letters, digits, `-`, `_`, `@` and `.`."
        )
    return name


def secret_variable(scope: str, key: str) -> str:
    """Return the environment variable that holds a secret: LAKEWARD_SECRET_<SCOPE>_<KEY>."""
    return "LAKEWARD_SECRET_" + "_".join(re.sub(r"[^A-Za-z0-9]", "_", part).upper() for part in (scope, key))


_ACLS = ".acls.json"

_NAME = ".name"

_DOT = "%2e"


class FileSecrets:
    """The secrets below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def scopes(self) -> list[str]:
        return [name for name in _names(self.folder) if (self.folder / name).is_dir()]

    def keys(self, scope: str) -> list[str]:
        return sorted(name.replace(_DOT, ".", 1) for name in _names(self._scope(scope)))

    def get(self, scope: str, key: str) -> bytes | None:
        """Return the secret, or None.

        Raises ConfigurationError: SECRET_FILE_EXPOSED if others can read its file, SECRET_KEY_WRONG if it was
        encrypted with another key.
        """
        file = self._file(scope, key)
        try:
            refuse_exposed(file, "SECRET_FILE_EXPOSED", f"the secret {scope}/{key}")
            return decrypt(read_regular(file), f"{scope}/{key}")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def put(self, scope: str, key: str, value: bytes) -> None:
        """Store a secret atomically."""
        self._write(self._file(scope, key), encrypt(value))

    def changed_at(self, scope: str, key: str) -> int:
        """Return when the secret was last written, in milliseconds since 1970; 0 if it does not exist."""
        file = self._file(scope, key)
        return int(file.stat().st_mtime * 1000) if file.is_file() else 0

    def create_scope(self, scope: str) -> bool:
        """Create a scope; return False if it exists."""
        folder = self._scope(scope)
        if folder.is_dir():
            return False
        private_folder(folder)
        if folder.name != scope:
            self._write(folder / _NAME, scope.encode())
        return True

    def display_name(self, scope: str) -> str:
        """Return the name of a scope as its creator wrote it; look-up ignores case."""
        try:
            return (self._scope(scope) / _NAME).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return scope

    def delete(self, scope: str, key: str) -> bool:
        """Delete a secret; return False if it does not exist."""
        file = self._file(scope, key)
        if not file.is_file():
            return False
        file.unlink()
        return True

    def delete_scope(self, scope: str) -> bool:
        """Delete a scope and all its secrets; return False if it does not exist."""
        folder = self._scope(scope)
        if not folder.is_dir():
            return False
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        return True

    def acls(self, scope: str) -> dict[str, str]:
        """Return READ, WRITE or MANAGE by principal. Raises ConfigurationError(SECRET_ACLS_DAMAGED)."""
        file = self._scope(scope) / _ACLS
        if not file.exists():
            return {}
        try:
            acls = json.loads(read_regular(file))
            if isinstance(acls, dict) and all(isinstance(level, str) for level in acls.values()):
                return acls
            reason = "it is not a map of principals"
        except (OSError, ValueError) as error:
            reason = str(error)
        raise ConfigurationError(
            "SECRET_ACLS_DAMAGED",
            f"The access control list of the scope {scope} cannot be read ({reason}): {file}.",
            next_step="Restore the file from a backup, or delete it: only administrators use the scope then.",
        )

    def set_acls(self, scope: str, acls: Mapping[str, str]) -> None:
        """Replace the access control list of a scope."""
        self._write(self._scope(scope) / _ACLS, json.dumps(dict(acls), sort_keys=True).encode())

    def _write(self, file: Path, data: bytes) -> None:
        private_folder(file.parent)
        atomic_write(file, data, mode=0o600)

    def _scope(self, scope: str) -> Path:
        return self.folder / check_name(scope, "scope").lower()

    def _file(self, scope: str, key: str) -> Path:
        check_name(key, "key")
        return self._scope(scope) / (_DOT + key[1:] if key.startswith(".") else key)


def _names(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
