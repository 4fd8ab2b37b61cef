"""The auxiliary table of a target: what its feed has contained so far, in any order.

It is in the pipeline's storage and not in the schema, so that `SELECT *` of the target and the list of
tables match the platform. A full refresh starts a new one."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.atomic_files import atomic_write
from lakeward.autoloader import merge_new_fields
from lakeward.nested_types import needs_column_mapping, with_new_fields
from lakeward.pipelines.autocdc.scd1 import is_present, merge_states
from lakeward.pipelines.autocdc.scd2 import distinct_events
from lakeward.pipelines.graph.elements import ChangeArgs
from lakeward.pipelines.storage.checkpoints import read_state_file
from lakeward.pipelines.storage.delta_tables import idempotent_append

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
# A batch adds one or two files; the table is compacted at this number.
_MAX_FILES = 24


class AuxiliaryTable:
    """A Delta table in `folder`; every addition carries `app` and a number and is applied once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._note = folder.with_name(folder.name + ".carried")

    @property
    def exists(self) -> bool:
        return (self.folder / "_delta_log").is_dir()

    @property
    def target_sequence_column(self) -> str | None:
        """Return the target's column with the current sequences if this table holds deletes only, else None.

        See `scd1_in_target`.
        """
        if not self._note.exists():
            return None

        def parse(text: str) -> str:
            if not text.strip() or not text.isprintable():
                raise ValueError("it names no column")
            return text

        what = "The record of the column that holds the sequences of an AUTO CDC target"
        next_step = "Restore the file from a backup, or refresh the target fully (--full-refresh)."
        return read_state_file(self._note, what, parse, next_step=next_step)

    def set_target_sequence_column(self, sequence_column: str) -> None:
        """Record that current sequences are in this column of the target."""
        self._note.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(self._note, sequence_column, synced=True)

    def clear_target_sequence_column(self) -> None:
        """Record that this table holds all current sequences."""
        self._note.unlink()

    def add(self, rows: DataFrame, *, app: str, number: int) -> None:
        """Append rows; Delta skips a repeated addition."""
        writer = idempotent_append(rows, app=app, number=number)
        if not self.exists and needs_column_mapping(rows.schema):
            writer = writer.option("delta.columnMapping.mode", "name")
        writer.save(str(self.folder))

    def rows(self, spark: SparkSession) -> DataFrame | None:
        """Return all rows, None before the first addition."""
        return spark.read.format("delta").load(str(self.folder)) if self.exists else None

    def rows_for(self, added: DataFrame) -> DataFrame | None:
        """Return all rows with the nested fields that only `added` has; Spark's union adds none in maps."""
        rows = self.rows(added.sparkSession)
        return None if rows is None else with_new_fields(rows, merge_new_fields(rows.schema, added.schema))

    def is_scattered(self, spark: SparkSession) -> bool:
        """Return whether the table has enough files for a compaction."""
        files = self._files_noted()
        if files is None:
            rows = self.rows(spark)
            files = 0 if rows is None else len(rows.inputFiles())
        return files > _MAX_FILES

    def _files_noted(self) -> int | None:
        """Return the number of files from the newest commit's checksum; a Spark query takes a second."""
        newest = max((self.folder / "_delta_log").glob(f"{'[0-9]' * 20}.json"), default=None)
        try:
            return int(json.loads(newest.with_suffix(".crc").read_bytes())["numFiles"]) if newest else None
        except (OSError, ValueError, KeyError):
            return None

    def rewrite(self, rows: DataFrame) -> None:
        """Replace all rows by an equivalent smaller set."""
        rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(self.folder))


def compact_rows(rows: DataFrame, change_args: ChangeArgs, since: datetime) -> DataFrame:
    """Return an equivalent smaller set of rows.

    Type 1: one row per key, without keys that were deleted and not mentioned `since`. Type 2: distinct
    events.
    """
    from pyspark.sql import functions as F

    if change_args.scd_type == 2:
        # Events are not compared with those of earlier batches when they are added.
        return distinct_events(rows)
    of_keys = rows.where("__key IS NOT NULL")
    last = of_keys.groupBy("__key").agg(F.max("__at").alias("__at"))
    folded = merge_states(of_keys, partial=change_args.partial).join(last, "__key")
    stands = is_present(F.col("__up"), F.col("__down"))
    kept = folded.where(stands | (F.col("__at") >= F.lit(since)))
    if "__truncate" in rows.columns:
        kept = kept.unionByName(rows.where("__key IS NULL"), allowMissingColumns=True)
    return kept
