"""Partition columns by the names of folders, against Spark's batch reader."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.schema.partition_columns import infer_partition_schema
from tests.autoloader.entry_points import ENTRY_POINTS, read_by

# fmt: off
VALUES = [
    "1", "01", "-5", "+1", "-0", "1.5", "1e3", "1E5", ".5", "5.", "-0.0", "a", "true", "NaN", "nan", "inf",
    "Infinity", "-Infinity", "1d", "1.5D", "0x1F", "1_000", " 7", "1,5", "3L", "-", "%20", "a%2Fb",
    "99999999999", "9223372036854775808", "9" * 38, "9" * 40,
    "2024-01-02", "2024-1-2", "2024-01", "2024-02-30", "0001-01-01", "10000-01-01",
    "2024-01-02 10%3A20%3A00", "2024-01-02 10%3A20%3A00.1", "2024-01-02 10%3A20%3A00.123",
    "2024-01-02T10%3A20%3A00", "2024-01-02 10%3A20", "2024-01-02 25%3A00%3A00", "2024-01-02 10%3A20%3A00Z",
]
KINDS = [
    "1", "99999999999", "9" * 20, "1.5", "1e3", "NaN", "a", "2024-01-02", "2024-01-02 10%3A20%3A00",
    "__HIVE_DEFAULT_PARTITION__",
]
# fmt: on


def written(folder: Path, values: tuple[str, ...]) -> str:
    for value in values:
        (folder / f"p={value}").mkdir(parents=True)
        (folder / f"p={value}" / "f.txt").write_text("x\n")
    return str(folder)


def partitions(rows: DataFrame) -> tuple[str, list[str]]:
    return rows.schema["p"].dataType.simpleString(), sorted(repr(row.p) for row in rows.collect())


@pytest.mark.rule("5.2.1")
def test_types_and_values_are_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    """Each spelling of a value alone, and each pair of kinds in one column."""
    cases = [*((value,) for value in VALUES), *combinations(KINDS, 2)]
    for number, values in enumerate(cases):
        folder = written(tmp_path / str(number), values)
        expected = partitions(spark.read.text(folder))
        found = partitions(spark.sql(f"SELECT * FROM read_files('{folder}', format => 'text')"))
        assert found == expected, values


@pytest.mark.rule("5.2.1")
def test_a_column_without_values_is_a_string() -> None:
    """Spark's is VOID, which a table cannot have."""
    schema = infer_partition_schema(
        ["/p=__HIVE_DEFAULT_PARTITION__/f"], Options.of({"cloudFiles.format": "text"}), None
    )
    assert schema.simpleString() == "struct<p:string>"


@pytest.mark.rule("5.2.1")
def test_options_of_the_format_do_not_apply_to_paths(spark: SparkSession, tmp_path: Path) -> None:
    """A `dateFormat` is for values of files: partition columns of another spelling became NULL."""
    folder = tmp_path / "in" / "d=2024-01-02" / "n=1.5" / "at=2024-01-02 10%3A20%3A00"
    folder.mkdir(parents=True)
    (folder / "f.csv").write_text("x\n01.02.2024\n")
    settings: list[dict[str, Any]] = [
        {"dateFormat": "dd.MM.yyyy"},
        {"timestampFormat": "dd/MM/yyyy"},
        {"nullValue": "1.5", "nanValue": "1.5"},
        {"timeZone": "Asia/Tokyo"},
    ]
    for options in settings:
        given = {"header": "true", **options}
        reader = spark.read.options(inferSchema="true", **given)
        expected = reader.csv(str(tmp_path / "in")).select("d", "n", "at").collect()
        for entry in ENTRY_POINTS:
            found = read_by(spark, entry, tmp_path / "in", "csv", given).select("d", "n", "at")
            assert found.collect() == expected, (options, entry)


@pytest.mark.rule("5.1")
def test_the_name_of_a_file_is_encoded_as_its_path(spark: SparkSession, tmp_path: Path) -> None:
    names = ["a b.txt", "c#1.txt", "d%20e.txt", "é.txt", "x[1].txt", "q'.txt"]
    for name in names:
        (tmp_path / name).write_text("x\n")
    expected = {row[0] for row in spark.read.text(str(tmp_path)).select("_metadata.file_name").collect()}
    assert len(expected) == len(names)
    query = f"SELECT _metadata.file_name FROM read_files('{tmp_path}', format => 'text')"
    assert {row[0] for row in spark.sql(query).collect()} == expected
