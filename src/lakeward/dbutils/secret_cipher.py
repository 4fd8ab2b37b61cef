"""Secrets at rest: authenticated encryption (Fernet) with the user's key."""

from __future__ import annotations

from lakeward.dbutils.secret_key import secret_key
from lakeward.errors import ConfigurationError

__all__ = ["decrypted", "encrypted"]

_MARK = b"lakeward-secret-1\n"


def encrypted(value: bytes) -> bytes:
    """What is written to the disk for a secret."""
    from cryptography.fernet import Fernet

    return _MARK + Fernet(secret_key()).encrypt(value)


def decrypted(stored: bytes, what: str) -> bytes:
    """The secret behind what is on the disk; text without our mark was written by a person and is the secret.

    Raises ConfigurationError(SECRET_KEY_WRONG), naming `what`, for another key or a damaged file.
    """
    if not stored.startswith(_MARK):
        return stored
    from cryptography.fernet import Fernet, InvalidToken

    try:
        return Fernet(secret_key()).decrypt(stored[len(_MARK) :])
    except InvalidToken:
        raise ConfigurationError(
            "SECRET_KEY_WRONG",
            f"The secret {what} was encrypted with another key than this user has, or its file is damaged.",
            next_step="Put the secret again, or bring back the key with LAKEWARD_SECRET_KEY_FILE=FILE.",
        ) from None
