"""Real snapshots of a table whose header grew and changed, against Python's own reader."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.errors import StreamingQueryException

from tests.autoloader.reader_harness import rows_of, schema_of


class Snapshot(NamedTuple):
    """A file: its header, and of each record what is filled; values behind the last column as `_c<i>`."""

    path: Path
    header: tuple[str, ...]
    records: list[dict[str, str]]


def read(path: Path) -> Snapshot:
    header, *rows = csv.reader(io.StringIO(gzip.decompress(path.read_bytes()).decode(), newline=""))
    names = [*header, f"_c{len(header)}"]
    records = [{name: value for name, value in zip(names, row, strict=False) if value} for row in rows if row]
    return Snapshot(path, tuple(header), records)


@pytest.fixture
def snapshots(data: Path) -> list[Snapshot]:
    """The first under each header, in order."""
    found: dict[tuple[str, ...], Snapshot] = {}
    for snapshot in map(read, sorted((data / "constituents").glob("*.csv.gz"))):
        found.setdefault(snapshot.header, snapshot)
    return list(found.values())


def test_columns_and_rescued_data_rebuild_every_record_whatever_the_header(snapshots: list[Snapshot]) -> None:
    assert len(snapshots) > 2
    names = snapshots[0].header
    for path, _, records in snapshots:
        schema = schema_of(**dict.fromkeys(names, "string"))
        rows = rows_of([path], schema, rescued="_r", cf_format="csv", header=True, escape='"')
        rebuilt = [
            {name: row[name] for name in names if row[name] is not None}
            | {name: value for name, value in json.loads(row["_r"] or "{}").items() if name != "_file_path"}
            for row in rows
        ]
        assert rebuilt == records


@pytest.mark.slow
@pytest.mark.rule("3.2.4", "3.2.5", "3.2.6", "3.2.10")
def test_a_stream_over_all_headers_stops_at_new_columns_alone_and_ends_with_every_record(
    landing, snapshots: list[Snapshot]
) -> None:
    # Later headers have blanks in their names.
    landing.spark.sql(f"CREATE TABLE {landing.table} TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    columns: list[str] = []
    stops = 0
    for number, (path, header, _) in enumerate(snapshots):
        place = landing.folder / path.name
        place.write_bytes(path.read_bytes())
        os.utime(place, (1_000_000 + number, 1_000_000 + number))
        new = [name for name in header if name not in columns]
        if columns and new:
            with pytest.raises(StreamingQueryException, match=r"NEW_FIELDS_IN_FILE"):
                landing.ingest(landing.stream(format="csv", escape='"'))
            stops += 1
        landing.ingest(landing.stream(format="csv", escape='"'))
        columns += new
    assert stops == 2
    records = [record for snapshot in snapshots for record in snapshot.records]
    assert landing.stream(format="csv").drop("_rescued_data").columns == columns
    expected = [tuple(record.get(name) for name in columns) for record in records]
    assert landing.rows(*(f"`{name}`" for name in columns)) == sorted(expected, key=repr)
    rescued = [text for (text,) in landing.rows("_rescued_data") if text is not None]
    assert len(rescued) == sum(not record.keys() <= set(columns) for record in records)
