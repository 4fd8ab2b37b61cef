"""The table of functions of geometries, which the Java classes read, too (`session/jvm/GeoTable.java`)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.session.jvm.jvm_jar import FUNCTION_TABLE

_ROW = re.compile(r"(\w+)\((.*)\) -> (\S+)")


@dataclass(frozen=True)
class GeospatialFunction:
    """A function: the kinds of its arguments, of which the last ones are optional, and of its result."""

    name: str
    arguments: tuple[str, ...]
    required: int
    result: str

    @property
    def signature(self) -> str:
        """Return the call as the documentation writes it.

        >>> GeospatialFunction("f", ("geo", "int"), 1, "double").signature
        'f(geo[, int])'
        """
        optional = "".join(f"[, {each}]" for each in self.arguments[self.required :])
        return f"{self.name}({', '.join(self.arguments[: self.required])}{optional})"


def geospatial_functions() -> tuple[GeospatialFunction, ...]:
    """Return the rows of the table, in its order."""
    rows = []
    for line in FUNCTION_TABLE.read_text(encoding="utf-8").splitlines():
        row = None if line.startswith("#") else _ROW.fullmatch(line)
        if row is not None:
            kinds = row[2].split(", ")
            names = tuple(kind.removesuffix("?") for kind in kinds)
            rows.append(GeospatialFunction(row[1], names, sum(not k.endswith("?") for k in kinds), row[3]))
    return tuple(rows)
