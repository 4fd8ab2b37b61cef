"""What a stream reads and how, decided when the DataFrame is defined, carried to every reading process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.discovery import Lister, Names, storage_of
from lakeward.autoloader.options import Options
from lakeward.session.paths import PathMap

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["METADATA", "PLAN_OPTION", "ReadPlan"]

PLAN_OPTION = "lakeward.plan"
METADATA = "_metadata"


@dataclass(frozen=True)
class ReadPlan:
    """Everything but the limits and filters of discovery, which stay in the options.

    `source` is a local path or URI, `columns` the data columns as Spark's schema JSON (without rescued,
    partition and metadata columns, with the corrupt-record column if it is declared). `skipped` is a
    folder for notes on files that were left out; `metadata` whether rows have to say which file they are of.
    """

    token: str
    rendezvous: str
    source: str
    shown_source: str
    paths: tuple[tuple[str, str], ...]
    format: str
    columns: str
    mode: str
    rescued: str | None = None
    rescue_path: bool = True
    corrupt: str | None = None
    partitions: tuple[str, ...] = ()
    schema_location: str | None = None
    given_schema: bool = False
    infer_types: bool = False
    case_sensitive: bool = True
    time_zone: str = "UTC"
    parallelism: int = 1
    skipped: str | None = None
    metadata: bool = True
    options: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> str:
        """The plan as text, for an option of the data source."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ReadPlan:
        """The plan that `as_json` wrote."""
        fields: dict[str, Any] = json.loads(text)
        fields["paths"] = tuple((prefix, folder) for prefix, folder in fields["paths"])
        fields["partitions"] = tuple(fields["partitions"])
        return cls(**fields)

    @property
    def names(self) -> Names:
        """Names of files under this plan's path map."""
        return Names(PathMap(self.paths))

    @property
    def set_options(self) -> Options:
        """The user's options."""
        return Options.of(self.options)

    @property
    def evolves(self) -> bool:
        """Whether unknown fields stop the stream once and then become columns."""
        return self.mode.startswith("addNewColumns")

    @cached_property
    def pinned(self) -> frozenset[str]:
        """Columns whose type a hint fixes, in lower case."""
        from pyspark.sql.types import NullType

        from lakeward.autoloader.schema.hints import parse_hints

        text = self.set_options.text("cloudFiles.schemaHints")
        return frozenset(path[0].lower() for path, _ in parse_hints(text or "", lambda _: NullType()))

    def data_schema(self) -> StructType:
        """The data columns as a Spark type."""
        from pyspark.sql.types import StructType

        return StructType.fromJson(json.loads(self.columns))

    def lister(self) -> Lister:
        """Discovery as the options ask for it."""
        return lister_of(self.source, self.names, self.set_options)


def lister_of(source: str, names: Names, options: Options) -> Lister:
    """Discovery of a source under a set of options."""
    return Lister(
        source=source,
        storage=storage_of(source),
        names=names,
        strict=options.flag("cloudFiles.useStrictGlobber"),
        name_glob=options.name_glob,
        ignored=str(options.text("ignoredPathSegmentRegex")),
        modified=options.modified,
    )
