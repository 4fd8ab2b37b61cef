"""Syntax of Python versions that are newer than the one that runs lakeward.

The Python of each runtime is in its release notes, "System environment":
https://docs.databricks.com/aws/en/release-notes/runtime/
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable

from lakeward.check.model import Finding, Unread

Version = tuple[int, int]

# The first runtime of each version.
_PYTHONS: tuple[tuple[int, Version], ...] = ((16, (3, 12)), (15, (3, 11)), (13, (3, 10)))

# What a version brought: its pattern in the line of the error, and the error of versions before it.
_SYNTAX: tuple[tuple[Version, str, str], ...] = (
    ((3, 11), r"^\s*except\s*\*", ""),
    ((3, 12), "", r"f-string expression part cannot include|f-string: expressions nested too deeply"),
    ((3, 12), r"""[fF][rR]?(["'])[^"']*\{[^}]*\1[^}]*\1[^}]*\}""", "f-string"),
    ((3, 12), r"^\s*type\s+[A-Za-z_]\w*\s*(?:\[.*\])?\s*=", ""),
    ((3, 12), r"^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[", ""),
    ((3, 14), r"""\b(?:[tT][rR]?|[rR][tT])["']""", "invalid syntax"),
    ((3, 14), r"^\s*except\s+[\w.]+\s*,", "parenthesized"),
)


def python_needed(source: str | bytes, error: SyntaxError) -> Version | None:
    """Return the Python version whose syntax the line of `error` uses; None if this version has it."""
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    number = error.lineno or 0
    # In an f-string inside brackets, Python 3.11 gives the line after it.
    line = "\n".join(text.split("\n")[max(0, number - 2) : number]) or error.text or ""
    for version, pattern, message in _SYNTAX:
        if (
            version > sys.version_info[:2]
            and re.search(pattern, line, re.MULTILINE)
            and re.search(message, error.msg, re.IGNORECASE)
        ):
            return version
    return None


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
        needed = _spelled(each.python)
        cure = (
            f"Run lakeward with Python {needed} or later, as runtime {profile} has; this is "
            f"{_spelled(here)}, and the code of the file was not looked at."
        )
        advice.append(Finding("differs", f"Python {needed} syntax", each.place, cure))
    return advice, rest


def _spelled(version: Version) -> str:
    return ".".join(map(str, version))
