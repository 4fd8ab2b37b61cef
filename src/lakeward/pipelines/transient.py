"""Which failures may pass by themselves. Only those are tried again, and only in production (spec §4).

Transient: another writer was faster (Delta's concurrency conditions), a connection was refused, reset or
timed out, a service asked to slow down. All else is deterministic: the same code on the same data fails
again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from lakeward.pipelines.blame import causes
from lakeward.pipelines.waiting import Waiting
from lakeward.session import condition_of, is_disk_full

__all__ = ["flow_attempts", "is_transient", "with_retries"]

T = TypeVar("T")

_ATTEMPTS = "pipelines.maxflowretryattempts"
_DEFAULT_ATTEMPTS = 2
_FIRST_PAUSE, _LONGEST_PAUSE = 5.0, 60.0
_CONDITIONS = ("DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")
_EXCEPTIONS = (
    "java.net.ConnectException",
    "java.net.NoRouteToHostException",
    "java.net.SocketException",
    "java.net.SocketTimeoutException",
    "java.net.UnknownHostException",
    "SlowDown",
    "503 Service Unavailable",
)


def is_transient(error: BaseException) -> bool:
    """Whether trying again may help."""
    if is_disk_full(error):
        return False
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    if (condition_of(error) or "").startswith(_CONDITIONS):
        return True
    return any(name in text for text in causes(error) for name in (*_CONDITIONS, *_EXCEPTIONS))


def flow_attempts(conf: Mapping[str, str], *, production: bool) -> int:
    """How often a flow is tried again: never in development."""
    if not production:
        return 0
    lower = {key.lower(): value for key, value in conf.items()}
    return int(lower.get(_ATTEMPTS, lower.get(f"spark.sql.{_ATTEMPTS}", _DEFAULT_ATTEMPTS)))


def with_retries(
    work: Callable[[], Waiting[T]],
    retries: int,
    *,
    note: Callable[[Exception, int], None],
    pause: Callable[[float], None] = time.sleep,
) -> Waiting[T]:
    """What `work` gives; after a transient failure it is called again, `retries` times at most.

    `note` hears of each failure that is followed by another try, with its number. The last one goes through.
    """
    for attempt in range(retries):
        try:
            return (yield from work())
        except Exception as error:
            if not is_transient(error):
                raise
            note(error, attempt + 1)
            pause(min(_FIRST_PAUSE * 2**attempt, _LONGEST_PAUSE))
    return (yield from work())
