"""Names that a misspelt one may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["near"]


def near(asked: str, known: Iterable[str], *, most: int = 3) -> list[str]:
    """The names of `known` closest to `asked`, best first; upper and lower case count as equal."""
    by_fold = {name.casefold(): name for name in known}
    matches = difflib.get_close_matches(asked.casefold(), by_fold, n=most, cutoff=0.6)
    return [by_fold[match] for match in matches]
