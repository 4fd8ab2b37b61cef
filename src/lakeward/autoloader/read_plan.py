"""The read plan: what a stream reads and how, fixed at definition and sent to every reader process.

Spark does not pass the checkpoint to a Python stream reader, and the reader runs in a separate process.
`load` puts a token into the plan, `start` writes a file named by that token into a directory on the driver's
machine, and the reader claims it before its first offset.

The hidden column `_metadata` of a stream is that of Spark's own file source (AL-5.1). Readers emit it as one
string per row, or as null if the query does not reference it: six struct columns cost more than the rows of
many files. The query parses the string.
"""

from __future__ import annotations

import atexit
import heapq
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.atomic_files import atomic_write
from lakeward.autoloader.discovery.file_listing import FileLister, FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.discovery.storage import open_storage
from lakeward.autoloader.options.option_values import Options
from lakeward.errors import CloudFilesError
from lakeward.quoting import quote_identifier
from lakeward.session.paths import PathMap
from lakeward.spark_internals import JavaObject, analyzed_plan, jvm_view, scala_list

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructField, StructType


PLAN_OPTION = "lakeward.plan"
METADATA = "_metadata"
# The cost of opening a file, as the number of bytes read in the same time.
OPEN_COST_BYTES = 16 * 1024
# Larger partitions are split by files, to limit memory and the cost of a retry.
MAX_PARTITION_BYTES = 256 * 1024 * 1024


def distribute(sizes: Sequence[int], parallelism: int) -> list[list[int]]:
    """Distribute files or parts of these sizes over partitions of similar cost; return ascending indexes."""
    if not sizes:
        return []
    total = sum(sizes) + OPEN_COST_BYTES * len(sizes)
    count = min(len(sizes), max(parallelism, -(-total // MAX_PARTITION_BYTES)))
    loads = [(0, number) for number in range(count)]
    chosen: list[list[int]] = [[] for _ in range(count)]
    for index in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        load, number = heapq.heappop(loads)
        chosen[number].append(index)
        heapq.heappush(loads, (load + sizes[index] + OPEN_COST_BYTES, number))
    return [sorted(indexes) for indexes in chosen]


MIN_PART_BYTES = 32 * 1024 * 1024
"""Files are divided into parts of at least about this size."""


def part_size(sizes: Iterable[int], parallelism: int, most: int) -> int:
    """Return the size up to which a file of these sizes is read by one task; at most `most`."""
    return min(most, max(MIN_PART_BYTES, sum(sizes) // max(1, parallelism)))


def divide(size: int, limit: int) -> list[tuple[int, int]]:
    """Return first and last position (exclusive) of parts of similar size, none larger than `limit`."""
    length = -(-size // max(1, -(-size // limit)))
    return [(start, min(start + length, size)) for start in range(0, size, length)] if size else []


NANOS_AS_LONG = "spark.sql.legacy.parquet.nanosAsLong"
"""The session's setting that reads timestamps of Parquet in nanoseconds, as Pandas writes them, as BIGINT."""


def reads_nanos_as_long(spark: SparkSession) -> bool:
    """Return whether the session reads timestamps of Parquet in nanoseconds as BIGINT."""
    return str(spark.conf.get(NANOS_AS_LONG)).lower() == "true"


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
        scan_bytes: Mean size of files from which Spark's own readers read a batch (`scan_planning`); None for
            streams that the Python readers read.
        any_name: Whether Spark's readers read files whose names are not ASCII.
        nanos_as_long: Whether timestamps of Parquet in nanoseconds are BIGINT.
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
    scan_bytes: int | None = None
    any_name: bool = False
    nanos_as_long: bool = False
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


# Not allowed in file names.
_SEPARATOR = "\0"


def raw_metadata_field() -> StructField:
    """Return the column that readers emit."""
    from pyspark.sql.types import StringType, StructField

    return StructField(METADATA, StringType())


def encode_file_metadata(status: FileStatus) -> str:
    """Encode a file as the string that `_metadata_struct` parses."""
    path = FileNames.encode(status.key)
    # As in Spark, the name is the end of the path, encoded, too.
    return _SEPARATOR.join((path, path.rpartition("/")[2], str(status.size), str(status.mtime)))


def _metadata_struct() -> Column:
    from pyspark.sql import functions as F

    path, name, size, modified = (F.split(METADATA, _SEPARATOR)[index] for index in range(4))
    return F.struct(
        path.alias("file_path"),
        name.alias("file_name"),
        size.cast("bigint").alias("file_size"),
        F.lit(0).cast("bigint").alias("file_block_start"),
        size.cast("bigint").alias("file_block_length"),
        F.timestamp_micros(modified.cast("bigint")).alias("file_modification_time"),
    )


def hide_metadata(raw: DataFrame, columns: list[str]) -> DataFrame:
    """Turn the last column, `_metadata`, into a hidden column that stays resolvable."""
    quoted = [quote_identifier(name) for name in columns]
    marked = raw.select(*quoted, _metadata_struct().alias(METADATA, metadata={"__metadata_col": True}))
    shown = marked.select(*quoted)
    jvm: Any = jvm_view(raw.sparkSession)
    attribute = analyzed_plan(marked).output().last()
    project = getattr(getattr(jvm.org.apache.spark.sql.catalyst.plans.logical, "Project$"), "MODULE$")
    attributes = jvm.org.apache.spark.api.python.PythonUtils.toSeq([attribute])
    analyzed_plan(shown).setTagValue(project.hiddenOutputTag(), attributes)
    return shown


def references_metadata(df: DataFrame) -> bool:
    """Return whether the query references a `_metadata` column made by `hide_metadata`."""
    hidden, others = [], []
    for node in _plan_nodes(analyzed_plan(df)):
        if node.nodeName() == "Project" and _is_source(node.child()):
            hidden.append(node.output().last())
        else:
            others.append(node)
    return any(node.references().contains(attribute) for node in others for attribute in hidden)


def _plan_nodes(plan: JavaObject) -> Iterator[JavaObject]:
    yield plan
    for child in scala_list(plan.children()):
        yield from _plan_nodes(child)


def _is_source(plan: JavaObject) -> bool:
    return bool(plan.isStreaming()) and plan.children().isEmpty()


@cache
def handoff_directory() -> Path:
    """Return a directory of this process, removed at exit."""
    folder = Path(tempfile.mkdtemp(prefix="lakeward-cloudfiles-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


_TIMEOUT = 120.0


@dataclass(frozen=True)
class CheckpointOffer:
    """The state directory `<checkpoint>/sources/<n>`, and whether the query references `_metadata`."""

    state: str
    metadata: bool = True


def offer_checkpoints(handoff_dir: Path, token: str, bindings: list[CheckpointOffer]) -> None:
    """Write offers for the sources with this token; they are claimed in this order."""
    for number, binding in enumerate(bindings):
        atomic_write(handoff_dir / f"{token}.{number:04d}.note", json.dumps(asdict(binding)))


def pending_offers(handoff_dir: Path, token: str) -> list[Path]:
    """Return unclaimed offers in order."""
    return sorted(handoff_dir.glob(f"{token}.*.note"))


def withdraw_offers(handoff_dir: Path, token: str) -> None:
    """Remove unclaimed offers."""
    for note in pending_offers(handoff_dir, token):
        note.unlink(missing_ok=True)


def claim_checkpoint(handoff_dir: Path, token: str) -> CheckpointOffer:
    """Claim the next offer, waiting for it; raise CF_NO_CHECKPOINT on timeout."""
    deadline = time.monotonic() + _TIMEOUT
    while time.monotonic() < deadline:
        for note in pending_offers(handoff_dir, token):
            mine = note.with_suffix(f".{os.getpid()}")
            try:
                note.rename(mine)
            except FileNotFoundError:
                continue
            binding = CheckpointOffer(**json.loads(mine.read_text()))
            mine.unlink()
            return binding
        time.sleep(0.005)
    raise CloudFilesError(
        "CF_NO_CHECKPOINT",
        "The source has no checkpoint: the stream was not started by start() or toTable().",
        next_step="Start the stream with df.writeStream…start() or toTable(…).",
    )
