"""The read plan: what a stream reads and how, fixed at definition and sent to every reader process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.discovery import FileLister, FileNames, open_storage
from lakeward.autoloader.options import Options
from lakeward.session.paths import PathMap

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

PLAN_OPTION = "lakeward.plan"
METADATA = "_metadata"


@dataclass(frozen=True)
class ReadPlan:
    """Everything a reader process needs, except discovery limits and filters, which stay in the options.

    Attributes:
        token: Identifies the source in the checkpoint handoff.
        handoff_dir: Directory of the checkpoint handoff.
        source: Local path or URI.
        source_key: Key of the listed directory.
        paths: Path map entries of the lakehouse.
        columns: Data columns as Spark's schema JSON: without rescued, partition and metadata columns, with
            the corrupt-record column if it is declared.
        mode: Schema evolution mode.
        rescued: Name of the rescued data column.
        corrupt: Name of the corrupt-record column.
        skipped: Directory of the markers of skipped files.
        metadata: Whether rows carry `_metadata`.
    """

    token: str
    handoff_dir: str
    source: str
    source_key: str
    paths: tuple[tuple[str, str], ...]
    format: str
    columns: str
    mode: str
    rescued: str | None = None
    rescue_path: bool = True
    corrupt: str | None = None
    partitions: tuple[str, ...] = ()
    schema_location: str | None = None
    has_user_schema: bool = False
    infer_types: bool = False
    case_sensitive: bool = True
    time_zone: str = "UTC"
    parallelism: int = 1
    skipped: str | None = None
    metadata: bool = True
    options: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> str:
        """Serialize the plan for an option of the data source."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ReadPlan:
        """Parse the result of `as_json`."""
        fields: dict[str, Any] = json.loads(text)
        fields["paths"] = tuple((prefix, folder) for prefix, folder in fields["paths"])
        fields["partitions"] = tuple(fields["partitions"])
        return cls(**fields)

    @property
    def names(self) -> FileNames:
        """File names under this plan's path map."""
        return FileNames(PathMap(self.paths))

    @property
    def user_options(self) -> Options:
        """Return the user's options."""
        return Options.of(self.options)

    @property
    def evolves(self) -> bool:
        """Return whether unknown fields fail the stream once and then become columns."""
        return self.mode.startswith("addNewColumns")

    @cached_property
    def pinned(self) -> frozenset[str]:
        """Columns whose type a hint fixes, in lower case."""
        from pyspark.sql.types import NullType

        from lakeward.autoloader.options.schema_hints import parse_hints

        text = self.user_options.text("cloudFiles.schemaHints")
        return frozenset(path[0].lower() for path, _ in parse_hints(text or "", lambda _: NullType()))

    def data_schema(self) -> StructType:
        """Return the data columns as a Spark type."""
        from pyspark.sql.types import StructType

        return StructType.fromJson(json.loads(self.columns))

    def lister(self) -> FileLister:
        """Return a lister configured by the options."""
        return create_lister(self.source, self.names, self.user_options)


def create_lister(source: str, names: FileNames, options: Options) -> FileLister:
    """Return a lister of a source, configured by options."""
    return FileLister(
        source=source,
        storage=open_storage(source),
        names=names,
        strict=options.flag("cloudFiles.useStrictGlobber"),
        name_glob=options.name_glob,
        ignored=str(options.text("ignoredPathSegmentRegex")),
        modified=options.modified,
    )
