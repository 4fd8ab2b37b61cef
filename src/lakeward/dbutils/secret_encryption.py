"""Encryption of stored secrets, and the key for it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.atomic_files import atomic_create, read_regular
from lakeward.errors import ConfigurationError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet


_SERVICE, _NAME = "lakeward", "secrets"


def key_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the key's file, used without a keyring: LAKEWARD_SECRET_KEY_FILE, else in the user's
    configuration.
    """
    given = environ.get("LAKEWARD_SECRET_KEY_FILE")
    if given:
        return Path(given)
    config = environ.get("XDG_CONFIG_HOME")
    return (Path(config) if config else Path.home() / ".config") / "lakeward" / "secrets.key"


def secret_key(environ: Mapping[str, str] = os.environ) -> bytes:
    """Return the key; create it on first use.

    Raises ConfigurationError: SECRET_KEY_EXPOSED for a file that others can read, SECRET_KEYRING_LOCKED for a
    keyring that cannot be unlocked.
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
        # A fallback to a key file would make secrets encrypted with the keyring's key unreadable.
        raise ConfigurationError(
            "SECRET_KEYRING_LOCKED",
            f"The keyring does not give the key of the secrets: {type(error).__name__}: {error}",
            next_step="Unlock it, or name a file for the key: LAKEWARD_SECRET_KEY_FILE.",
        ) from None


def _keyring() -> Any:
    """Return the module `keyring` if it is installed and has a real backend."""
    try:
        import keyring
    except ImportError:
        return None
    # Its placeholder backends have a priority of 0 or less.
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
        # Two processes that store their first secret share one key.
        atomic_create(file, _made(), mode=0o600)
    refuse_exposed(file, "SECRET_KEY_EXPOSED", "the key of the secrets")
    return read_regular(file)


def _made() -> bytes:
    from cryptography.fernet import Fernet

    return Fernet.generate_key()


_MARK = b"lakeward-secret-1\n"


def encrypt(value: bytes) -> bytes:
    """Return the encrypted form of a secret."""
    return _MARK + _cipher().encrypt(value)


def decrypt(stored: bytes, what: str) -> bytes:
    """Return the secret of an encrypted file; a file without our prefix was written by hand and is the
    secret.

    Raises ConfigurationError, naming `what`: SECRET_KEY_WRONG for another key or damaged content,
    SECRET_KEY_DAMAGED for an invalid key, SECRET_FILE_DAMAGED for a file that is empty, truncated or not
    text.
    """
    if not stored.startswith(_MARK):
        if _MARK.startswith(stored) or not _is_text(stored):
            raise ConfigurationError(
                "SECRET_FILE_DAMAGED",
                f"The file of the secret {what} is empty, cut off, or no text.",
                next_step="Put the secret again.",
            )
        return stored
    from cryptography.fernet import InvalidToken

    try:
        return _cipher().decrypt(stored[len(_MARK) :])
    except InvalidToken:
        raise ConfigurationError(
            "SECRET_KEY_WRONG",
            f"The secret {what} was encrypted with another key than this user has, or its file is damaged.",
            next_step="Put the secret again, or bring back the key with LAKEWARD_SECRET_KEY_FILE=FILE.",
        ) from None


def _cipher() -> Fernet:
    from cryptography.fernet import Fernet

    try:
        return Fernet(secret_key())
    except ValueError:
        raise ConfigurationError(
            "SECRET_KEY_DAMAGED",
            f"The key that secrets are encrypted with is damaged: {key_file()}.",
            next_step="Restore the file from a backup; or delete it and put all secrets again.",
        ) from None


def _is_text(stored: bytes) -> bool:
    try:
        stored.decode()
    except UnicodeDecodeError:
        return False
    return True


def refuse_exposed(file: Path, condition: str, what: str) -> None:
    """Raise ConfigurationError(`condition`) if others can read `file`, which holds `what`."""
    mode = stat.S_IMODE(file.stat().st_mode)
    if mode & 0o077:
        raise ConfigurationError(
            condition,
            f"Others than its owner may read {what}: {file} has mode {mode:o}.",
            next_step=f"Run `chmod 600 {file}`.",
        )
