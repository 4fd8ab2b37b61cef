"""Schema resolution: user schema, stored, inferred or fixed (AL-2.1, AL-2.4, AL-5.2)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql.types import StructType

from lakeward.autoloader.data_sources import read_batch_files
from lakeward.autoloader.discovery.file_listing import FileStatus
from lakeward.autoloader.discovery.file_names import FileNames
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.read_plan import create_lister
from lakeward.autoloader.readers.batch_builder import BatchBuilder
from lakeward.autoloader.schema.schema_inference import infer_schema
from lakeward.autoloader.schema.schema_resolution import ResolvedSchema, resolve_schema
from lakeward.errors import CloudFilesError
from lakeward.session.paths import PathMap
from tests.autoloader.reader_harness import plan_of, rows_of, schema_of

SAMPLE = "spark.databricks.cloudFiles.schemaInference.sampleSize"


def resolved(
    folder: Path,
    *,
    user_schema: StructType | None = None,
    location: Path | None = None,
    conf: Mapping[str, str] = {},  # it is only read
    **options: Any,
) -> ResolvedSchema:
    """Resolve columns like `load`; only the settings of the session are used."""
    texts = {"cloudFiles.format": "json"}
    texts |= {key.replace("cf_", "cloudFiles."): str(value) for key, value in options.items()}
    session: Any = SimpleNamespace(conf=SimpleNamespace(get=lambda key, default=None: conf.get(key, default)))
    parsed = Options.of(texts)
    lister = create_lister(str(folder), FileNames(PathMap(())), parsed)
    return resolve_schema(
        session, parsed, lister, user_schema=user_schema, location=str(location) if location else None
    )


def names(folder: Path, **options: Any) -> list[str]:
    return list(resolved(folder, **options).data.names)


def put(path: Path, text: str, *, mtime: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    if mtime:
        os.utime(path, (mtime, mtime))


@pytest.mark.rule("2.1.2", "2.1.3")
def test_two_settings_limit_the_sample_which_is_the_newest_files(tmp_path: Path) -> None:
    for number in range(1, 4):
        put(tmp_path / "in" / f"{number}.json", f'{{"c{number}": 1}}\n', mtime=1_700_000_000 + number)
    location = tmp_path / "s"
    assert names(tmp_path / "in", location=location / "a") == ["c1", "c2", "c3"]
    for limit, kept in (({f"{SAMPLE}.numFiles": "2"}, ["c2", "c3"]), ({f"{SAMPLE}.numBytes": "1b"}, ["c3"])):
        assert names(tmp_path / "in", location=location / str(limit), conf=limit) == kept


@pytest.mark.rule("2.1.4", "2.4.2", "2.4.4", "2.4.5")
def test_a_stored_schema_wins_until_its_folder_is_deleted(tmp_path: Path) -> None:
    put(tmp_path / "in" / "a.json", '{"a": 1}\n')
    checkpoint = tmp_path / "checkpoint"
    (checkpoint / "offsets").mkdir(parents=True)
    assert names(tmp_path / "in", location=checkpoint) == ["a"]
    put(tmp_path / "in" / "b.json", '{"b": 1}\n')
    assert names(tmp_path / "in", location=checkpoint) == ["a"]
    first = checkpoint / "_schemas" / "0"
    (checkpoint / "_schemas" / "1").write_text(first.read_text().replace('\\"a\\"', '\\"edited\\"'))
    assert names(tmp_path / "in", location=checkpoint) == ["edited"]
    (checkpoint / "_schemas" / "1").unlink()
    assert names(tmp_path / "in", location=checkpoint) == ["a"]
    shutil.rmtree(checkpoint / "_schemas")
    assert names(tmp_path / "in", location=checkpoint) == ["a", "b"]


@pytest.mark.rule("2.1.5", "2.1.6")
@pytest.mark.parametrize("name", ["_runs/a.json", ".x/a.json", "_a.json", "x/_y/a.json", None])
def test_a_folder_without_visible_files_is_empty(tmp_path: Path, name: str | None) -> None:
    if name is not None:
        put(tmp_path / "in" / name, '{"a": 1}\n')
    with pytest.raises(CloudFilesError, match=r"CF_EMPTY_DIR_FOR_SCHEMA_INFERENCE.*is empty.*\.schema\("):
        names(tmp_path / "in", location=tmp_path / "s")
    if name == "_runs/a.json":
        assert names(tmp_path / "in" / "_runs" / "*", location=tmp_path / "s") == ["a"]


@pytest.mark.rule("2.1.8")
def test_without_a_place_for_versions_only_streams_that_do_not_evolve_infer(tmp_path: Path) -> None:
    put(tmp_path / "a.json", '{"a": 1}\n')
    with pytest.raises(CloudFilesError, match=r"schemaLocation"):
        names(tmp_path)
    assert names(tmp_path, cf_schemaEvolutionMode="rescue") == ["a"]


@pytest.mark.rule("2.3.2")
def test_hints_are_ignored_with_a_given_schema(tmp_path: Path) -> None:
    user_schema = schema_of(a="integer")
    assert resolved(tmp_path, user_schema=user_schema, cf_schemaHints="a DATE, b INT").data == user_schema


@pytest.mark.rule("2.1.7")
def test_a_sample_without_any_record_is_an_error(tmp_path: Path) -> None:
    put(tmp_path / "in" / "a.json", "<html>\n")
    with pytest.raises(CloudFilesError, match="CF_FAILED_TO_INFER_SCHEMA"):
        names(tmp_path / "in", location=tmp_path / "s")


@pytest.mark.rule("2.1.7")
@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize(
    ("cf_format", "reason"),
    [
        ("parquet", "Parquet magic bytes not found in footer"),
        ("avro", "cannot read header"),
    ],
)
def test_files_of_another_format_are_an_error_with_the_reason(
    tmp_path: Path, cf_format: str, reason: str, files: int
) -> None:
    for number in range(files):
        put(tmp_path / "in" / f"{number}.csv", "a,b\n1,2\n")
    number_of_files = f"{files} {cf_format} {'file' if files == 1 else 'files'}"
    message = (
        rf"CF_FAILED_TO_INFER_SCHEMA.* {number_of_files}, such as \S+0\.csv: {reason}.*cloudFiles\.format"
    )
    with pytest.raises(CloudFilesError, match=message):
        names(tmp_path / "in", location=tmp_path / "s", cf_format=cf_format)


@pytest.mark.rule("2.1.7")
@pytest.mark.parametrize("is_damaged_first", [True, False])
@pytest.mark.parametrize(
    ("cf_format", "reason"),
    [
        ("parquet", "Parquet magic bytes not found in footer"),
        ("orc", "Not an ORC file"),
        ("avro", "cannot read header"),
        ("excel", "Cannot detect file format"),
        ("json", None),
        ("xml", None),
    ],
)
def test_a_batch_without_a_readable_file_has_the_reason_of_formats_that_tell_one(
    tmp_path: Path, cf_format: str, reason: str | None, *, is_damaged_first: bool
) -> None:
    texts = ["a,b\n1,2\n", " "] if is_damaged_first else [" ", "a,b\n1,2\n"]
    files = []
    for number, text in enumerate(texts):
        put(tmp_path / f"{number}.csv", text)
        files.append(FileStatus(f"{number}.csv", str(tmp_path / f"{number}.csv"), 1, len(text)))
    with pytest.raises(CloudFilesError, match=f"2 {cf_format} files, such as 0.csv") as error:
        infer_schema(files, Options.of({"cloudFiles.format": cf_format}), also_orc=True)
    if reason is None or not is_damaged_first:
        assert ("csv:" in str(error.value)) == (reason is not None)
    else:
        assert f"0.csv: {reason}" in str(error.value)


@pytest.mark.rule("3.2.3", "5.2.5", "4.3.6")
@pytest.mark.parametrize(
    ("cf_format", "expected"),
    [("text", ["value"]), ("binaryFile", ["path", "modificationTime", "length", "content"])],
)
def test_formats_of_a_fixed_schema_infer_nothing_but_partitions(
    tmp_path: Path, cf_format: str, expected: list[str]
) -> None:
    assert names(tmp_path / "nothing", cf_format=cf_format) == expected
    put(tmp_path / "in" / "day=2024-01-02" / "a", "x\n")
    found = resolved(tmp_path / "in", cf_format=cf_format, location=tmp_path / "s")
    assert (found.data.names, found.mode) == (expected, "none")
    assert found.partitions.simpleString() == "struct<day:date>"
    shutil.rmtree(tmp_path / "in")
    assert resolved(tmp_path / "in", cf_format=cf_format, location=tmp_path / "s").partitions.names == ["day"]


def test_a_variant_column_needs_no_sample_and_no_place_for_versions(tmp_path: Path) -> None:
    found = resolved(tmp_path / "nothing", singleVariantColumn="v")
    assert (found.data.simpleString(), found.mode) == ("struct<v:variant>", "none")


@pytest.mark.rule("5.2.2")
def test_a_column_in_files_and_paths_is_rejected_without_partition_columns(tmp_path: Path) -> None:
    put(tmp_path / "in" / "p=1" / "a.json", '{"a": 1, "p": 2}\n')
    with pytest.raises(CloudFilesError, match=r"CF_DUPLICATE_COLUMN_IN_DATA.*: p\."):
        names(tmp_path / "in", location=tmp_path / "s")
    with pytest.raises(CloudFilesError, match="CF_MISSING_PARTITION_COLUMN_ERROR"):
        resolved(tmp_path / "in", user_schema=schema_of(a="integer"), cf_partitionColumns="A,q")
    taken = resolved(tmp_path / "in", location=tmp_path / "s", cf_partitionColumns="p")
    assert (taken.data.names, taken.partitions.names) == (["a"], ["p"])
    left = resolved(tmp_path / "in", location=tmp_path / "t", cf_partitionColumns="")
    assert (left.data.names, left.partitions.names) == (["a", "p"], [])
    user_schema = resolved(tmp_path / "in", user_schema=schema_of(a="integer", p="integer"))
    assert (user_schema.partitions.names, user_schema.mode) == (["p"], "none")


@pytest.mark.rule("5.2.1", "5.2.3")
@pytest.mark.parametrize("options", [{}, {"cf_partitionColumns": "DAY"}])
@pytest.mark.parametrize("user_schema", [None, schema_of(Day="date", a="integer")])
def test_a_partition_column_has_its_name_in_any_case(
    tmp_path: Path, user_schema: StructType | None, options: dict[str, str]
) -> None:
    file = tmp_path / "in" / "day=2024-01-02" / "a.json"
    put(file, '{"a": 1}\n')
    found = resolved(tmp_path / "in", user_schema=user_schema, location=tmp_path / "s", **options)
    (partition,) = found.partitions.fields
    assert (partition.name.lower(), partition.dataType.typeName()) == ("day", "date")
    plan = replace(plan_of(found.data), source_key=f"file:{tmp_path}/in", partitions=(partition.name,))
    columns = {field.name: field for field in (*found.data.fields, partition)}
    builder = BatchBuilder.of(plan, StructType([*columns.values()]))
    assert list(builder.data) == ["a"]
    status = FileStatus(f"file:{file}", str(file), 1, 1)
    assert builder.partition_values(partition.name, [(status, 1)]).to_pylist() == [date(2024, 1, 2)]


@pytest.mark.rule("2.3.1", "5.2.3")
@pytest.mark.usefixtures("spark")
def test_a_hint_types_the_partition_column_of_its_name_in_any_case(tmp_path: Path) -> None:
    put(tmp_path / "in" / "day=2024-01-02" / "a.json", '{"a": 1}\n')
    found = resolved(tmp_path / "in", cf_schemaHints="Day STRING, A INT", location=tmp_path / "s")
    assert (found.data.simpleString(), found.partitions.simpleString()) == (
        "struct<A:int>",
        "struct<day:string>",
    )


@pytest.mark.rule("3.2.11", "5.2.3")
def test_partition_columns_never_evolve(tmp_path: Path) -> None:
    """A new key in a path is no column; a field named as a partition column is no drift either."""
    from dataclasses import replace

    from lakeward.autoloader.discovery.file_listing import FileStatus
    from tests.autoloader.reader_harness import plan_of

    path = tmp_path / "p=1" / "q=2" / "a.json"
    put(path, '{"a": 1, "p": 7}\n')
    plan = replace(
        plan_of(schema_of(a="integer"), inferred=True),
        partitions=("p",),
        source=str(tmp_path),
        source_key=f"file:{tmp_path}",
    )
    status = FileStatus(f"file:{path}", str(path), 1, 1)
    batch = next(iter(read_batch_files(plan, schema_of(a="integer", p="integer"), [status], ("", 0, 0))))
    assert batch.to_pylist() == [{"a": 1, "p": 1}]


@pytest.mark.rule("4.5.4", "7.5")
def test_the_corrupt_column_of_xml_is_inferred_with_its_first_broken_record(tmp_path: Path) -> None:
    path = tmp_path / "in" / "a.xml"
    put(path, "<r><row><a>1</a></row><row><a>2</b></row></r>")
    options = {"cf_format": "xml", "rowTag": "row"}
    found = resolved(tmp_path / "in", location=tmp_path / "s", **options)
    assert found.data.names == ["_corrupt_record", "a"]
    rows = rows_of([path], found.data, **options)
    assert rows == [
        {"_corrupt_record": None, "a": "1"},
        {"_corrupt_record": "<row><a>2</b></row>", "a": None},
    ]
    put(path, "<r><row><a>1</a></row></r>")
    assert names(tmp_path / "in", location=tmp_path / "t", **options) == ["a"]


def test_xml_without_a_row_tag_fails_at_definition(tmp_path: Path) -> None:
    put(tmp_path / "in" / "a.xml", "<r/>")
    with pytest.raises(CloudFilesError, match=r"XML_ROW_TAG_MISSING"):
        names(tmp_path / "in", location=tmp_path / "s", cf_format="xml")


def test_streams_are_defined_and_started_by_modules_that_do_not_import_arrow() -> None:
    modules = ("pyspark_patches", "data_sources", "schema.schema_resolution", "streams.scan_planning")
    code = "import sys, " + ", ".join(f"lakeward.autoloader.{name}" for name in modules)
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*sys.modules)"], check=True, capture_output=True, text=True
    )
    assert not {"numpy", "pandas", "pyarrow"} & set(done.stdout.split())
