"""Suggest known names for a mistyped one.

One similarity threshold serves every message with "Did you mean …?": difflib's ratio of at least `CUTOFF`,
compared without regard to case. 0.6 finds one wrong, missing or transposed character in names of three
characters ("dve" → "dev", ratio 0.67) and rarely pairs names that only share a prefix.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

CUTOFF = 0.6
# Where a match decides that a name is an error, false positives cost more than missed typos.
TYPO_CUTOFF = 0.75


def close_matches(name: str, known: Iterable[str], *, max_matches: int = 3) -> list[str]:
    """Return the names of `known` that resemble `name`, best first, ignoring case.

    >>> close_matches("dve", ["dev", "prod"])
    ['dev']
    >>> close_matches("ORDERS", ["orders"])
    ['orders']
    """
    by_fold = {each.casefold(): each for each in known}
    matches = get_close_matches(name.casefold(), by_fold, n=max_matches, cutoff=CUTOFF)
    return [by_fold[match] for match in matches]


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return the sentence that suggests the names closest to `name`; None if none resembles it.

    >>> did_you_mean("ordrs", ["orders", "customers"])
    'Did you mean `orders`?'
    """
    close = close_matches(name, known)
    return f"Did you mean {' or '.join(f'`{match}`' for match in close)}?" if close else None


def is_probable_typo(name: str, known: Iterable[str]) -> bool:
    """Return whether `name` is unknown but almost equal to a known name.

    >>> is_probable_typo("resorces", ["resources"]), is_probable_typo("env", ["var"])
    (True, False)
    """
    names = set(known)
    return name not in names and bool(get_close_matches(name, names, n=1, cutoff=TYPO_CUTOFF))


def unknown_name_hint(name: str, known: Iterable[str], *, what: str) -> str:
    """Return the sentences that follow "there is no `name`": the closest names, and the known ones.

    >>> unknown_name_hint("dve", ["dev", "prod"], what="targets")
    'Did you mean `dev`? Known targets: dev, prod.'
    """
    names = sorted(known)
    if not names:
        return f"The bundle has no {what}."
    listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    guess = did_you_mean(name, names)
    return f"{guess} Known {what}: {listed}." if guess else f"Known {what}: {listed}."
