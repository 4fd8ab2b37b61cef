"""Names of tables, in one, two or three parts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakeward.errors import SeedError
from lakeward.quoting import quote_name

_PART = r"(?:`(?:[^`]|``)+`|[^.`]+)"
_NAME = re.compile(rf"{_PART}(?:\.{_PART}){{0,2}}")


@dataclass(frozen=True)
class TableName:
    """A table's catalog, schema and own name."""

    catalog: str
    schema: str
    table: str

    @classmethod
    def of(cls, text: str, *, catalog: str, schema: str) -> TableName:
        """Return the table that `text` names; `catalog` and `schema` stand for the parts that it leaves out.

        Raises SeedError for a text that is not a name.

        >>> TableName.of("s.`a.b`", catalog="main", schema="default")
        TableName(catalog='main', schema='s', table='a.b')
        """
        if _NAME.fullmatch(text) is None:
            raise SeedError(
                "SEED_NAME_INVALID",
                f"`{text}` is not a name of a table.",
                next_step="Write it as catalog.schema.table.",
            )
        found = re.findall(_PART, text)
        parts = [part[1:-1].replace("``", "`") if part[0] == "`" else part for part in found]
        return cls(*(catalog, schema)[: 3 - len(parts)], *parts)

    def __str__(self) -> str:
        return f"{self.catalog}.{self.schema}.{self.table}"

    @property
    def quoted(self) -> str:
        """Return the name as SQL takes it, whatever its parts are."""
        return quote_name((self.catalog, self.schema, self.table))
