"""Redact the secrets of this process in its output, and resolve `{{secrets/scope/key}}` references.

Source: https://docs.databricks.com/aws/en/security/secrets/redaction and …/secrets/secrets-spark-conf-env-var
"""

from __future__ import annotations

import contextlib
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from lakeward.dbutils.redactors import Redactor, StreamRedactor
from lakeward.dbutils.secret_stores import SecretStore, known_secrets
from lakeward.errors import ConfigurationError

_REDACTION_REGEX = "spark.redaction.regex"
_SPARK_REDACTION_REGEX = "(?i)secret|password|token|access[.]?key"
"""Spark's default."""

_REFERENCE = re.compile(r"\{\{secrets/([^/{}]+)/([^/{}]+)\}\}")


@lru_cache(maxsize=16)
def _redactor_of(values: frozenset[str]) -> Redactor:
    return Redactor(values)


def redactor(secrets: Iterable[str] | None = None) -> Redactor:
    """Return the redactor of `secrets`; by default, of those that this process has read so far."""
    return _redactor_of(known_secrets() if secrets is None else frozenset(secrets))


def redact(text: str, secrets: Iterable[str] | None = None) -> str:
    """Return `text` without any of the secrets, in plain or escaped form.

    Lines of a multi-line secret are redacted as well: logs are read line by line.

    >>> redact("user=ada password=s3cret", ["s3cret"])
    'user=ada password=[REDACTED]'
    """
    return redactor(secrets)(text)


class _Redacting:
    """A text stream that redacts what is written to it; other attributes are those of the stream.

    A possible beginning of a secret is held back until `finish`, also across a flush.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._redacted = StreamRedactor(redactor)
        self._lock = threading.Lock()

    def write(self, text: str) -> int:
        with self._lock:
            self._stream.write(self._redacted.feed(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def finish(self) -> None:
        with self._lock:
            held = self._redacted.finish()
            if held:
                self._stream.write(held)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def redact_output() -> Iterator[None]:
    """Redact what Python code prints within the block.

    Output that does not pass through `sys.stdout` and `sys.stderr` (child processes, the JVM) is not covered.
    """
    streams = _Redacting(sys.stdout), _Redacting(sys.stderr)
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            yield
        finally:
            for stream in streams:
                stream.finish()


def with_secrets(values: Mapping[str, str], store: SecretStore) -> dict[str, str]:
    """Replace values `{{secrets/scope/key}}` of Spark settings or environment variables by their secrets.

    A reference must be the whole value, as on the platform; within other text it is not replaced. Raises
    ConfigurationError(SECRET_NOT_FOUND) for a secret that does not exist.
    """
    return {name: _resolved(name, value, store) for name, value in values.items()}


def spark_conf_with_secrets(values: Mapping[str, str], store: SecretStore) -> dict[str, str]:
    """Resolve secret references in Spark settings, and let Spark redact these settings.

    Spark's UI, event logs and plans redact the settings whose name or value `spark.redaction.regex` matches.
    """
    resolved = with_secrets(values, store)
    # Hadoop settings appear without the prefix `spark.hadoop.`.
    names = [name.removeprefix("spark.hadoop.") for name in values if values[name] != resolved[name]]
    if names:
        regex = values.get(_REDACTION_REGEX, _SPARK_REDACTION_REGEX)
        resolved[_REDACTION_REGEX] = "|".join([regex, *map(re.escape, sorted(names))])
    return resolved


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
