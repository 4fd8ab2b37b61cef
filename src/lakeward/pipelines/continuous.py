"""Continuous mode: one pass over the pipeline after another, until somebody asks for an end."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from lakeward.errors import ConfigurationError

__all__ = ["seconds_between", "stopping"]

_INTERVAL = "pipelines.trigger.interval"
_DEFAULT_SECONDS = 5.0
_UNITS = {"ms": 0.001, "millisecond": 0.001, "s": 1.0, "second": 1.0, "m": 60.0, "min": 60.0, "minute": 60.0}
_UNITS |= {"h": 3600.0, "hour": 3600.0, "d": 86400.0, "day": 86400.0}
_TEXT = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")


def seconds_between(conf: Mapping[str, str]) -> float:
    """The seconds between two passes, by `pipelines.trigger.interval`. Raises ConfigurationError.

    >>> seconds_between({"pipelines.trigger.interval": "1 minute 30 seconds"})
    90.0
    """
    given = next((value for key, value in conf.items() if key.lower() == _INTERVAL), None)
    if given is None:
        return _DEFAULT_SECONDS
    text = given.strip().lower().removeprefix("interval ")
    found = _TEXT.findall(text)
    units = [_UNITS.get(unit) or _UNITS.get(unit.removesuffix("s")) for _, unit in found]
    if not found or None in units or _TEXT.sub("", text).strip():
        raise ConfigurationError(
            "INVALID_TRIGGER_INTERVAL",
            f"{_INTERVAL} is `{given}`, which is no length of time.",
            next_step="Write a number with its unit: 10 seconds, 1 minute, 1 hour.",
        )
    return sum(float(number) * unit for (number, _), unit in zip(found, units, strict=True) if unit)


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """A block in which SIGTERM sets the event instead of ending the process."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGTERM, lambda *_: asked.set())
    try:
        yield asked
    finally:
        signal.signal(signal.SIGTERM, before)
