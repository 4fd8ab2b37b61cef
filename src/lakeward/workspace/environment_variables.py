"""Environment variables of clusters: which ones the operating system takes."""

from __future__ import annotations

from collections.abc import Mapping

MAX_BYTES = 100_000
"""Bytes of all names and values. Linux limits one variable to 128 KB."""


def find_problem(variables: Mapping[str, str]) -> str | None:
    """Return why no process can start with these variables, without their values; None if one can."""
    size = 0
    for name, value in variables.items():
        if not name or "=" in name or "\0" in name:
            return f"{name!r:.100} cannot be the name of an environment variable"
        if "\0" in value:
            return f"the environment variable {name:.100} has a NUL character in it"
        size += len(name.encode(errors="replace")) + len(value.encode(errors="replace"))
    if size > MAX_BYTES:
        return f"the environment variables have {size} bytes, and at most {MAX_BYTES} are possible"
    return None
