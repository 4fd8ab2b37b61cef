"""The side table of a target: what its feed has said so far. Rows are only ever added, in any order.

It stands in the pipeline's storage and not in the schema, so that `SELECT *` of the target and the list of
tables are those of the platform (spec §3.2.8). A full refresh begins a new one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.pipelines.appending import append_once
from lakeward.whole_files import write_whole

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["State"]

# A batch adds a file or two; so many are read as one again.
_FILES = 24
# Characters that Delta takes in names of columns only when these are mapped.
_SPECIAL = re.compile(r'"name":"[^"]*[ ,;{}()\\=]')


class State:
    """A Delta table in `folder`; every addition carries `app` and a number, and counts once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._note = folder.with_name(folder.name + ".carried")

    @property
    def exists(self) -> bool:
        return (self.folder / "_delta_log").is_dir()

    @property
    def carrier(self) -> str | None:
        """The target's column that says what stands, where this table has deletes alone (see `carried`)."""
        return self._note.read_text(encoding="utf-8") if self._note.exists() else None

    def leave_to(self, carrier: str) -> None:
        """From now on what stands is said by that column of the target."""
        self._note.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self._note, carrier, synced=True)

    def tells_all(self) -> None:
        """From now on, and for what is in the target already, this table says it."""
        self._note.unlink()

    def add(self, rows: DataFrame, *, app: str, number: int) -> None:
        """Append rows; a repeated addition is left out by Delta itself."""
        writer = append_once(rows, app=app, number=number)
        if not self.exists and _SPECIAL.search(rows.schema.json()):
            writer = writer.option("delta.columnMapping.mode", "name")
        writer.save(str(self.folder))

    def rows(self, spark: SparkSession) -> DataFrame | None:
        """All that was added, None before the first addition."""
        return spark.read.format("delta").load(str(self.folder)) if self.exists else None

    def is_scattered(self, spark: SparkSession) -> bool:
        """Whether it is time to rewrite the table as fewer rows or files."""
        files = self._files_noted()
        if files is None:
            rows = self.rows(spark)
            files = 0 if rows is None else len(rows.inputFiles())
        return files > _FILES

    def _files_noted(self) -> int | None:
        """The number of files by the checksum of the newest commit: asking Spark costs a second."""
        newest = max((self.folder / "_delta_log").glob(f"{'[0-9]' * 20}.json"), default=None)
        try:
            return int(json.loads(newest.with_suffix(".crc").read_bytes())["numFiles"]) if newest else None
        except (OSError, ValueError, KeyError):
            return None

    def rewrite(self, rows: DataFrame) -> None:
        """Replace all rows by fewer that say the same."""
        rows.write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(str(self.folder))
