"""`doctor.<finding>` for tables: the work that suffers, after the fix that the doctor names and before it.

`seconds` are those of the healed table, `peer_seconds` those of the sick one; the figures `…_before` and
`…_after` are what the fix changes.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.registry import Sides, case
from lakeward.delta_log import read_table
from lakeward.doctor import Diagnosis, Examination, examine_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_YEAR = 365 * 86_400


@dataclass(frozen=True)
class Table:
    """A table of the benchmark: `main.default.<name>`."""

    spark: SparkSession
    folder: Path

    @property
    def name(self) -> str:
        """The name in statements."""
        return f"main.default.{self.folder.name}"

    def sql(self, text: str) -> Any:
        """Run a statement in which `{table}` is the table."""
        return self.spark.sql(text.replace("{table}", self.name)).collect()

    def create(self, rows: int, files: int, *, clause: str = "", columns: str = "") -> None:
        """Create the table with `rows` in `files` that are ranges of `id`; `columns` are more expressions."""
        self.sql(f"CREATE TABLE {{table}} {clause} AS SELECT id{columns} FROM range(0)")
        self.append(rows, files, columns=columns)

    def append(self, rows: int, files: int, *, columns: str = "") -> None:
        frame = self.spark.sql(f"SELECT id{columns} FROM range(0, {rows}, 1, {files})")
        frame.write.mode("append").saveAsTable(self.name)

    @property
    def commits(self) -> list[Path]:
        """The commits of the log."""
        return sorted(each for each in (self.folder / "_delta_log").glob("*.json") if each.stem.isdigit())

    def fabricate_commits(self, count: int) -> None:
        """Add commits without actions."""
        newest = int(self.commits[-1].stem)
        text = json.dumps({"commitInfo": {"timestamp": 1, "operation": "WRITE", "operationParameters": {}}})
        for version in range(newest + 1, newest + 1 + count):
            (self.folder / "_delta_log" / f"{version:020}.json").write_text(f"{text}\n")

    def age(self, days: int) -> None:
        """Let all files of the log look old; a later version is later."""
        for each in (self.folder / "_delta_log").iterdir():
            if each.name[:20].isdigit():
                os.utime(each, (time.time() - days * 86_400 + int(each.name[:20]),) * 2)

    def commit_until_checkpoint(self) -> None:
        """Write rows until the log has a checkpoint."""
        for _ in range(11):
            self.append(1, 1)
            if list((self.folder / "_delta_log").glob("*.checkpoint*.parquet")):
                return
        raise AssertionError("no commit wrote a checkpoint")


Figures = Mapping[str, float]


@dataclass(frozen=True)
class Gain:
    """A sick table, the work on it, and what is counted.

    Attributes:
        build: Makes the table sick.
        work: What is timed; what it returns is added to the figures.
        after: What happens after the fix and before the work: writes that the fix concerns.
        now: Seconds by which the doctor's clock is ahead.
    """

    build: Callable[[Table], None]
    work: Callable[[Table], Figures]
    after: Callable[[Table], object] = lambda _: None
    now: float = 0.0


def _scan(table: Table) -> Figures:
    table.sql("SELECT sum(id) FROM {table}")
    state = read_table(table.folder)
    return {"files": len(state.files), "rows_read": sum(each.rows for each in state.files)}


def _find(table: Table) -> Figures:
    """Read one value, and return the files that were opened for it."""
    frame = table.spark.sql(f"SELECT * FROM {table.name} WHERE id = 4711")
    frame.collect()
    leaf: Any = frame._jdf.queryExecution().executedPlan().collectLeaves().head()
    return {"files_read": leaf.metrics().apply("numFiles").value()}


def _replay(table: Table) -> Figures:
    """Read the newest version as a new process does: from the log."""
    table.spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # type: ignore[union-attr]
    table.sql("SELECT count(*) FROM {table}")
    checkpoints = [
        int(each.name[:20]) for each in (table.folder / "_delta_log").glob("*.checkpoint*.parquet")
    ]
    newest = max(checkpoints, default=-1)
    return {"commits_replayed": sum(int(each.stem) > newest for each in table.commits)}


def _list(table: Table) -> Figures:
    files = [Path(folder, name) for folder, _, names in os.walk(table.folder) for name in names]
    kinds = {"data_mb": ".parquet", "log_files": ".json"}
    sizes = {
        name: [each.stat().st_size for each in files if each.suffix == end] for name, end in kinds.items()
    }
    return {"data_mb": sum(sizes["data_mb"]) / 2**20, "log_files": len(sizes["log_files"])}


def _small_files(table: Table) -> None:
    table.create(120_000, 120)


def _over_partitioned(table: Table) -> None:
    table.create(30_000, 1, clause="PARTITIONED BY (part)", columns=", id % 150 AS part")


def _statistics_missing(table: Table) -> None:
    table.create(400_000, 40, clause="TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')")


_WIDE = "".join(f", repeat(cast(id AS STRING), 8) AS text_{number}" for number in range(150))


def _statistics_too_wide(table: Table) -> None:
    every = "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '-1')"
    table.create(2_000, 24, clause=every, columns=_WIDE)


def _write_wide(table: Table) -> Figures:
    table.append(2_000, 24, columns=_WIDE)
    return {"commit_kb": table.commits[-1].stat().st_size / 1024}


def _deletion_vectors(table: Table) -> None:
    table.create(2_000_000, 10, clause="TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    table.sql("DELETE FROM {table} WHERE id % 2 = 0")


def _vacuum_debt(table: Table) -> None:
    table.create(
        200_000, 40, clause="TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 days')"
    )
    for _ in range(2):
        table.sql("INSERT OVERWRITE {table} SELECT id FROM range(200000)")


def _short_retention(table: Table) -> None:
    table.create(
        200_000, 4, clause="TBLPROPERTIES ('delta.deletedFileRetentionDuration' = 'interval 0 days')"
    )


def _resume(table: Table) -> Figures:
    """Replace the rows, VACUUM, and read the version that a paused stream reads next."""
    version = int(table.commits[-1].stem)
    table.sql("INSERT OVERWRITE {table} SELECT id FROM range(200000)")
    table.sql("VACUUM {table}")
    try:
        [[rows]] = table.sql(f"SELECT count(id + 1) FROM {{table}} VERSION AS OF {version}")
    except Exception:  # noqa: BLE001  # its files are gone: that is the illness
        rows = 0
    return {"rows_of_old_version": rows}


def _clustering_debt(table: Table) -> None:
    table.sql("CREATE TABLE {table} (id BIGINT) CLUSTER BY (id)")
    for _ in range(20):
        table.append(20_000, 1)


def _checkpoint_overdue(table: Table) -> None:
    table.create(1_000, 1, clause="TBLPROPERTIES ('delta.checkpointInterval' = '100000')")
    table.fabricate_commits(400)


def _log_cleanup_off(table: Table) -> None:
    table.create(1_000, 1, clause="TBLPROPERTIES ('delta.enableExpiredLogCleanup' = 'false')")
    table.fabricate_commits(400)
    table.commit_until_checkpoint()
    table.age(60)


def _ten_commits(table: Table) -> None:
    for _ in range(10):
        table.append(1, 1)


TABLE_GAINS: dict[str, Gain] = {
    "small-files": Gain(_small_files, _scan),
    "over-partitioned": Gain(_over_partitioned, _scan),
    "statistics-missing": Gain(_statistics_missing, _find),
    "statistics-too-wide": Gain(
        _statistics_too_wide,
        _write_wide,
        after=lambda table: table.sql("INSERT OVERWRITE {table} SELECT * FROM {table}"),
    ),
    "deletion-vectors": Gain(_deletion_vectors, _scan),
    "vacuum-debt": Gain(_vacuum_debt, _list, now=60),
    "short-retention": Gain(_short_retention, _resume),
    "clustering-debt": Gain(_clustering_debt, _find),
    "checkpoint-overdue": Gain(_checkpoint_overdue, _replay, after=Table.commit_until_checkpoint),
    "log-cleanup-off": Gain(_log_cleanup_off, _list, after=_ten_commits),
}


def _diagnosis(finding: str, table: Table, gain: Gain) -> Diagnosis | None:
    examination = Examination()
    name = tuple(table.name.split("."))
    examine_table(examination, table.folder, name, now=time.time() + gain.now)
    return next((each for each in examination.diagnoses if each.finding == finding), None)


def _register(finding: str, gain: Gain) -> None:
    @case("doctor." + finding.replace("-", "_"), warmups=0)
    @contextmanager
    def measured(folder: Path) -> Iterator[Sides]:
        import lakeward.session as lw

        settings = lw.Settings.here(folder / "state", environ={})
        spark = lw.session(settings)
        sick, healed = (
            Table(spark, settings.warehouse / "main" / "default" / each) for each in ("sick", "healed")
        )
        for table in (sick, healed):
            gain.build(table)
        before = _diagnosis(finding, healed, gain)
        if before is None:
            raise AssertionError(f"the doctor does not find {finding}")
        for statement in before.fix:
            healed.sql(statement)
        gain.after(healed)
        if _diagnosis(finding, healed, gain) is not None:
            raise AssertionError(f"the fix does not heal {finding}: {before.fix}")
        figures: dict[str, float] = {}

        def work(table: Table, suffix: str) -> None:
            figures.update({f"{name}_{suffix}": value for name, value in gain.work(table).items()})

        yield Sides(lambda: work(healed, "after"), lambda: work(sick, "before"), figures=lambda: figures)
        shutil.rmtree(settings.warehouse, ignore_errors=True)


for _finding, _gain in TABLE_GAINS.items():
    _register(_finding, _gain)
