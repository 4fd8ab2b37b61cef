"""Suggest known names for a mistyped one.

One similarity threshold serves every message with "Did you mean …?": difflib's ratio of at least `CUTOFF`,
compared without regard to case. 0.6 finds one wrong, missing or transposed character in names of three
characters ("dve" → "dev", ratio 0.67) and rarely pairs names that only share a prefix.
"""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches

CUTOFF = 0.6
# Where a match decides that a name is an error, false positives cost more than missed typos.
TYPO_CUTOFF = 0.75

_MISSING_IMPORT = re.compile(r"cannot import name '(?P<name>\w+)'")
NOTEBOOK_NAMES = frozenset(("spark", "sc", "sqlContext", "dbutils", "display", "displayHTML"))
"""Names that notebooks and source files have without an import, and modules that they import have not."""


def close_matches(name: str, known: Iterable[str], *, max_matches: int = 3) -> list[str]:
    """Return the names of `known` that resemble `name`, best first, ignoring case.

    >>> close_matches("dve", ["dev", "prod"])
    ['dev']
    >>> close_matches("ORDERS", ["orders"])
    ['orders']
    >>> close_matches("Windw", ["Window", "window"])
    ['Window']
    """
    by_fold: dict[str, list[str]] = {}
    for each in known:
        by_fold.setdefault(each.casefold(), []).append(each)
    matches = get_close_matches(name.casefold(), by_fold, n=max_matches, cutoff=CUTOFF)
    return [
        max(by_fold[match], key=lambda each: SequenceMatcher(None, each, name).ratio()) for match in matches
    ]


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


def similar_python_names(error: BaseException) -> str | None:
    """Return the sentence that suggests a name for a mistyped attribute, variable or import of Python.

    The interpreter's own suggestions are part of tracebacks only, and users read messages.

    >>> try:
    ...     "a".uper()
    ... except AttributeError as error:
    ...     similar_python_names(error)
    'Did you mean `upper`?'
    """
    name, known = _missing_name(error)
    if isinstance(error, NameError) and (name in NOTEBOOK_NAMES or name in sys.stdlib_module_names):
        # They lack an import, and are no typo.
        return None
    # A name that exists is refused, as `spark.sparkContext` on serverless compute. And names of one or two
    # characters are close to every other short one.
    if name in known or len(name) < 3:
        return None
    public = (each for each in known if name.startswith("_") or not each.startswith("_"))
    close = close_matches(name, public, max_matches=1)
    return f"Did you mean `{close[0]}`?" if close else None


def _missing_name(error: BaseException) -> tuple[str, list[str]]:
    if isinstance(error, AttributeError) and error.name and error.obj is not None:
        try:
            return error.name, dir(error.obj)
        except Exception:  # noqa: BLE001  # DataFrames analyze their query to list columns
            return error.name, dir(type(error.obj))
    if isinstance(error, NameError) and error.name:
        return error.name, _visible_names(error)
    found = _MISSING_IMPORT.match(str(error)) if isinstance(error, ImportError) else None
    if found and isinstance(error, ImportError) and error.name in sys.modules:
        return found["name"], dir(sys.modules[error.name])
    return "", []


def _visible_names(error: BaseException) -> list[str]:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return []
    return [*trace.tb_frame.f_locals, *trace.tb_frame.f_globals, *dir(builtins)]
