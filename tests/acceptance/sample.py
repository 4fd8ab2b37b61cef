"""What a sample is: which files of a public repository, which input, and what must come out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Place", "Row", "Rows", "Sample"]

Row = Mapping[str, Any]
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Place:
    """Where a sample runs: its catalog and schema, and how paths of the platform lead to folders."""

    catalog: str
    schema: str
    local: Callable[[str], Path]
    spark: SparkSession

    def volume(self, path: str) -> str:
        """A path in a volume of the sample's own schema."""
        return f"/Volumes/{self.catalog}/{self.schema}/{path}"

    def text(self, path: str, text: str) -> None:
        """Write a file."""
        file = self.local(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def lines(self, path: str, rows: list[Row]) -> None:
        """Write rows as one JSON object a line."""
        self.text(path, "".join(json.dumps(row) + "\n" for row in rows))

    def stored(self, path: str, query: str, format: str = "parquet") -> None:
        """Write the rows of a query."""
        self.spark.sql(query).write.format(format).mode("overwrite").save(path)


@dataclass(frozen=True)
class Sample:
    """One public pipeline. `expected`: a query over `{schema}` and its rows, sorted.

    `stand_ins` are files of our own by name, for what a pipeline takes from elsewhere: a package that is no
    dependency here, a function of the platform that only a model can answer.
    """

    key: str
    repository: str
    sources: tuple[str, ...]
    features: tuple[str, ...]
    expected: Mapping[str, Rows]
    configuration: Callable[[Place], dict[str, str]] = field(default=lambda _: {})
    prepare: Callable[[Place], None] = field(default=lambda _: None)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
