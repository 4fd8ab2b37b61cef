"""Keeping secrets out of what people read, and putting them where `{{secrets/scope/key}}` stands.

Source: https://docs.databricks.com/aws/en/security/secrets/redaction and …/secrets/secrets-spark-conf-env-var
"""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lakeward.dbutils.secret_stores import SecretStore, known_secrets
from lakeward.errors import ConfigurationError

__all__ = ["REDACTED", "redacted", "redacting", "with_secrets"]

REDACTED = "[REDACTED]"

_REFERENCE = re.compile(r"\{\{secrets/([^/{}]+)/([^/{}]+)\}\}")


def redacted(text: str, secrets: Iterable[str] | None = None) -> str:
    """`text` without any of the secrets (those that this process was given, if left out).

    Lines of a secret that has several are secrets, too: logs are read line by line.

    >>> redacted("user=ada password=s3cret", ["s3cret"])
    'user=ada password=[REDACTED]'
    """
    known = known_secrets() if secrets is None else secrets
    pieces = {piece for secret in known for piece in (secret, *secret.splitlines()) if piece.strip()}
    # The longest first: a secret may be the beginning of another.
    for piece in sorted(pieces, key=len, reverse=True):
        text = text.replace(piece, REDACTED)
    return text


class _Redacting:
    """A stream whose text has no secret in it; in all else it is the stream itself."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(redacted(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def redacting() -> Iterator[None]:
    """A block in which nothing that Python code prints shows a secret that it was given.

    What goes past `sys.stdout` and `sys.stderr` (other processes, the JVM) is not seen here.
    """
    with (
        contextlib.redirect_stdout(_Redacting(sys.stdout)),
        contextlib.redirect_stderr(_Redacting(sys.stderr)),
    ):
        yield


def with_secrets(values: Mapping[str, str], store: SecretStore) -> dict[str, str]:
    """Spark settings or environment variables with each value `{{secrets/scope/key}}` replaced by its secret.

    A reference stands as a whole value, as on the platform; within other text it is left alone.
    Raises ConfigurationError(SECRET_NOT_FOUND) for a secret that is not there.
    """
    return {name: _resolved(name, value, store) for name, value in values.items()}


def _resolved(name: str, value: str, store: SecretStore) -> str:
    reference = _REFERENCE.fullmatch(value.strip())
    if reference is None:
        return value
    secret = store.get(reference[1], reference[2])
    if secret is None:
        raise ConfigurationError(
            "SECRET_NOT_FOUND",
            f"{name} is the secret {reference[1]}/{reference[2]}, which does not exist.",
            next_step=f"Scopes are: {', '.join(store.scopes()) or 'none'}.",
        )
    return secret.decode()
