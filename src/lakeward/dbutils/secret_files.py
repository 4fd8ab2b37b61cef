"""Secrets on the disk: one encrypted file a secret, readable by its owner alone.

`<folder>/<scope>/<key>` holds what `put` wrote, encrypted. A file that a person wrote there is taken as it
stands, as long as nobody else may read it. A key that begins with a dot is kept as `%2e…`: names with a dot
in front are this room's own (`.acls.json`, files half written).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from lakeward.dbutils.secret_cipher import decrypted, encrypted
from lakeward.dbutils.secret_exposure import refuse_exposed
from lakeward.dbutils.secret_names import checked
from lakeward.whole_files import write_whole

__all__ = ["FileSecrets"]

_ACLS = ".acls.json"
_DOT = "%2e"


class FileSecrets:
    """The secrets of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def scopes(self) -> list[str]:
        return _names(self.folder)

    def keys(self, scope: str) -> list[str]:
        return sorted(name.replace(_DOT, ".", 1) for name in _names(self._scope(scope)))

    def get(self, scope: str, key: str) -> bytes | None:
        """The secret, None where there is none. Raises ConfigurationError: SECRET_FILE_EXPOSED when others
        may read its file, too, SECRET_KEY_WRONG when it was encrypted with another key."""
        file = self._file(scope, key)
        try:
            refuse_exposed(file, "SECRET_FILE_EXPOSED", f"the secret {scope}/{key}")
            return decrypted(file.read_bytes(), f"{scope}/{key}")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def put(self, scope: str, key: str, value: bytes) -> None:
        """Keep a secret; whoever reads it meanwhile sees the old one or the new one."""
        self._write(self._file(scope, key), encrypted(value))

    def changed_at(self, scope: str, key: str) -> int:
        """When the secret was last written, in milliseconds since 1970; 0 where there is none."""
        file = self._file(scope, key)
        return int(file.stat().st_mtime * 1000) if file.is_file() else 0

    def create_scope(self, scope: str) -> bool:
        """Make a scope exist; False when it was there."""
        folder = self._scope(scope)
        if folder.is_dir():
            return False
        folder.mkdir(parents=True, mode=0o700)
        return True

    def delete(self, scope: str, key: str) -> bool:
        """Forget a secret; False when there was none."""
        file = self._file(scope, key)
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

    def acls(self, scope: str) -> dict[str, str]:
        """Who may do what with a scope: READ, WRITE or MANAGE by principal."""
        file = self._scope(scope) / _ACLS
        return dict(json.loads(file.read_bytes())) if file.is_file() else {}

    def set_acls(self, scope: str, acls: Mapping[str, str]) -> None:
        """Replace the access control list of a scope."""
        self._write(self._scope(scope) / _ACLS, json.dumps(dict(acls), sort_keys=True).encode())

    def _write(self, file: Path, data: bytes) -> None:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(file, data, mode=0o600)

    def _scope(self, scope: str) -> Path:
        return self.folder / checked(scope, "scope").lower()

    def _file(self, scope: str, key: str) -> Path:
        checked(key, "key")
        return self._scope(scope) / (_DOT + key[1:] if key.startswith(".") else key)


def _names(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
