"""Tables that are read and that nothing in the repository makes: they need a seed."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from lakeward.check.model import Finding, Use
from lakeward.check.verdicts.words import SERVED
from lakeward.databricks_shims import provided_tables
from lakeward.seeds import seed_hint
from lakeward.session import INFORMATION_SCHEMA

HOLE = "{…}"
_PART = re.compile(r"`((?:[^`]|``)*)`|([^.`]+)")
# `orders@v3`, `orders@20260131235959999`: an older version of the table.
_VERSION = re.compile(r"@(?:v(?:\d+|\{…\})|\d{17}|\{…\})$", re.IGNORECASE)


def seeds_needed(uses: Iterable[Use], known: Collection[str]) -> Iterator[Finding]:
    """Yield one finding for each read of a table that no use creates and that is not `known`.

    Names meet when one ends in the other, part for part and in any case; a hole meets everything, but a
    table whose own name is a hole is skipped.
    """
    uses = list(uses)
    created = CreatedTables(
        [*(parts_of(use.name) for use in uses if use.kind == "creates"), *(parts_of(name) for name in known)]
    )
    given = {parts_of(name) for name in provided_tables()}
    for use in uses:
        parts = parts_of(use.name) if use.kind == "reads" else ()
        if not parts or parts[-1] == HOLE:
            continue
        name = ".".join(parts)
        if parts in given:
            yield Finding("runs_with_lakeward", f"table {name}", use.place, SERVED)
        elif parts in created:
            continue
        elif "information_schema" in parts[:-1]:
            yield _information_schema_finding(name, parts[-1], use)
        else:
            yield Finding("needs_seed", f"table {name}", use.place, seed_hint(name))


class CreatedTables:
    """Names of tables that code creates, by their last part, so that a name is compared with few others."""

    def __init__(self, names: Iterable[tuple[str, ...]]) -> None:
        self._by_last: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        self._with_hole: list[tuple[str, ...]] = []
        for parts in names:
            if parts and HOLE in parts[-1]:
                self._with_hole.append(parts)
            elif parts:
                self._by_last[parts[-1]].append(parts)

    def __contains__(self, parts: tuple[str, ...]) -> bool:
        """Return whether one of the names may be that of the table."""
        last = parts[-1]
        alike = self._by_last.get(last, []) if HOLE not in last else chain(*self._by_last.values())
        return any(names_match(parts, each) for each in chain(alike, self._with_hole))


def _information_schema_finding(name: str, view: str, use: Use) -> Finding:
    if view in INFORMATION_SCHEMA or HOLE in view:
        return Finding("runs_with_lakeward", "information_schema", use.place, SERVED)
    cure = f"The information schema has {', '.join(INFORMATION_SCHEMA)} here."
    return Finding("refused", f"table {name}", use.place, cure)


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a table's name in lower case, without backticks, `LIVE.` and the version."""
    found = tuple(
        (match[1].replace("``", "`") if match[1] is not None else match[2]).strip().lower()
        for match in _PART.finditer(_VERSION.sub("", name))
    )
    return found[1:] if len(found) == 2 and found[0] == "live" else found


def names_match(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether one name may end in the other, part for part."""
    return all(may_be_equal(a, b) for a, b in zip(reversed(one), reversed(other), strict=False))


def may_be_equal(one: str, other: str) -> bool:
    """Return whether two names may be equal; a hole (`{…}`) in one of them fits any text."""
    if one == other:
        return True
    if HOLE not in one and HOLE not in other:
        return False
    return _fits(one, other) or _fits(other, one)


def _fits(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split(HOLE))), name) is not None
