"""Dataset names: one to three parts, in any case, with or without backquotes."""

from __future__ import annotations

import re
from dataclasses import dataclass

Key = tuple[str, ...]
"""Identity of a dataset: catalog, schema and name in lower case; one part for views and sinks."""

_PART = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([^`.\s][^`.]*?))\s*(\.|$)")


def split_name(name: str) -> tuple[str, ...]:
    """Split a name at its dots. Raises ValueError for invalid names.

    >>> split_name("main.`odd.name`.t")
    ('main', 'odd.name', 't')
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


def without_live(names: tuple[str, ...]) -> tuple[str, ...]:
    """Remove the legacy schema `LIVE`, which has no effect (SDP-4)."""
    return names[1:] if len(names) == 2 and names[0].lower() == "live" else names


@dataclass(frozen=True)
class DefaultSchema:
    """The catalog and schema that qualify the short names of a pipeline."""

    catalog: str
    schema: str

    def qualify(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the name with three parts in lower case, as the catalog stores it."""
        return tuple(part.lower() for part in (self.catalog, self.schema)[: 3 - len(names)] + names)

    def short(self, full: tuple[str, ...]) -> str:
        """Return the shortest name that refers to the qualified name `full`."""
        default_schema = (self.catalog.lower(), self.schema.lower())
        if full[:2] == default_schema:
            return full[2]
        return ".".join(full[1:] if full[0] == default_schema[0] else full)
