"""Large files of lines are read in parts, by several tasks: each line once, as from the whole file."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow.fs import LocalFileSystem
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from lakeward.autoloader import read_plan
from lakeward.autoloader.data_sources import plan_partitions, read_batch_files
from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.discovery.line_ranges import read_lines
from lakeward.autoloader.discovery.object_store import ArrowStorage
from lakeward.autoloader.discovery.storage import LocalStorage, Storage
from lakeward.autoloader.read_plan import ReadPlan, divide
from lakeward.autoloader.readers.csv_dialect import CsvDialect
from lakeward.autoloader.readers.csv_fast_path import is_regular_dialect
from lakeward.errors import CloudFilesError
from tests.autoloader.reader_harness import plan_of, schema_of

SCHEMA = schema_of(id="long", text="string")


@given(
    content=st.lists(st.sampled_from([b"\n", b"a", b"\xc3\xa9", b"\r"]), max_size=30),
    cuts=st.sets(st.integers(1, 40)),
)
@example(content=[b"\n"], cuts={1})
@example(content=[b"a", b"\n", b"a"], cuts={1, 2})
@example(content=[b"a"] * 9, cuts={3, 6})
def test_every_line_is_in_the_part_in_which_it_begins(content: list[bytes], cuts: set[int]) -> None:
    data = b"".join(content)
    ends = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    begins = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
    lines = [data[a:b] for a, b in pairwise([*begins, len(data)])]
    for start, end in pairwise(ends):
        wanted = b"".join(line for at, line in zip(begins, lines, strict=True) if start <= at < end)
        for stream in (io.BytesIO(data), pa.BufferReader(data)):
            assert read_lines(stream, start, end) == wanted


def plan_for(*, tasks: int = 3, **options: Any) -> ReadPlan:
    return replace(plan_of(SCHEMA, **options), parallelism=tasks)


@pytest.mark.parametrize("storage", [LocalStorage(), ArrowStorage(LocalFileSystem(), "s3://bucket")])
def test_every_store_reads_the_lines_of_a_part(tmp_path: Path, storage: Storage) -> None:
    path = tmp_path / "lines.json"
    path.write_bytes(b"one\ntwo\nthree")
    at = str(path) if isinstance(storage, LocalStorage) else f"s3://bucket{path}"
    parts = [(0, 3), (3, 5), (5, 13)]
    assert [storage.read(at, part) for part in parts] == [b"one\n", b"two\n", b"three"]
    assert storage.read(at) == path.read_bytes()


@given(size=st.integers(0, 10_000), limit=st.integers(1, 10_000))
def test_parts_cover_a_file_and_are_not_larger_than_the_limit(size: int, limit: int) -> None:
    parts = divide(size, limit)
    assert [at for part in parts for at in range(*part)] == list(range(size))
    assert all(0 < end - start <= limit for start, end in parts)


def status_of(path: Path) -> FileStatus:
    found = path.stat()
    return FileStatus(f"file:{path}", str(path), found.st_size, found.st_mtime_ns // 1000)


def rows_of(plan: ReadPlan, groups: list[list[FileStatus]]) -> list[str]:
    columns = [*SCHEMA.fields, StructField(plan.rescued, StringType())] if plan.rescued else SCHEMA.fields
    if variant := plan.user_options.text("singleVariantColumn"):
        columns = [StructField(variant, StringType())]
    schema = StructType(columns)
    return [
        repr(row)
        for group in groups
        for batch in read_batch_files(plan, schema, group, ("", 0, 0))
        for row in batch.to_pylist()
    ]


RECORDS = [json.dumps({"id": number, "text": "é" * number}, ensure_ascii=False) for number in range(9)]
CONTENTS = {
    "lines": "\n".join(RECORDS) + "\n",
    "no line break at the end": "\n".join(RECORDS),
    "Windows lines": "\r\n".join(RECORDS),
    "carriage returns": "\r".join(RECORDS),
    "a byte order mark": "\ufeff" + "\n".join(RECORDS),
    "blank lines": "\n\n \n" + "\n\n\n".join(RECORDS) + "\n\n",
    "a long line": "\n".join([RECORDS[0], json.dumps({"id": 5, "text": "x" * 200_000}), RECORDS[1]]),
    "malformed lines": "\n".join([*RECORDS, '{"id": 1', "null", "[]", "no", *RECORDS]),
    "values of other types and new fields": "\n".join([*RECORDS, '{"id": "x", "more": 1}', *RECORDS]),
    "a record across lines": "\n".join([RECORDS[0], '{"id":', '7, "text": "a"}', RECORDS[1]]),
    "several records in a line": "\n".join(
        [RECORDS[0] + RECORDS[1], f"[{RECORDS[2]},{RECORDS[3]}]", *RECORDS]
    ),
    "one line": RECORDS[3],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "rescue": {"rescued": "_rescued_data"},
    "drop": {"mode": "DROPMALFORMED"},
}


@pytest.mark.parametrize("options", sorted(OPTIONS))
@pytest.mark.parametrize("content", sorted(CONTENTS))
def test_parts_of_a_file_have_the_rows_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, options: str
) -> None:
    path = tmp_path / "records.json"
    path.write_bytes(CONTENTS[content].encode())
    plan = plan_for(**OPTIONS[options])
    whole = rows_of(plan, [[status_of(path)]])
    monkeypatch.setattr(read_plan, "MIN_PART_BYTES", 7)
    for tasks in (2, 3, 50):
        groups = plan_partitions([status_of(path)], replace(plan, parallelism=tasks))
        assert len(groups) > 1
        assert Counter(rows_of(plan, groups)) == Counter(whole), tasks


WHOLE: dict[str, dict[str, Any]] = {
    "documents": {"multiLine": True},
    "another encoding": {"encoding": "UTF-16LE"},
    "another charset": {"charset": "ISO-8859-1"},
    "another separator": {"lineSep": "|"},
    "a folder for bad records": {"badRecordsPath": "/bad"},
    "another format": {"cf_format": "text"},
}


@pytest.mark.parametrize("options", sorted(WHOLE))
def test_files_without_lines_of_their_own_are_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    monkeypatch.setattr(read_plan, "MIN_PART_BYTES", 7)
    path = tmp_path / "records.json"
    path.write_text(CONTENTS["lines"])
    assert plan_partitions([status_of(path)], plan_for(**WHOLE[options])) == [[status_of(path)]]


@pytest.mark.parametrize("option", ["encoding", "charset"])
@pytest.mark.parametrize("name", ["UTF-8", "utf-8", "UTF8", "utf_8"])
def test_every_name_of_utf_8_is_the_same_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, option: str
) -> None:
    monkeypatch.setattr(read_plan, "MIN_PART_BYTES", 7)
    path = tmp_path / "records.json"
    path.write_text(CONTENTS["lines"])
    plan = plan_for(**{option: name})
    assert len(plan_partitions([status_of(path)], plan)) > 1
    assert is_regular_dialect(CsvDialect.of(plan.user_options))


@pytest.mark.parametrize("suffix", ["gz", "bz2", "zst", "zstd", "deflate", "snappy"])
def test_compressed_files_are_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    monkeypatch.setattr(read_plan, "MIN_PART_BYTES", 7)
    path = tmp_path / f"records.json.{suffix}"
    path.write_text(CONTENTS["lines"])
    assert plan_partitions([status_of(path)], plan_for()) == [[status_of(path)]]


def test_small_files_and_files_of_many_are_not_divided(tmp_path: Path) -> None:
    files = [FileStatus(f"file:/{n}.json", f"/{n}.json", 40 << 20, n) for n in range(9)]
    assert sorted(chain.from_iterable(plan_partitions(files, plan_for()))) == files
    small = FileStatus("file:/a.json", "/a.json", 20 << 20, 1)
    assert plan_partitions([small], plan_for()) == [[small]]


def test_a_file_that_was_changed_is_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_plan, "MIN_PART_BYTES", 7)
    path, plan = tmp_path / "records.json", plan_for()
    path.write_text(CONTENTS["lines"])
    before = status_of(path)
    path.write_text(CONTENTS["no line break at the end"])
    assert plan_partitions([before], plan) == [[before]]
    gone = FileStatus("file:/no.json", "/no.json", 9_000, 1)
    assert plan_partitions([gone], plan) == [[gone]]


def test_a_file_that_is_changed_between_its_parts_fails_the_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_plan, "MIN_PART_BYTES", 7)
    path, plan = tmp_path / "records.json", plan_for()
    path.write_text(CONTENTS["lines"])
    groups = plan_partitions([status_of(path)], plan)
    path.write_text(CONTENTS["lines"] * 2)
    with pytest.raises(CloudFilesError, match="CF_FILE_CHANGED"):
        rows_of(plan, groups[1:])
    path.unlink()
    with pytest.raises(CloudFilesError, match=r"FAILED_READ_FILE\.FILE_NOT_EXIST"):
        rows_of(plan, groups[1:])


@pytest.mark.slow
@pytest.mark.parametrize("reader", ["cloudFiles", "read_files"])
def test_a_stream_reads_a_large_file_in_several_tasks(
    spark: SparkSession, tmp_path: Path, reader: str
) -> None:
    """Each of two tasks writes a file; Spark's own reader has the same rows."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    with (source / "large.json").open("w") as file:
        for number in range(700_000):
            file.write(json.dumps({"id": number, "text": "é" * (number % 120)}) + "\n")
    schema = "id BIGINT, text STRING"
    if reader == "cloudFiles":
        stream = spark.readStream.format("cloudFiles").option("cloudFiles.format", "json").schema(schema)
        query = stream.load(str(source)).writeStream.format("parquet").trigger(availableNow=True)
        query.option("checkpointLocation", str(tmp_path / "checkpoint")).start(str(target)).awaitTermination()
    else:
        text = f"SELECT * FROM read_files('{source}', format => 'json', schema => '{schema}')"
        spark.sql(text).write.parquet(str(target))
    assert len([file for file in target.iterdir() if file.suffix == ".parquet"]) > 1
    found, wanted = spark.read.parquet(str(target)), spark.read.schema(schema).json(str(source))
    assert found.count() == 700_000
    assert found.exceptAll(wanted).isEmpty()
