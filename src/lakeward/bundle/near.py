"""Near misses: what a mistyped name was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["is_near", "suggestion"]


def suggestion(name: str, known: Iterable[str], *, what: str) -> str:
    """Return the sentence that follows "there is no `name`".

    It names the closest of `known` when one is close, and always all of them when they are few.

    >>> suggestion("dve", ["dev", "prod"], what="targets")
    'Did you mean `dev`? Known targets: dev, prod.'
    """
    names = sorted(known)
    if not names:
        return f"The bundle has no {what}."
    close = get_close_matches(name, names, n=3, cutoff=0.55)
    guess = f"Did you mean {' or '.join(f'`{match}`' for match in close)}? " if close else ""
    listed = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"{guess}Known {what}: {listed}."


def is_near(name: str, known: Iterable[str]) -> bool:
    """Tell whether `name` is not in `known` but close enough to one of them to be a slip of the keyboard."""
    names = set(known)
    return name not in names and bool(get_close_matches(name, names, n=1, cutoff=0.75))
