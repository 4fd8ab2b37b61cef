"""What changed in one source of a view between two of its versions.

The changes are read from the commits in between: the rows of files that were appended, those of the change
data feed where it is on, or the difference of the rows of the files that were removed and added. Files of
`OPTIMIZE` contain the same rows and cancel out. Of a file with another deletion vector, only the rows that
one of both vectors marks are read.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from lakeward.pipelines.incremental.refresh_plan import Issue
from lakeward.pipelines.incremental.row_bags import COUNT, net_rows, without_equal_days
from lakeward.pipelines.incremental.row_groups import is_usable_key
from lakeward.pipelines.incremental.view_plan import PlanNode, delta_index, frame_of
from lakeward.pipelines.storage.computed_rows import compute_rows, repeat_rows
from lakeward.pipelines.storage.delta_tables import read_commit_info, snapshot_bytes
from lakeward.spark_internals import JavaObject, analyzed_plan, jvm_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
ChangeKind = Literal["NO_CHANGE", "APPENDED", "CHANGED", "UNKNOWN"]
# Delta sends a vector to its readers with writeUTF, which takes 65,535 bytes; base 85 makes five of four.
MAX_INLINE_BYTES = 65535 // 5 * 4
MIN_HASHED_BYTES = 64 << 20
"""Fewer changed bytes are compared without hashes of their days."""


@dataclass(frozen=True)
class SourceVersion:
    """A version of a Delta table: `table_id` and `commit` show that the table is still the same one."""

    path: str
    table_id: str
    version: int
    commit: str | None

    def as_json(self) -> list[Any]:
        return [self.path, self.table_id, self.version, self.commit]


@dataclass
class ChangeSet:
    """The changes of one source as plans with the attributes of its relation; None without such rows.

    `old` reads the version that the view has seen, `new` the current one. `bytes` is the size of the files
    that have to be read for the changes, `total` the size of the table. `source` has the files of `new`.
    `find_rows` returns the inserted and the deleted rows. `find_gross_rows` does so before equal rows of
    both cancel out; None where this is not faster. Those are the rows of a set that `is_gross`.
    """

    kind: ChangeKind
    new: JavaObject
    old: JavaObject = None
    find_rows: Callable[[], tuple[JavaObject, JavaObject]] = lambda: (None, None)
    find_gross_rows: Callable[[], tuple[JavaObject, JavaObject]] | None = None
    is_gross: bool = False
    bytes: int = 0
    total: int = 0
    issue: Issue | None = None
    source: Source | None = None

    @cached_property
    def rows(self) -> tuple[JavaObject, JavaObject]:
        """The inserted and the deleted rows; a view that is recomputed does not need them."""
        return self.find_rows()

    @cached_property
    def gross(self) -> ChangeSet:
        """The same changes, with rows that are both inserted and deleted where that is faster."""
        if self.find_gross_rows is None:
            return self
        return replace(self, find_rows=self.find_gross_rows, find_gross_rows=None, is_gross=True)


@dataclass(frozen=True)
class SourceFiles:
    """The files of a version. `names` tell each from others of the table, and with other deleted rows."""

    java: JavaObject
    names: tuple[str, ...]

    @property
    def file_names(self) -> list[str]:
        """The last part of each path."""
        return [name.partition("|")[0] for name in self.names]


class Source:
    """One relation of a view's query, at the version that this update reads."""

    def __init__(self, spark: SparkSession, node: PlanNode) -> None:
        self.spark, self.node = spark, node
        self._java: Any = jvm_view(spark)
        self._changes = self._java.lakeward.SourceChanges
        index = delta_index(node)
        self._log = index.deltaLog()
        self.snapshot = index.getSnapshot()

    @property
    def name(self) -> str:
        """Return the name of the table, or its folder."""
        table = self.node.java.catalogTable()
        return str(table.get().identifier().unquotedString()) if table.isDefined() else self.path

    @property
    def path(self) -> str:
        return str(self._log.dataPath())

    @property
    def size(self) -> int:
        """Bytes of the table's files."""
        return snapshot_bytes(self.snapshot)

    def version(self) -> SourceVersion:
        """Return the version that this update reads."""
        number = int(self.snapshot.version())
        return SourceVersion(
            self.path, str(self.snapshot.metadata().id()), number, self._commit_identity(number)
        )

    def pinned(self) -> JavaObject:
        """Return the relation at this version: later commits do not reach the update."""
        return self._changes.pinned(self.node.java, self.snapshot)

    def changes_since(self, seen: SourceVersion | None) -> ChangeSet:
        """Return what changed since the version that the view has seen."""
        found = self._changes_since(seen)
        found.source = self
        return found

    def _changes_since(self, seen: SourceVersion | None) -> ChangeSet:
        new, current = self.pinned(), int(self.snapshot.version())
        if seen is None:
            return self._unknown(new, "CHANGE_SET_MISSING", "the view has not read this table before")
        if seen.table_id != str(self.snapshot.metadata().id()):
            return self._unknown(new, "DATA_HAS_CHANGED", "the table was replaced by another one")
        if seen.version > current or seen.commit != self._commit_identity(seen.version):
            reason = f"version {seen.version} is not in the table's history any more"
            return self._unknown(new, "DATA_HAS_CHANGED", reason)
        if seen.version == current:
            return ChangeSet("NO_CHANGE", new, old=new, total=self.size)
        return self._between(new, seen.version, current)

    @cached_property
    def files(self) -> SourceFiles:
        """The files of the version that this update reads."""
        files = self._changes.files(self.snapshot)
        lines = self._changes.names(files).split("\n") if len(files) else []
        return SourceFiles(files, tuple(lines))

    def rows_at(self, positions: Sequence[int]) -> JavaObject:
        """Return the relation on the files at these positions."""
        chosen = self._changes.at(self.files.java, ",".join(map(str, positions)))
        return self._rows(chosen)

    def _between(self, new: JavaObject, seen: int, current: int) -> ChangeSet:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            files = self._changes(self._log, seen, current)
            old_snapshot = self._snapshot_at(seen)
        except (Py4JJavaError, PySparkException):
            reason = f"the commits since version {seen} are not in the table's log any more"
            return self._unknown(new, "DATA_FILE_MISSING", reason)
        if not files.isComplete(current):
            reason = f"the commits since version {seen} are not in the table's log any more"
            return self._unknown(new, "DATA_FILE_MISSING", reason)
        changed = self._changed_columns(old_snapshot)
        if changed:
            reason = f"the column {changed} was changed since version {seen}"
            return self._unknown(new, "DATA_SCHEMA_CHANGED", reason)
        old = self._changes.pinned(self.node.java, old_snapshot)
        if files.isAppend():
            appended = files.appended()
            if not len(appended):
                return ChangeSet("NO_CHANGE", new, old=new, total=self.size)
            if self._changes.missing(self._log, appended) is None and files.removed() is not None:
                missing = self._changes.missing(self._log, files.removed())
                if missing is None:
                    read = int(self._changes.bytes(appended))
                    return ChangeSet(
                        "APPENDED",
                        new,
                        old,
                        lambda: (self._rows(appended), None),
                        bytes=read,
                        total=self.size,
                    )
        difference = self._difference(new, old, files)
        read = int(self._changes.bytes(files.feed()))
        if difference.kind == "UNKNOWN" or (difference.kind == "CHANGED" and read < difference.bytes):
            return self._feed(new, old, files.feed(), seen, read) or difference
        return difference

    def _feed(
        self, new: JavaObject, old: JavaObject, files: JavaObject, seen: int, read: int
    ) -> ChangeSet | None:
        """Return the rows of the change data feed, None where it is off or does not reach that far."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        if _property(self.snapshot, "delta.enableChangeDataFeed") != "true":
            return None
        if self._changes.missing(self._log, files) is not None:
            return None
        try:
            inserted, deleted = (
                self._changes.changed(self.node.java, self._log, self.snapshot, seen, each)
                for each in (True, False)
            )
        except (Py4JJavaError, PySparkException):
            # It was off in one of the versions.
            return None
        return ChangeSet("CHANGED", new, old, lambda: (inserted, deleted), bytes=read, total=self.size)

    def _difference(self, new: JavaObject, old: JavaObject, files: JavaObject) -> ChangeSet:
        """Return the rows that the removed and added files differ in."""
        added, removed = files.added(), files.removed()
        missing = None if removed is None else self._changes.missing(self._log, removed)
        if removed is None or missing is not None:
            reason = f"the removed file {missing} was vacuumed" if missing else "removed files are unknown"
            return self._unknown(new, "DATA_FILE_MISSING", reason)
        inexact = [column.name for column in self._required() if not is_usable_key(column.type)]
        if inexact:
            reason = f"rows were changed, and values of `{inexact[0]}` cannot be compared exactly"
            return self._unknown(new, "MAP_TYPE_NOT_SUPPORTED", reason)
        changed = self._java.lakeward.ChangedRows(self._log, added, removed, MAX_INLINE_BYTES)
        if not len(changed.inserted()) and not len(changed.deleted()):
            return ChangeSet("NO_CHANGE", new, old=new, total=self.size)
        read = int(changed.bytes())
        gross = None
        if changed.isMarked() and len(changed.inserted()) and len(changed.deleted()):
            gross = partial(self._gross_changes, changed)
        return ChangeSet(
            "CHANGED", new, old, lambda: self._net_changes(changed), gross, bytes=read, total=self.size
        )

    def _gross_changes(self, changed: JavaObject) -> tuple[JavaObject, JavaObject]:
        """Return the inserted and the deleted rows, also those that are in both."""
        inserted, deleted = (
            changed.rows(self.node.java, self.snapshot, files) if len(files) else None
            for files in (changed.inserted(), changed.deleted())
        )
        return inserted, deleted

    def _net_changes(self, changed: JavaObject) -> tuple[JavaObject, JavaObject]:
        """Return the inserted rows that are not among the deleted ones, and the reverse.

        Only the columns that the view uses are compared; the others are NULL in the result. The difference
        is computed once, when the first of its rows is needed.
        """
        from pyspark.sql import functions as F

        inserted, deleted = self._gross_changes(changed)
        if inserted is None or deleted is None:
            return inserted, deleted
        left, right = (frame_of(self.spark, plan) for plan in (inserted, deleted))
        names = [f"c{i}" for i in range(len(left.columns))]
        used = [(name, column) for name, column in zip(names, self.node.output, strict=True)]
        used = [(name, column) for name, column in used if column.id in self.node.required]
        compared = [name for name, _ in used]
        left, right = (rows.toDF(*names).select(*compared) for rows in (left, right))
        if int(changed.bytes()) >= MIN_HASHED_BYTES:
            left, right = without_equal_days(left, right)
        net = compute_rows(net_rows(left, right))
        plans = []
        for signed in (net, net.withColumn(COUNT, -net[COUNT])):
            repeated = repeat_rows(signed, compared, COUNT)
            named = repeated.select(*[F.col(name).alias(column.name) for name, column in used])
            plans.append(self._java.lakeward.ViewPlan.named(analyzed_plan(named), self.node.java.output()))
        return plans[0], plans[1]

    def _rows(self, files: JavaObject) -> JavaObject:
        return self._changes.rows(self.node.java, self._log, self.snapshot, files)

    def _required(self) -> list[Any]:
        return [column for column in self.node.output if column.id in self.node.required]

    def _changed_columns(self, old: JavaObject) -> str | None:
        """Return a column that the view uses and that differs between the versions."""
        mode = "delta.columnMapping.mode"
        before, after = _fields(old), _fields(self.snapshot)
        if _property(old, mode) != _property(self.snapshot, mode):
            return "mapping"
        for column in self._required():
            name = column.name.lower()
            if name not in after or before.get(name) != after[name]:
                return f"`{column.name}`"
        return None

    def _snapshot_at(self, version: int) -> JavaObject:
        none = getattr(getattr(self._java.scala, "None$"), "MODULE$")
        return self._log.getSnapshotAt(version, none, none, False)

    def _commit_identity(self, version: int) -> str | None:
        """Return what distinguishes a commit from others of its number, None if it is not in the log."""
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            info = read_commit_info(self._java, self._log, version)
        except (Py4JJavaError, PySparkException):
            return None
        if not info:
            return None
        return str(info.get("txnId") or info.get("inCommitTimestamp") or info.get("timestamp"))

    def _unknown(self, new: JavaObject, issue_type: str, reason: str) -> ChangeSet:
        issue = Issue(issue_type, f"{self.name}: {reason}.", table=self.name)
        return ChangeSet("UNKNOWN", new, bytes=self.size, total=self.size, issue=issue)


def _fields(snapshot: JavaObject) -> dict[str, Any]:
    """Return type and column mapping of the top-level columns by name in lower case."""
    found = {}
    for field in json.loads(snapshot.metadata().schemaString())["fields"]:
        mapping = {key: value for key, value in field["metadata"].items() if "columnMapping" in key}
        found[field["name"].lower()] = (field["type"], mapping, "__COLLATIONS" in field["metadata"])
    return found


def _property(snapshot: JavaObject, name: str) -> str | None:
    value = snapshot.metadata().configuration().get(name)
    return str(value.get()) if value.isDefined() else None
