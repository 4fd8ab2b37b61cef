"""`input_file_name()` returns the file in runtimes that support it, and the platform's error in others."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

from lakeward.session import PROFILES
from lakeward.session.runtimes.profiles import get_profile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SETTING = "spark.sql.lakeward.inputFileName"
HAVING = [name for name in PROFILES if name in ("13.3", "14.3", "15.4", "16.4")]
Way = Callable[["SparkSession", "Files"], "DataFrame"]


class Files:
    """Two JSON files and the ways to read them."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.path, self.locations = spark, str(folder / "in"), folder
        (folder / "in").mkdir()
        for n in (1, 2):
            (folder / "in" / f"f{n}.json").write_text(f'{{"a": {n}}}\n')

    def stream(self) -> DataFrame:
        reader = self.spark.readStream.format("cloudFiles").option("cloudFiles.format", "json")
        location = str(self.locations / uuid.uuid4().hex)
        return reader.option("cloudFiles.schemaLocation", location).load(self.path).drop("_rescued_data")

    def view(self) -> str:
        name = "v" + uuid.uuid4().hex
        self.stream().createOrReplaceTempView(name)
        return name

    @property
    def of_sql(self) -> str:
        location = str(self.locations / uuid.uuid4().hex)
        return f"read_files('{self.path}', format => 'json', schemaLocation => '{location}')"


def _column() -> Any:
    from pyspark.sql import functions as F

    return F.input_file_name()


def _expr(text: str) -> Any:
    from pyspark.sql import functions as F

    return F.expr(text)


WAYS: dict[str, Way] = {
    "select": lambda _, files: files.stream().select("a", _column().alias("f")),
    "withColumn": lambda _, files: files.stream().withColumn("f", _column()).select("a", "f"),
    "after other columns": lambda _, files: (
        files.stream().withColumn("b", _expr("a")).where("b IS NOT NULL").select("a", _column().alias("f"))
    ),
    "inside an expression": lambda _, files: files.stream().select(
        "a", _expr("concat('', Input_File_Name())").alias("f")
    ),
    "condition": lambda _, files: (
        files.stream().where(_column().endswith(".json")).select("a", "_metadata.file_path").toDF("a", "f")
    ),
    "SQL over a view": lambda spark, files: spark.sql(
        f"SELECT a, input_file_name() AS f FROM {files.view()}"
    ),
    "SQL with a subquery": lambda spark, files: spark.sql(
        f"SELECT a, f FROM (SELECT *, input_file_name() AS f FROM {files.view()} WHERE a IS NOT NULL)"
    ),
    "SQL stream of read_files": lambda spark, files: spark.sql(
        f"SELECT a, input_file_name() AS f FROM STREAM {files.of_sql}"
    ),
    "SQL batch of read_files": lambda spark, files: spark.sql(
        f"SELECT a, input_file_name() AS f FROM read_files('{files.path}', format => 'json')"
    ),
    "batch": lambda spark, files: spark.read.json(files.path).select("a", _column().alias("f")),
    "SQL over files": lambda spark, files: spark.sql(
        f"SELECT a, input_file_name() AS f FROM json.`{files.path}`"
    ),
}


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> Iterator[Files]:
    yield Files(spark, tmp_path)
    spark.conf.unset(SETTING)


def rows_of(df: DataFrame, folder: Path) -> set[tuple[str, str]]:
    if df.isStreaming:
        out = str(folder / uuid.uuid4().hex)
        writer = df.writeStream.format("delta").option("checkpointLocation", out + "/c")
        writer.trigger(availableNow=True).start(out).awaitTermination()
        df = df.sparkSession.read.format("delta").load(out)
    return {(str(row["a"]), row["f"].rpartition("/")[2]) for row in df.collect()}


@pytest.mark.parametrize("way", WAYS)
def test_runtimes_that_have_it_give_the_file(
    spark: SparkSession, files: Files, tmp_path: Path, way: str
) -> None:
    spark.conf.set(SETTING, get_profile("16.4").conf()[SETTING])
    assert rows_of(WAYS[way](spark, files), tmp_path) == {("1", "f1.json"), ("2", "f2.json")}


def test_in_a_batch_of_auto_loader_it_is_an_error_and_no_empty_string(
    spark: SparkSession, files: Files, tmp_path: Path
) -> None:
    spark.conf.set(SETTING, "")
    caught: list[Any] = []

    def batch(df: DataFrame, _: int) -> None:
        try:
            df.select("a", _column().alias("f"))
        except AnalysisException as error:
            caught.append(error)
        read = df.sparkSession.read.json(files.path).select("a", _column().alias("f"))
        assert rows_of(read, tmp_path) == {("1", "f1.json"), ("2", "f2.json")}

    writer = files.stream().writeStream.option("checkpointLocation", str(tmp_path / "c"))
    writer.trigger(availableNow=True).foreachBatch(batch).start().awaitTermination()
    assert [error.getCondition() for error in caught] == ["INPUT_FILE_NAME_IN_FOREACH_BATCH"]
    assert "_metadata.file_path" in str(caught[0])


@pytest.mark.parametrize("way", WAYS)
def test_runtimes_without_it_raise_the_error_of_the_platform(
    spark: SparkSession, files: Files, way: str
) -> None:
    spark.conf.set(SETTING, get_profile("17.3").conf()[SETTING])
    with pytest.raises(AnalysisException, match="use _metadata") as caught:
        WAYS[way](spark, files)
    assert caught.value.getCondition() == "UC_COMMAND_NOT_SUPPORTED.WITH_RECOMMENDATION"
    assert caught.value.getSqlState() == "0AKUC"


def test_the_name_of_the_column_and_the_other_columns_stay(spark: SparkSession, files: Files) -> None:
    spark.conf.set(SETTING, "")
    assert files.stream().select("*", _column()).columns == ["a", "input_file_name()"]
    assert files.stream().where(_column() != "").columns == ["a"]


@pytest.mark.parametrize(
    ("name", "has"),
    [
        *((name, name in HAVING) for name in PROFILES),
        *(("17.0", True), ("17.2.x-scala2.13", True), ("17.3.x-scala2.13", False), ("12.2", True)),
    ],
)
def test_the_function_went_with_runtime_17_3(name: str, has: bool) -> None:
    assert get_profile(name).conf()[SETTING] == ("" if has else "removed")


def test_delta_still_finds_the_files_that_it_rewrites(spark: SparkSession, files: Files) -> None:
    spark.conf.set(SETTING, get_profile("17.3").conf()[SETTING])
    table = "t" + uuid.uuid4().hex
    spark.range(3).write.saveAsTable(table)
    spark.sql(f"UPDATE {table} SET id = 10 WHERE id = 1")
    spark.sql(f"DELETE FROM {table} WHERE id = 2")
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT 0L AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = 7"
    )
    assert sorted(row["id"] for row in spark.table(table).collect()) == [7, 10]
