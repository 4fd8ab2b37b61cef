"""Turn files in syntax of a newer Python into advice where the runtime has that Python.

The Python of each runtime is in its release notes, "System environment":
https://docs.databricks.com/aws/en/release-notes/runtime/
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from lakeward.check.model import Finding, Unread
from lakeward.python_grammar import Version, format_version

# The first runtime of each version.
_PYTHONS: tuple[tuple[int, Version], ...] = ((16, (3, 12)), (15, (3, 11)), (13, (3, 10)))


def python_of(profile: str) -> Version:
    """Return the Python version of a runtime; serverless compute has that of the newest."""
    major = re.match(r"\d+", profile)
    found = int(major[0]) if major else sys.maxsize
    return next((python for first, python in _PYTHONS if found >= first), _PYTHONS[-1][1])


def newer_grammar(unread: Iterable[Unread], profile: str) -> tuple[list[Finding], list[Unread]]:
    """Turn files that the runtime's Python reads into advice; return the advice and the other files."""
    advice, rest = [], []
    runtime, here = python_of(profile), sys.version_info[:2]
    for each in unread:
        if each.python is None or each.python > runtime:
            rest.append(each)
            continue
        if each.is_scanned:
            # Its f-strings are compiled on this Python, too.
            continue
        needed = format_version(each.python)
        cure = (
            f"Run lakeward with Python {needed} or later, as runtime {profile} has; this is "
            f"{format_version(here)}, and the code of the file was not looked at."
        )
        advice.append(Finding("differs", f"Python {needed} syntax", each.place, cure))
    return advice, rest
