"""The key that the user's secrets are encrypted with: in the OS keyring, else in a file of mode 600.

It is kept apart from the secrets, so that a copy of a project's folder does not carry both. The file comes
first where there is one: a keyring that is installed later must not make older secrets unreadable.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.dbutils.secret_exposure import refuse_exposed
from lakeward.errors import ConfigurationError

__all__ = ["key_file", "secret_key"]

_SERVICE, _NAME = "lakeward", "secrets"


def key_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the key is without a keyring: LAKEWARD_SECRET_KEY_FILE, else the user's configuration folder."""
    given = environ.get("LAKEWARD_SECRET_KEY_FILE")
    if given:
        return Path(given)
    config = environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "lakeward" / "secrets.key"


def secret_key(environ: Mapping[str, str] = os.environ) -> bytes:
    """The key; made at its first use.

    Raises ConfigurationError: SECRET_KEY_EXPOSED for a file that others may read, SECRET_KEYRING_LOCKED for a
    keyring that does not open.
    """
    file = key_file(environ)
    if file.exists() or "LAKEWARD_SECRET_KEY_FILE" in environ:
        return _from_file(file)
    ring = _keyring()
    if ring is None:
        return _from_file(file)
    try:
        return _from_ring(ring)
    except Exception as error:  # noqa: BLE001  # every store behind it has errors of its own
        # A key in a file instead would make what the keyring's own has encrypted unreadable.
        raise ConfigurationError(
            "SECRET_KEYRING_LOCKED",
            f"The keyring does not give the key of the secrets: {type(error).__name__}: {error}",
            next_step="Unlock it, or name a file for the key: LAKEWARD_SECRET_KEY_FILE.",
        ) from None


def _keyring() -> Any:
    """The module `keyring` where it is installed and has a real store behind it."""
    try:
        import keyring
    except ImportError:
        return None
    # Its stand-ins for "none" have a priority of 0 or less.
    return keyring if keyring.get_keyring().priority > 0 else None


def _from_ring(ring: Any) -> bytes:
    found = ring.get_password(_SERVICE, _NAME)
    if found is None:
        ring.set_password(_SERVICE, _NAME, _made().decode())
        found = ring.get_password(_SERVICE, _NAME)
    return str(found).encode()


def _from_file(file: Path) -> bytes:
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, aside = tempfile.mkstemp(prefix=".", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(_made())
            # A link, so that of two processes at their first secret one key remains.
            with contextlib.suppress(FileExistsError):
                os.link(aside, file)
        finally:
            Path(aside).unlink(missing_ok=True)
    refuse_exposed(file, "SECRET_KEY_EXPOSED", "the key of the secrets")
    return file.read_bytes()


def _made() -> bytes:
    from cryptography.fernet import Fernet

    return Fernet.generate_key()
