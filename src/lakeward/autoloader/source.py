"""The Python data source `cloudFiles`: Spark's side of the room, thin on purpose.

Spark pickles these classes to its planner and worker processes by reference, so everything dear is imported
where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

from lakeward.autoloader.plan import PLAN_OPTION, ReadPlan

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

    from lakeward.autoloader.discovery import FileStatus
    from lakeward.autoloader.tracker import Tracker

__all__ = ["CloudFilesDataSource"]


class FilesPartition(InputPartition):
    """The files of one task; `batch` says where the whole batch's list stands (state folder, from, to).

    `metadata` is whether the query looks at `_metadata`.
    """

    def __init__(self, files: list[FileStatus], batch: tuple[str, int, int], *, metadata: bool) -> None:
        self.files = files
        self.batch = batch
        self.metadata = metadata


class CloudFilesDataSource(DataSource):
    """`format("cloudFiles")`; its schema and plan were made at `load`."""

    @classmethod
    def name(cls) -> str:
        """The name in `format`, in any case."""
        return "cloudFiles"

    def schema(self) -> StructType:
        """Never asked: `load` always hands Spark a schema. Raises CF_UNSUPPORTED_USAGE."""
        from lakeward.autoloader.failures import unsupported_usage

        raise unsupported_usage()

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002  # as PySpark calls it
        """Raises CF_INCORRECT_BATCH_USAGE."""
        from lakeward.autoloader.failures import batch_usage

        raise batch_usage()

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802  # as PySpark names it
        """The reader; Spark finds the parameter by its name."""
        return CloudFilesStreamReader(self.options[PLAN_OPTION], schema)


class CloudFilesStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets and partitions on the driver, reading in the workers."""

    def __init__(self, plan: str, schema: StructType) -> None:
        self._plan_text = plan
        self._schema = schema
        self._plan: ReadPlan | None = None
        self._tracker: Tracker | None = None
        self._state = ""
        self._metadata = True

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plan": None, "_tracker": None}

    @property
    def plan(self) -> ReadPlan:
        """What `load` decided."""
        if self._plan is None:
            self._plan = ReadPlan.from_json(self._plan_text)
        return self._plan

    @property
    def tracker(self) -> Tracker:
        """Loaded on first use, when the checkpoint is known."""
        if self._tracker is None:
            from lakeward.autoloader.binding import claim

            binding = claim(Path(self.plan.rendezvous), self.plan.token)
            self._state, self._metadata = binding.state, binding.metadata
            self._tracker = _tracker(self.plan, Path(self._state))
        return self._tracker

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802  # as PySpark names it
        """Where a new stream starts."""
        return dict(self.tracker.initial())

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802  # as PySpark names it
        """The hard limit; the soft one is kept beside it."""
        return ReadMaxFiles(self.plan.set_options.max_files)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802  # as PySpark names it
        """Takes the next files; with trigger `once` all of them."""
        limited = not isinstance(limit, ReadAllAvailable)
        return dict(self.tracker.latest(start, limited=limited))  # type: ignore[arg-type]

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802  # as PySpark names it
        """How much waits behind the latest batch: a query's progress has no other way out of here."""
        backlog = self.tracker.backlog
        return {"numFilesOutstanding": len(backlog), "numBytesOutstanding": backlog.bytes}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802  # as PySpark names it
        """Files that arrive from here on are left to the next run."""
        self.tracker.freeze()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """The batch's files, in about as many groups as there are cores."""
        from lakeward.autoloader.tasks import groups

        files = self.tracker.files(start, end)  # type: ignore[arg-type]
        batch = (self._state, start["seqNum"], end["seqNum"])
        parts = groups(files, self.plan.parallelism)
        return [FilesPartition(group, batch, metadata=self._metadata) for group in parts]

    def read(self, partition: InputPartition) -> Iterator[RecordBatch]:
        """In a worker: Arrow batches of these files."""
        from lakeward.autoloader.readers import read
        from lakeward.autoloader.state import StateLog

        assert isinstance(partition, FilesPartition)
        skips = StateLog(Path(partition.batch[0])).skips
        plan = replace(self.plan, skipped=str(skips.folder), metadata=partition.metadata)
        return read(plan, self._schema, partition.files, partition.batch)


def _tracker(plan: ReadPlan, state: Path) -> Tracker:
    from lakeward.autoloader.cleaning import Cleaner, policy_of
    from lakeward.autoloader.state import Registry, StateLog
    from lakeward.autoloader.tracker import Tracker

    options = plan.set_options
    registry = Registry(StateLog(state), versions=options.flag("cloudFiles.allowOverwrites"))
    policy = policy_of(options, plan.source, plan.names)
    cleaner = Cleaner(policy) if policy is not None else None
    return Tracker(registry, plan.lister(), options, cleaner=cleaner)
