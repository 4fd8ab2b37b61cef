"""How scopes and keys may be called, and the environment variable that stands for one."""

from __future__ import annotations

import re

__all__ = ["checked", "variable_of"]

_NAME = re.compile(r"[A-Za-z0-9_@.-]{1,128}")


def checked(name: str, what: str) -> str:
    """A scope's or a key's name. Raises ValueError for what Databricks does not allow (§secrets API)."""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise ValueError(
            f"{name!r} cannot be the name of a {what}: "
            "letters, digits, `-`, `_`, `@` and `.` are allowed, up to 128 of them."
        )
    return name


def variable_of(scope: str, key: str) -> str:
    """The environment variable that holds a secret: LAKEWARD_SECRET_<SCOPE>_<KEY>."""
    return "LAKEWARD_SECRET_" + "_".join(re.sub(r"[^A-Za-z0-9]", "_", part).upper() for part in (scope, key))
