"""Entry point `repair`: corrected records of quarantine, delivered through the door that all records use.

Corrections are rows of `repairs`: the place of a quarantined record and its corrected payload. They are
landed as a file of Kafka records, and the pipeline reads it as any other. The record as it was stays in
bronze and in quarantine. `repairs` keeps no payload of what has landed.
"""

from __future__ import annotations

import argparse
import base64
import json
import uuid
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import Row, SparkSession

from wearables.files import replacing

__all__ = ["COLUMNS", "main", "repair"]

COLUMNS = (
    "topic STRING, partition BIGINT, offset BIGINT, timestamp BIGINT, key STRING, record STRING, file STRING"
)
"""Columns of `repairs`; `key` is text, `record` the corrected payload, `file` is set by this job."""


def main(argv: Sequence[str] | None = None) -> None:
    """Land the corrections that have not landed (`sys.argv` when None)."""
    parser = argparse.ArgumentParser(prog="repair", description=__doc__)
    for name in ("catalog", "schema", "landing"):
        parser.add_argument(f"--{name}", required=True)
    given, _ = parser.parse_known_args(argv)
    spark = SparkSession.builder.getOrCreate()
    landed = repair(spark, f"`{given.catalog}`.`{given.schema}`", Path(given.landing))
    print(f"landed {sum(landed.values())} corrected records in {len(landed)} files")


def repair(spark: SparkSession, schema: str, landing: Path) -> dict[str, int]:
    """Land new corrections in one file, and those of a run that was interrupted; returns records by file.

    The file of a correction is recorded first: a retry writes the same file, and no correction lands twice.
    """
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {schema}.repairs ({COLUMNS}) "
        "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')"
    )
    name = f"repair-{uuid.uuid4().hex}.json"
    spark.sql(f"UPDATE {schema}.repairs SET file = '{name}' WHERE file IS NULL AND record IS NOT NULL")  # noqa: S608
    folder = landing / "daily"
    folder.mkdir(parents=True, exist_ok=True)
    landed: dict[str, int] = {}
    waiting: dict[str, list[Row]] = {}
    for row in spark.table(f"{schema}.repairs").filter("record IS NOT NULL").collect():
        waiting.setdefault(row["file"], []).append(row)
    for file, records in waiting.items():
        if not (folder / file).exists():
            with replacing(folder / file) as new:
                new.writelines(f"{_line(record)}\n".encode() for record in records)
            landed[file] = len(records)
    if waiting:
        files = ", ".join(f"'{file}'" for file in waiting)
        spark.sql(f"UPDATE {schema}.repairs SET record = NULL, key = NULL WHERE file IN ({files})")  # noqa: S608
    return landed


def _line(record: Row) -> str:
    fields = {name: record[name] for name in ("topic", "partition", "offset", "timestamp")}
    encoded = {name: record[column] for name, column in (("key", "key"), ("value", "record"))}
    texts = {name: text and base64.b64encode(text.encode()).decode() for name, text in encoded.items()}
    return json.dumps({**texts, **fields})


if __name__ == "__main__":
    main()
