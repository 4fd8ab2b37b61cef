"""When a resident JVM is used."""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["is_wanted", "use_resident"]

_OFF = ("", "0", "false", "no")

_by_command = False


def use_resident() -> None:
    """Say that this process is a command of ours: it uses a resident JVM where the environment allows it."""
    global _by_command  # noqa: PLW0603  # said once, before the session exists
    _by_command = True


def is_wanted(environ: Mapping[str, str] = os.environ, *, by_command: bool | None = None) -> bool:
    """Whether this process is to use one.

    Never in CI (CI is set) and never with LAKEWARD_COLD=1. Else LAKEWARD_RESIDENT=1 and 0 decide; without
    it our own commands do, but not below pytest, whose tests would share what they are to keep apart.
    """
    if _is_on(environ.get("CI")) or _is_on(environ.get("LAKEWARD_COLD")):
        return False
    if "LAKEWARD_RESIDENT" in environ:
        return _is_on(environ["LAKEWARD_RESIDENT"])
    if "PYTEST_CURRENT_TEST" in environ or "PYTEST_VERSION" in environ:
        return False
    return _by_command if by_command is None else by_command


def _is_on(value: str | None) -> bool:
    return value is not None and value.strip().lower() not in _OFF
