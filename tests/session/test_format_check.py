"""Files of a Delta table are not read or written in another format: formats × spellings of the path.

Source: DELTA_INVALID_FORMAT and DELTA_MISSING_TRANSACTION_LOG of https://docs.databricks.com/aws/en/error-messages/error-classes
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceReader

from lakeward.dbutils import DBUtils
from lakeward.session import condition_of
from tests.lanes import sampled

T = "main.default.format_check"
FORMATS = ("parquet", "csv", "json", "orc", "text")


@pytest.fixture
def folder(spark: SparkSession) -> Iterator[Path]:
    """The folder of a table whose first file has a row that was replaced."""
    spark.sql(f"CREATE OR REPLACE TABLE {T} AS SELECT 1 AS a")
    spark.sql(f"UPDATE {T} SET a = 2")
    detail = spark.sql(f"DESCRIBE DETAIL {T}").first()
    assert detail is not None
    yield Path(detail["location"].removeprefix("file:"))
    spark.sql(f"DROP TABLE {T}")


def rows(spark: SparkSession) -> DataFrame:
    return spark.range(1).selectExpr("'x' AS a")


PATHS: dict[str, Callable[[Path], str]] = {
    "folder": str,
    "slash": lambda folder: f"{folder}/",
    "scheme": lambda folder: f"file:{folder}",
    "files": lambda folder: f"{folder}/*.parquet",
    "one file": lambda folder: str(next(folder.glob("*.parquet"))),
}
READERS: dict[str, Callable[[SparkSession, str, str], Any]] = {
    "load": lambda spark, kind, path: spark.read.format(kind).load(path),
    "option": lambda spark, kind, path: spark.read.format(kind).option("path", path).load(),
    "method": lambda spark, kind, path: getattr(spark.read, kind)(path),
    "list": lambda spark, kind, path: spark.read.format(kind).load([path]),
    "SQL": lambda spark, kind, path: spark.sql(f"SELECT * FROM {kind}.`{path}`"),
    "stream": lambda spark, kind, path: spark.readStream.schema("a INT").format(kind).load(path),
    "overwrite": lambda spark, kind, path: rows(spark).write.format(kind).mode("overwrite").save(path),
    "append": lambda spark, kind, path: rows(spark).write.format(kind).mode("append").save(path),
}


# Writers and SQL take folders.
CASES = [
    (reader, path)
    for reader, path in product(READERS, PATHS)
    if path not in ("files", "one file") or reader not in ("overwrite", "append", "SQL")
]


@pytest.mark.parametrize(
    ("reader", "path"),
    sampled(CASES, *((each, "folder") for each in READERS), *(("load", each) for each in PATHS)),
)
def test_the_files_of_a_table_are_refused(spark: SparkSession, folder: Path, reader: str, path: str) -> None:
    for kind in FORMATS:
        if (reader, kind) == ("stream", "text"):
            continue
        with pytest.raises(AnalysisException) as raised:
            READERS[reader](spark, kind, PATHS[path](folder))
        assert raised.value.getCondition() == "DELTA_INVALID_FORMAT"
    assert spark.table(T).collect() == [(2,)]


def test_the_log_can_be_read(spark: SparkSession, folder: Path) -> None:
    assert spark.read.json(f"{folder}/_delta_log/*.json").count() > 1
    assert spark.read.format("delta").load(str(folder)).collect() == [(2,)]
    assert spark.read.format("binaryFile").load(str(folder)).count() == 2


def test_the_setting_of_delta_allows_it(spark: SparkSession, folder: Path) -> None:
    spark.conf.set("spark.databricks.delta.formatCheck.enabled", "false")
    try:
        assert sorted(spark.read.parquet(str(folder)).collect()) == [(1,), (2,)]
    finally:
        spark.conf.unset("spark.databricks.delta.formatCheck.enabled")


def test_a_folder_without_a_table_is_read(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    spark.range(3).write.parquet(str(tmp_path / "plain"))
    assert spark.read.parquet(str(tmp_path / "plain")).count() == 3


@pytest.mark.parametrize("content", ["nothing", "csv", "parquet"])
@pytest.mark.parametrize("reader", ["load", "option", "list", "SQL"])
def test_a_folder_without_a_log_is_not_read_as_a_table(
    spark: SparkSession, tmp_path: Path, content: str, reader: str
) -> None:
    path = tmp_path / "plain"
    if content == "nothing":
        path.mkdir()
    else:
        rows(spark).write.format(content).save(str(path))
    for spelled in (str(path), f"file:{path}", f"{path}/"):
        with pytest.raises(AnalysisException, match="no transaction log present") as raised:
            READERS[reader](spark, "delta", spelled)
        assert raised.value.getCondition() == "DELTA_MISSING_TRANSACTION_LOG"
        assert raised.value.getSqlState() == "42K03"


# Folders in the spellings of Spark; the first one creates them.
FOLDERS = {
    "local": ("{tmp}/w", "file:{tmp}/w", "{tmp}/w/"),
    "DBFS": ("dbfs:/format_check/w", "/dbfs/format_check/w"),
    "mount point": ("/mnt/format_check/w", "dbfs:/mnt/format_check/w", "/dbfs/mnt/format_check/w"),
    "volume": ("/Volumes/main/default/format_check/w", "dbfs:/Volumes/main/default/format_check/w"),
}
WRITERS: dict[str, Callable[[DataFrame, str], None]] = {
    "append": lambda df, path: df.write.format("delta").mode("append").save(path),
    "overwrite": lambda df, path: df.write.format("delta").mode("overwrite").option("path", path).save(),
    "error": lambda df, path: df.write.format("delta").save(path),
    "partitions": lambda df, path: df.write.format("delta").partitionBy("p").mode("append").save(path),
}


@pytest.mark.parametrize("place", FOLDERS)
@pytest.mark.parametrize("content", ["csv", "parquet", "partitions"])
def test_a_table_is_not_written_next_to_other_files(
    spark: SparkSession, tmp_path: Path, place: str, content: str
) -> None:
    spark.sql("CREATE VOLUME IF NOT EXISTS main.default.format_check")
    first, *others = (each.format(tmp=tmp_path) for each in FOLDERS[place])
    data = rows(spark).withColumn("p", F.lit(1))
    before = data.write.mode("overwrite").format("parquet" if content == "partitions" else content)
    (before.partitionBy("p") if content == "partitions" else before).save(first)
    for path, writer in product((first, *others), WRITERS):
        with pytest.raises(
            AnalysisException, match=r"trying to write to .* no transaction log present"
        ) as raised:
            WRITERS[writer](data, path)
        assert raised.value.getCondition() == "DELTA_MISSING_TRANSACTION_LOG"
    assert "_delta_log" not in str(DBUtils(spark).fs.ls(first))


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("content", ["nothing", "empty folder", "hidden", "checkpoint", "table"])
def test_a_table_is_written_where_no_other_files_are(
    spark: SparkSession, tmp_path: Path, content: str, writer: str
) -> None:
    path, data = tmp_path / "t", rows(spark).withColumn("p", F.lit(1))
    if content != "nothing":
        path.mkdir()
    if content == "hidden":
        (path / "_SUCCESS").touch()
    if content == "checkpoint":
        (path / "checkpoint").mkdir()
        (path / "checkpoint" / "metadata").write_text("{}")
    if content == "table":
        data.limit(0).write.format("delta").partitionBy("p").mode("append").save(str(path))
        writer = "append" if writer == "error" else writer
    WRITERS[writer](data, str(path))
    assert spark.read.format("delta").load(str(path)).count() == 1


def test_the_setting_allows_to_write_next_to_other_files(spark: SparkSession, tmp_path: Path) -> None:
    rows(spark).write.csv(str(tmp_path / "w"))
    spark.conf.set("spark.databricks.delta.formatCheck.enabled", "false")
    try:
        WRITERS["append"](rows(spark), str(tmp_path / "w"))
    finally:
        spark.conf.unset("spark.databricks.delta.formatCheck.enabled")
    assert spark.read.format("delta").load(str(tmp_path / "w")).count() == 1


def test_an_absent_folder_and_a_part_of_a_table_are_none_without_a_log(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(AnalysisException) as raised:
        spark.read.format("delta").load(str(tmp_path / "absent"))
    assert raised.value.getCondition() == "PATH_NOT_FOUND"
    path = str(tmp_path / "parts")
    spark.range(2).selectExpr("id", "id AS p").write.format("delta").partitionBy("p").save(path)
    assert spark.read.format("delta").load(f"{path}/p=1").count() == 1
    with pytest.raises(AnalysisException) as raised:
        spark.readStream.format("delta").load(str(tmp_path))
    assert raised.value.getCondition() != "DELTA_MISSING_TRANSACTION_LOG"


EXCEL: dict[str, Callable[[SparkSession, str], Any]] = {
    "stream": lambda spark, path: spark.readStream.format("Excel").load(path),
    "path": lambda spark, path: spark.sql(f"SELECT * FROM excel.`{path}`"),
}


@pytest.mark.parametrize("reader", EXCEL)
def test_excel_is_refused_with_what_reads_it(spark: SparkSession, tmp_path: Path, reader: str) -> None:
    file = tmp_path / "book.xlsx"
    file.write_bytes(b"PK")
    with pytest.raises(AnalysisException, match=r"spark\.read\.excel") as raised:
        EXCEL[reader](spark, str(file))
    assert condition_of(raised.value) == "UNSUPPORTED_SQL"


def test_a_data_source_of_the_project_reads_excel(spark: SparkSession) -> None:
    class Book(DataSource):
        @classmethod
        def name(cls) -> str:
            return "excel"

        def schema(self) -> str:
            return "a INT"

        def reader(self, schema: Any) -> Any:
            del schema

            class Sheet(DataSourceReader):
                def read(self, partition: Any) -> Any:
                    del partition
                    yield (1,)

            return Sheet()

    session = spark.newSession()
    session.dataSource.register(Book)
    assert session.read.format("excel").load().collect() == [(1,)]
