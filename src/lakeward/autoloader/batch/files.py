"""A folder of files to be read once: which there are, what columns they have, and their rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.discovery import FileStatus, Lister, Names
from lakeward.autoloader.options import Options
from lakeward.autoloader.places import current_names, rendezvous
from lakeward.autoloader.plan import METADATA, PLAN_OPTION, lister_of
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from lakeward.autoloader.schema import Resolved

__all__ = ["FileSource", "Rescue", "detected_format"]

_ENDINGS = {
    **dict.fromkeys(("json", "jsonl", "ndjson"), "json"),
    **dict.fromkeys(("csv", "tsv"), "csv"),
    **dict.fromkeys(("txt", "text", "log"), "text"),
    **{name: name for name in ("avro", "orc", "parquet", "xml")},
}
_PACKED = (".gz", ".bz2", ".zst", ".zstd", ".deflate", ".snappy", ".lz4")


@dataclass(frozen=True)
class Rescue:
    """The column for what has no place; `name` None: there is none."""

    name: str | None


@dataclass(frozen=True)
class FileSource:
    """Files below one path, under a set of options; `source` is local or a store's URI."""

    options: Options
    names: Names
    source: str

    @classmethod
    def of(cls, path: str, given: Mapping[str, str]) -> FileSource:
        """What a user's path and options (keys as Auto Loader has them) mean in the running lakehouse."""
        names = current_names()
        return cls(Options.of(given), names, names.local(path))

    @property
    def shown(self) -> str:
        """The path as users know it."""
        return self.names.key(self.source)

    @property
    def lister(self) -> Lister:
        """Discovery of these files."""
        return lister_of(self.source, self.names, self.options)

    def having(self, **options: str) -> FileSource:
        """The same with further options; `format` and `inferColumnTypes` are those of cloudFiles."""
        return replace(self, options=Options.of({**self.options.given, **options}))

    def files(self, known: Callable[[str], bool] = lambda _: False) -> list[FileStatus]:
        """The files whose key is not known, oldest first. FileNotFoundError without a source."""
        return self.lister.new(known)

    def require(self) -> None:
        """FileNotFoundError without a source."""
        next(iter(self.lister.storage.walk(self.lister.root, lambda _: True)), None)

    def columns(self, files: Sequence[FileStatus], *, of: Sequence[FileStatus] | None = None) -> Resolved:
        """The columns of `files`, inferred from `of` or from all of them, with hints applied.

        Raises CloudFilesError where nothing can be inferred.
        """
        from pyspark.sql.types import StructType

        from lakeward.autoloader.options.checks import has_fixed_schema
        from lakeward.autoloader.schema import Resolved, hinted
        from lakeward.autoloader.schema.fixed import fixed_schema
        from lakeward.autoloader.schema.partitions import partition_schema
        from lakeward.autoloader.schema.sampling import infer_files

        if has_fixed_schema(self.options):
            partitions = partition_schema(self._below(files), self.options, None)
            return Resolved(fixed_schema(self.options), partitions, "none", None)
        if not files:
            raise CloudFilesError(
                "CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE",
                f"Cannot infer schema when the input path {self.shown} is empty.",
                next_step="Put files in it, or name the columns with `schema`.",
            )
        partitions = partition_schema(self._below(files), self.options, None)
        data = infer_files(list(files if of is None else of), self.options, also_orc=True)
        own = StructType([field for field in data.fields if field.name not in partitions.names])
        data, partitions = hinted(self.options, (own, partitions))
        return Resolved(data, partitions, "rescue", None)

    def given(self, files: Sequence[FileStatus], schema: StructType, rescue: Rescue) -> Resolved:
        """The columns that the user named: partition columns are those of them that the paths have."""
        from pyspark.sql.types import StructType

        from lakeward.autoloader.schema import Resolved
        from lakeward.autoloader.schema.partitions import partition_schema

        partitions = partition_schema(self._below(files[:1]), self.options, schema)
        data = [field for field in schema.fields if field.name != rescue.name]
        return Resolved(StructType(data), partitions, "none", None)

    def frame(
        self,
        spark: SparkSession,
        files: Sequence[FileStatus],
        columns: Resolved,
        *,
        rescue: Rescue,
        given: StructType | None = None,
        skipped: Path | None = None,
    ) -> DataFrame:
        """The rows of `files`, with the hidden column `_metadata`.

        `skipped`: a folder for readers' notes on files that they left out.
        """
        from pyspark.sql.types import StructType

        from lakeward.autoloader.batch.source import FILES_OPTION, FilesDataSource
        from lakeward.autoloader.definition import columns_of, plan_of
        from lakeward.autoloader.hidden import hide_metadata, raw_metadata
        from lakeward.autoloader.hooks import register

        plan = plan_of(
            *(spark, self.options, self.names, self.source, columns),
            rescued=rescue.name,
            given=given,
            rendezvous=rendezvous(),
        )
        plan = replace(plan, skipped=None if skipped is None else str(skipped))
        listed = rendezvous() / f"{plan.token}.files"
        listed.write_text(json.dumps(list(files)), encoding="utf-8", errors="surrogateescape")
        shown = columns_of(columns, plan.rescued, given)
        own_metadata = METADATA in shown.names
        metadata = [] if own_metadata else [raw_metadata()]
        register(spark, FilesDataSource)
        reader: Any = spark.read.format(FilesDataSource.name()).schema(StructType([*shown.fields, *metadata]))
        raw = reader.option(PLAN_OPTION, plan.as_json()).option(FILES_OPTION, str(listed)).load()
        return raw if own_metadata else hide_metadata(raw, shown.names)

    def _below(self, files: Sequence[FileStatus]) -> list[str]:
        root = self.names.key(self.lister.root)
        return [status.key[len(root) :] for status in files]


def detected_format(files: Sequence[FileStatus], shown: str) -> str:
    """The one format that the names of the files tell. Raises CF_UNABLE_TO_DETECT_FILE_FORMAT."""
    found = {_ENDINGS.get(_ending(status.key), "") for status in files}
    if len(found) == 1 and (name := found.pop()):
        return name
    told = ", ".join(sorted(name for name in found if name)) or "none"
    raise CloudFilesError(
        "CF_UNABLE_TO_DETECT_FILE_FORMAT",
        f"The format of the files in {shown} cannot be told from their names; they tell: {told}.",
        next_step="Name it: format => 'json'.",
    )


def _ending(key: str) -> str:
    name = key.rpartition("/")[2].lower()
    for packed in _PACKED:
        name = name.removesuffix(packed)
    return name.rpartition(".")[2]
