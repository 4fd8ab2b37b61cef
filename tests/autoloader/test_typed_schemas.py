"""Schemas with other types than the files, without a rescued data column, against Spark's batch readers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from lakeward.errors import CloudFilesError
from tests.autoloader.entry_points import read_by
from tests.autoloader.reader_harness import comparable, rows_of

FORMATS = ("parquet", "avro", "orc")
# Names of columns with their types, and values of each.
COLUMNS = {
    "tiny": ("TINYINT", "1Y, -3Y"),
    "small": ("SMALLINT", "1S, 300S"),
    "int": ("INT", "1, 70000"),
    "big": ("BIGINT", "1L, 5000000000L"),
    "float": ("FLOAT", "1.5F"),
    "double": ("DOUBLE", "1.5D, 1E100D"),
    "dec": ("DECIMAL(10,2)", "1.25"),
    "wide": ("DECIMAL(24,4)", "1.25"),
    "str": ("STRING", "'1', 'x'"),
    "bin": ("BINARY", "X'41'"),
    "date": ("DATE", "DATE'2024-01-02'"),
    "at": ("TIMESTAMP", "TIMESTAMP'2024-01-02 10:00:00'"),
    "clock": ("TIMESTAMP_NTZ", "TIMESTAMP_NTZ'2024-01-02 10:00:00'"),
    "bool": ("BOOLEAN", "true"),
    "list": ("ARRAY<INT>", "array(1, NULL)"),
    "map": ("MAP<STRING,INT>", "map('a', 1)"),
    "rec": ("STRUCT<a: INT, b: STRING>", "named_struct('a', 1, 'b', 'x')"),
    "recs": ("ARRAY<STRUCT<a: INT, b: STRING>>", "array(named_struct('a', 1, 'b', 'x'), NULL)"),
}
OTHERS = [
    "ARRAY<BIGINT>", "ARRAY<STRING>", "MAP<STRING,BIGINT>", "MAP<STRING,DATE>", "STRUCT<a: BIGINT>",
    "STRUCT<a: STRING, c: INT>", "STRUCT<b: STRING, a: INT, c: DATE>", "ARRAY<STRUCT<a: BIGINT, c: INT>>",
]  # fmt: skip
TYPES = [*(dtype for dtype, _ in COLUMNS.values()), *OTHERS]


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> dict[str, Path]:
    """Return a file of each format with all columns; rows that a column lacks are NULL."""
    folder = tmp_path
    position = "CASE WHEN id < size(array({0})) THEN CAST(id AS INT) + 1 ELSE 1 END"
    columns = [
        f"element_at(array({values}), {position.format(values)}) AS `{name}`"
        for name, (_, values) in COLUMNS.items()
    ]
    rows = spark.range(2, numPartitions=1).selectExpr(*columns)
    casts = [f"CAST(`{name}` AS {dtype}) AS `{name}`" for name, (dtype, _) in COLUMNS.items()]
    found = {}
    for form in FORMATS:
        rows.selectExpr(*casts).write.format(form).save(str(folder / form))
        found[form] = next((folder / form).glob(f"part-*.{form}"))
    return found


def outcome(path: Path, form: str, name: str, dtype: str) -> Any:
    """Return the values of a column that is read as a type, or the condition of the error."""
    try:
        rows = rows_of([path], StructType.fromDDL(f"`{name}` {dtype}"), cf_format=form)
    except CloudFilesError as error:
        return error.condition
    return [comparable(row[name]) for row in rows]


def converted(files: dict[str, Path], form: str) -> dict[str, dict[str, Any]]:
    """Return the values of each column in each type as which it is read."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for name in COLUMNS:
        for dtype in TYPES:
            values = outcome(files[form], form, name, dtype)
            if not isinstance(values, str):
                found[name][dtype] = values
    return found


def rounds(found: dict[str, dict[str, Any]]) -> Iterator[dict[str, str]]:
    """Yield schemas, in each a column once, until each column had each of its types."""
    number = 0
    while schema := {name: list(types)[number] for name, types in found.items() if number < len(types)}:
        yield schema
        number += 1


@pytest.mark.rule("2.3.6", "1.5")
def test_what_is_converted_has_the_values_of_spark(spark: SparkSession, files: dict[str, Path]) -> None:
    for form in FORMATS:
        found = converted(files, form)
        if form == "orc":
            # Spark reads the seconds as microseconds: 1970.
            assert found["at"].pop("TIMESTAMP_NTZ") == found["at"]["TIMESTAMP"]
        assert sum(map(len, found.values())) >= 30, form
        assert {"BIGINT", "DOUBLE"} <= found["int"].keys(), form
        assert {"ARRAY<BIGINT>", "ARRAY<INT>"} <= found["list"].keys(), form
        for schema in rounds(found):
            ddl = ", ".join(f"`{name}` {dtype}" for name, dtype in schema.items())
            rows = spark.read.schema(ddl).format(form).load(str(files[form])).collect()
            for name, dtype in schema.items():
                assert found[name][dtype] == [comparable(row[name]) for row in rows], (form, name, dtype)


# Conversions of Spark that are refused here: they reinterpret numbers or lose digits.
REINTERPRETED = {
    "parquet": {
        ("tiny", "DATE"), ("small", "DATE"), ("int", "DATE"), ("dec", "BIGINT"), ("date", "TINYINT"),
        ("date", "SMALLINT"), ("date", "INT"), ("date", "BIGINT"), ("date", "DOUBLE"), ("clock", "BIGINT"),
        ("dec", "BINARY"), ("wide", "BINARY"), ("at", "BIGINT"),
        ("small", "TINYINT"), ("int", "TINYINT"), ("int", "SMALLINT"), ("map", "MAP<STRING,DATE>"),
    },
    "avro": {
        ("tiny", "DATE"), ("small", "DATE"), ("int", "DATE"), ("big", "DATE"), ("big", "TIMESTAMP"),
        ("big", "TIMESTAMP_NTZ"), ("dec", "BINARY"), ("wide", "BINARY"), ("date", "INT"), ("date", "BIGINT"),
        ("date", "DOUBLE"), ("at", "BIGINT"), ("clock", "BIGINT"), ("map", "MAP<STRING,DATE>"),
    },
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.rule("2.3.6", "1.5")
@pytest.mark.parametrize("form", ["parquet", "avro"])
def test_what_is_refused_is_refused_by_spark(spark: SparkSession, files: dict[str, Path], form: str) -> None:
    found = converted(files, form)
    refused = [(name, dtype) for name in COLUMNS for dtype in TYPES if dtype not in found[name]]
    assert len(refused) > 300
    wrong = []
    for name, dtype in refused:
        try:
            spark.read.schema(f"`{name}` {dtype}").format(form).load(str(files[form])).collect()
        except Exception:  # noqa: BLE001  # the reader of Parquet has errors without a condition
            continue
        if (name, dtype) not in REINTERPRETED[form]:
            wrong.append((name, dtype))
    assert wrong == []


@pytest.mark.rule("2.3.6")
def test_no_value_is_lost(files: dict[str, Path]) -> None:
    """A column of the file is NULL nowhere: it is converted, or its file is refused."""
    mismatch = "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH"
    for form in FORMATS:
        condition = mismatch if form == "parquet" else "FAILED_READ_FILE.NO_HINT"
        for name in COLUMNS:
            for dtype in TYPES:
                values = outcome(files[form], form, name, dtype)
                if isinstance(values, str):
                    assert values == condition, (form, name, dtype)
                else:
                    assert "None" not in values, (form, name, dtype)


# COPY INTO has no schema: it casts to the columns of its table.
ENTRY_POINTS = ("cloudFiles", "streaming table", "read_files", "spark.read with badRecordsPath")


@pytest.mark.rule("2.3.6")
@pytest.mark.parametrize("entry", ENTRY_POINTS)
def test_every_entry_point_converts_or_refuses(
    spark: SparkSession, files: dict[str, Path], entry: str
) -> None:
    for form in FORMATS:
        rows = read_by(spark, entry, files[form], form, {}, schema="int BIGINT, list ARRAY<BIGINT>")
        assert [row.asDict() for row in rows.sort("int").collect()] == [
            {"int": 1, "list": [1, None]},
            {"int": 70000, "list": [1, None]},
        ], (form, entry)
        with pytest.raises(PySparkException) as caught:
            read_by(spark, entry, files[form], form, {}, schema="int DATE").collect()
        assert (caught.value.getCondition() or "").startswith("FAILED_READ_FILE"), (form, entry)
