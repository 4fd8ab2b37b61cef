"""The stream reader, called as Spark calls it, without a JVM."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxFiles
from pyspark.sql.types import StructType

from lakeward.autoloader.data_sources import CloudFilesStreamReader
from lakeward.autoloader.read_plan import CheckpointOffer, ReadPlan, offer_checkpoints

COLUMNS = StructType().add("a", "integer")


def reader_of(folder: Path, **options: str) -> CloudFilesStreamReader:
    """A reader of the folder `in` with its checkpoint; each call is a start of the same stream."""
    handoff_dir = folder / "handoff_dir"
    handoff_dir.mkdir(exist_ok=True)
    source = f"{folder}/in"
    plan = ReadPlan(
        token="t",
        handoff_dir=str(handoff_dir),
        source=source,
        source_key=f"file:{source}",
        paths=(),
        format="json",
        columns=COLUMNS.json(),
        mode="none",
        parallelism=2,
        options={"cloudfiles.format": "json", **{f"cloudfiles.{k.lower()}": v for k, v in options.items()}},
    )
    offer_checkpoints(handoff_dir, "t", [CheckpointOffer(str(folder / "checkpoint" / "sources" / "0"))])
    return CloudFilesStreamReader(plan.as_json(), COLUMNS)


def rows(reader: CloudFilesStreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[int]:
    found = [
        value
        for partition in reader.partitions(start, end)
        for batch in reader.read(partition)
        for value in batch.column(0).to_pylist()
    ]
    return sorted(found)


def put(folder: Path, *numbers: int) -> None:
    (folder / "in").mkdir(exist_ok=True)
    for number in numbers:
        (folder / "in" / f"{number}.json").write_text(json.dumps({"a": number}) + "\n")


def test_a_start_with_available_now_reads_what_is_there_in_batches_and_ends(tmp_path: Path) -> None:
    put(tmp_path, 1, 2, 3)
    reader = reader_of(tmp_path, maxFilesPerTrigger="2")
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMaxFiles(2)
    reader.prepareForTriggerAvailableNow()
    start = reader.initialOffset()
    put(tmp_path, 4)
    middle = reader.latestOffset(start, limit)
    assert reader.reportLatestOffset() == {"numFilesOutstanding": 1, "numBytesOutstanding": 9}
    end = reader.latestOffset(middle, limit)
    assert reader.reportLatestOffset() == {"numFilesOutstanding": 0, "numBytesOutstanding": 0}
    assert reader.latestOffset(end, limit) == end
    assert rows(reader, start, middle) + rows(reader, middle, end) == [1, 2, 3]
    again = reader_of(tmp_path)
    again.prepareForTriggerAvailableNow()
    last = again.latestOffset(end, again.getDefaultReadLimit())
    assert rows(again, end, last) == [4]
    assert rows(again, start, last) == [1, 2, 3, 4]


def test_offsets_and_figures_are_json(tmp_path: Path) -> None:
    put(tmp_path, 1)
    reader = reader_of(tmp_path)
    start = reader.initialOffset()
    end = reader.latestOffset(start, ReadAllAvailable())
    for offset in (start, end, reader.reportLatestOffset()):
        assert json.loads(json.dumps(offset)) == offset
    assert set(end) == {
        "seqNum",
        "sourceVersion",
        "lastBackfillStartTimeMs",
        "lastBackfillFinishTimeMs",
        "lastInputPath",
    }


def test_a_stream_is_planned_without_arrow() -> None:
    """A stream whose schema is stored needs Arrow in its workers alone; importing it takes 0.1 s."""
    code = (
        "import sys, lakeward.autoloader.file_source, lakeward.autoloader.schema.schema_resolution as s\n"
        "class Spark:\n    conf = {s.reads_nanos_as_long.__globals__['NANOS_AS_LONG']: 'false'}\n"
        "assert s.reads_nanos_as_long(Spark) is False\n"
        "assert 'pyarrow' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
