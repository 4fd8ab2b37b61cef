"""Names of datasets: one to three parts, in any case, with or without back quotes (spec §1.3-R8)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

__all__ = ["Home", "did_you_mean", "parts", "quoted", "without_live"]

_PART = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([^`.\s][^`.]*?))\s*(\.|$)")


def parts(name: str) -> tuple[str, ...]:
    """Split a name at its dots.

    >>> parts("main.`odd.name`.t")
    ('main', 'odd.name', 't')

    Raises ValueError for text that is no name.
    """
    found: list[str] = []
    at = 0
    while True:
        match = _PART.match(name, at)
        if match is None:
            raise ValueError(f"`{name}` is not a dataset name")
        found.append(match[1].replace("``", "`") if match[1] is not None else match[2])
        at = match.end()
        if match[3] != ".":
            return tuple(found)


def quoted(names: Iterable[str]) -> str:
    """The name as SQL takes it, every part in back quotes."""
    return ".".join("`" + name.replace("`", "``") + "`" for name in names)


def without_live(names: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the legacy schema `LIVE`, which today means nothing (spec §4)."""
    return names[1:] if len(names) == 2 and names[0].lower() == "live" else names


@dataclass(frozen=True)
class Home:
    """The catalog and schema of a pipeline: what shorter names are completed with."""

    catalog: str
    schema: str

    def full(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Three parts, in lower case, as the catalog keeps them."""
        return tuple(part.lower() for part in (self.catalog, self.schema)[: 3 - len(names)] + names)

    def short(self, full: tuple[str, ...]) -> str:
        """The shortest name that means `full` here."""
        home = (self.catalog.lower(), self.schema.lower())
        if full[:2] == home:
            return full[2]
        return ".".join(full[1:] if full[0] == home[0] else full)


def did_you_mean(asked: str, known: Iterable[str]) -> str | None:
    """The sentence that names the nearest of `known`, None when nothing is near."""
    by_fold = {name.casefold(): name for name in known}
    near = get_close_matches(asked.casefold(), by_fold, n=3, cutoff=0.6)
    if not near:
        return None
    return "Did you mean " + " or ".join(f"`{by_fold[name]}`" for name in near) + "?"
