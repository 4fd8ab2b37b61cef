"""The Python data source behind a batch of files; Spark's side, thin on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from lakeward.autoloader.plan import PLAN_OPTION, ReadPlan

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

    from lakeward.autoloader.discovery import FileStatus

__all__ = ["FILES_OPTION", "FilesDataSource"]

FILES_OPTION = "lakeward.files"


class FilesOfTask(InputPartition):
    """The files of one task."""

    def __init__(self, files: list[FileStatus]) -> None:
        self.files = files


class FilesDataSource(DataSource):
    """Reads the files of a list under a plan, both made by `FileSource.frame`."""

    @classmethod
    def name(cls) -> str:
        """Not for users: they name a path, never a list."""
        return "lakeward_files"

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader; Spark finds the parameter by its name."""
        return FilesReader(self.options[PLAN_OPTION], self.options[FILES_OPTION], schema)


class FilesReader(DataSourceReader):
    """Tasks on the driver, rows in the workers."""

    def __init__(self, plan: str, listed: str, schema: StructType) -> None:
        self._plan_text, self._listed, self._schema = plan, listed, schema

    def partitions(self) -> Sequence[InputPartition]:
        """The files, in about as many groups as there are cores."""
        from lakeward.autoloader.discovery import FileStatus
        from lakeward.autoloader.tasks import groups

        rows = json.loads(Path(self._listed).read_text(encoding="utf-8", errors="surrogateescape"))
        plan = ReadPlan.from_json(self._plan_text)
        return [FilesOfTask(group) for group in groups([FileStatus(*row) for row in rows], plan.parallelism)]

    def read(self, partition: InputPartition | None) -> Iterator[RecordBatch]:
        """In a worker: Arrow batches of these files; none for the one task that Spark runs without files."""
        from lakeward.autoloader.readers import read

        if not isinstance(partition, FilesOfTask):
            return iter(())
        return read(ReadPlan.from_json(self._plan_text), self._schema, partition.files, ("", 0, 0))
