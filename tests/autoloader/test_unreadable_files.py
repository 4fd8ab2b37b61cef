"""A batch over a file that cannot be read has the condition of Spark's readers, in a query and in a write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.errors import PythonException
from pyspark.sql import DataFrame, SparkSession

from lakeward.session import condition_of, ensure_schema, message_of

TARGET = "main.unreadable.t"
ACTIONS: dict[str, Callable[[DataFrame], object]] = {
    "collect": lambda rows: rows.collect(),
    "saveAsTable": lambda rows: rows.write.mode("overwrite").saveAsTable("main.unreadable.other"),
    "writeTo": lambda rows: rows.writeTo("main.unreadable.other").createOrReplace(),
    "insertInto": lambda rows: rows.write.insertInto(TARGET),
    "CREATE TABLE": lambda rows: rows.sparkSession.sql(
        "CREATE OR REPLACE TABLE main.unreadable.other AS SELECT * FROM unreadable_rows"
    ),
    "INSERT": lambda rows: rows.sparkSession.sql(f"INSERT INTO {TARGET} SELECT * FROM unreadable_rows"),
    "MERGE": lambda rows: rows.sparkSession.sql(
        f"MERGE INTO {TARGET} t USING unreadable_rows s ON t.a = s.a WHEN NOT MATCHED THEN INSERT *"
    ),
}


@pytest.fixture
def table(spark: SparkSession) -> Iterator[str]:
    ensure_schema(spark, "main", "unreadable")
    spark.sql(f"CREATE OR REPLACE TABLE {TARGET} (a INT)")
    yield TARGET
    spark.sql("DROP SCHEMA main.unreadable CASCADE")


@pytest.mark.parametrize("file_format", ["parquet", "avro", "orc"])
@pytest.mark.parametrize("action", ACTIONS)
def test_an_unreadable_file_has_the_condition_of_the_reader(
    spark: SparkSession, table: str, tmp_path: Path, action: str, file_format: str
) -> None:
    (tmp_path / f"a.{file_format}").write_text("twelve and more characters of prose")
    rows = spark.sql(f"SELECT * FROM read_files('{tmp_path}', format => '{file_format}', schema => 'a INT')")
    rows.createOrReplaceTempView("unreadable_rows")
    with pytest.raises(PythonException) as caught:
        ACTIONS[action](rows)
    assert condition_of(caught.value) == "FAILED_READ_FILE.NO_HINT"
    assert "Traceback" not in message_of(caught.value)
    assert spark.table(table).count() == 0
