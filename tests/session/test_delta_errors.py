"""Errors of Delta are errors of PySpark, with a condition and a message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from delta.tables import DeltaTable
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

T = "main.delta_errors.t"
C = "main.delta_errors.c"
MERGE = f"MERGE INTO {T} t USING (SELECT 1 AS id) s ON "

# Statement → condition. Those of MERGE have a position in the statement.
STATEMENTS = {
    MERGE + "t.nope = s.id WHEN MATCHED THEN DELETE": "DELTA_MERGE_UNRESOLVED_EXPRESSION",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v": "DELTA_MERGE_UNRESOLVED_EXPRESSION",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET nope = 1": "DELTA_MERGE_UNRESOLVED_EXPRESSION",
    MERGE + "t.id = s.id WHEN MATCHED THEN UPDATE SET *": "DELTA_MERGE_UNRESOLVED_EXPRESSION",
    MERGE + "t.id = s.id WHEN MATCHED AND s.v > 1 THEN DELETE": "DELTA_MERGE_UNRESOLVED_EXPRESSION",
    MERGE + "t.id = s.id WHEN NOT MATCHED THEN INSERT *": "DELTA_MERGE_UNRESOLVED_EXPRESSION",
    MERGE + "t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.v)": "DELTA_MERGE_UNRESOLVED_EXPRESSION",
    MERGE
    + "t.id = s.id WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = s.id": "DELTA_MERGE_UNRESOLVED_EXPRESSION",
    f"SELECT * FROM {T} VERSION AS OF 99": "DELTA_VERSION_NOT_FOUND",
    f"RESTORE TABLE {T} TO VERSION AS OF 99": "DELTA_CANNOT_RESTORE_TABLE_VERSION",
    f"ALTER TABLE {T} DROP COLUMN v": "DELTA_UNSUPPORTED_DROP_COLUMN",
    f"ALTER TABLE {T} ADD CONSTRAINT c CHECK (v = 'b')": "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION",
    f"OPTIMIZE {T} WHERE v = 'a'": "DELTA_NON_PARTITION_COLUMN_REFERENCE",
    f"INSERT INTO {T} SELECT 1, 'a', 3": "DELTA_METADATA_MISMATCH",
    # PySpark knows no class for these.
    f"INSERT INTO {C} VALUES (-1, 1)": "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
    f"INSERT INTO {C} VALUES (1, NULL)": "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
    f"UPDATE {C} SET id = -1": "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
    f"MERGE INTO {C} t USING (SELECT -5 AS id, 1 AS n) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *": (
        "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    ),
    f"ALTER TABLE {T} DROP FEATURE deletionVectors": "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT",
    f"ALTER TABLE {T} SET TBLPROPERTIES ('delta.appendOnly' = 'x')": "UNSUPPORTED_TABLE_CHANGE",
}


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """The session, with a table of one row, which no test changes."""
    spark.sql("CREATE SCHEMA IF NOT EXISTS main.delta_errors")
    if not spark.catalog.tableExists(T):
        spark.sql(f"CREATE TABLE {T} AS SELECT 1 AS id, 'a' AS v")
        spark.sql(f"CREATE TABLE {C} (id INT, n INT NOT NULL)")
        spark.sql(f"ALTER TABLE {C} ADD CONSTRAINT positive CHECK (id > 0)")
        spark.sql(f"INSERT INTO {C} VALUES (1, 1)")
    return spark


@pytest.mark.parametrize(("statement", "condition"), STATEMENTS.items(), ids=range(len(STATEMENTS)))
def test_an_error_of_delta_has_its_condition_and_message(
    session: SparkSession, statement: str, condition: str
) -> None:
    with pytest.raises(PySparkException) as raised:
        session.sql(statement).collect()
    assert raised.value.getCondition() == condition
    assert raised.value.getMessage() and "INTERNAL_ERROR" not in raised.value.getMessage()
    assert str(raised.value).lstrip().startswith(f"[{condition}") and "\tat " not in str(raised.value)


def update(table: DeltaTable) -> None:
    table.update(set={"nope": "1"})


def merge(table: DeltaTable) -> None:
    rows = table.toDF().select("id").alias("s")
    table.alias("t").merge(rows, "t.id = s.id").whenMatchedUpdate(set={"v": "s.v"}).execute()


def merge_all(table: DeltaTable) -> None:
    rows = table.toDF().select("id").alias("s")
    table.alias("t").merge(rows, "t.id = s.id").whenNotMatchedInsertAll().execute()


@pytest.mark.parametrize("change", [update, merge, merge_all], ids=lambda each: each.__name__)
def test_an_unknown_column_in_deltas_api_is_an_analysis_error(
    session: SparkSession, change: Callable[[DeltaTable], None]
) -> None:
    with pytest.raises(AnalysisException, match=r"nope|UNRESOLVED"):
        change(DeltaTable.forName(session, T))


def test_an_error_that_pyspark_does_not_know_is_also_what_it_raises(session: SparkSession) -> None:
    with pytest.raises(Py4JJavaError) as raised:
        session.range(1).selectExpr("-1 AS id", "1 AS n").write.mode("append").saveAsTable(C)
    assert "DeltaInvariantViolationException" in raised.value.java_exception.getClass().getName()
    assert isinstance(raised.value, PySparkException)
    assert str(raised.value).startswith("[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES]")


def _read_with(**options: object) -> Callable[[SparkSession, str], object]:
    return lambda spark, path: spark.read.format("delta").options(**options).load(path).collect()  # type: ignore[arg-type]


def _statement(text: str) -> Callable[[SparkSession, str], object]:
    return lambda spark, path: spark.sql(text.format(path=path)).collect()


# Readers of an older version: Delta looks for the log before it looks for the table.
TRAVELS: dict[str, Callable[[SparkSession, str], object]] = {
    "VERSION AS OF": _statement("SELECT * FROM delta.`{path}` VERSION AS OF 0"),
    "TIMESTAMP AS OF": _statement("SELECT * FROM delta.`{path}` TIMESTAMP AS OF '2024-01-01'"),
    "@v0": _statement("SELECT * FROM delta.`{path}@v0`"),
    "RESTORE": _statement("RESTORE delta.`{path}` TO VERSION AS OF 0"),
    "versionAsOf": _read_with(versionAsOf=0),
    "timestampAsOf": _read_with(timestampAsOf="2024-01-01"),
}


@pytest.mark.parametrize("place", ["missing", "empty", "parquet"])
@pytest.mark.parametrize("reader", TRAVELS)
def test_an_older_version_of_what_is_no_table_has_a_condition(
    spark: SparkSession, tmp_path: Path, reader: str, place: str
) -> None:
    path = tmp_path / place
    if place != "missing":
        path.mkdir()
    if place == "parquet":
        spark.range(1).write.mode("append").parquet(str(path))
    with pytest.raises(AnalysisException) as failed:
        TRAVELS[reader](spark, str(path))
    if place == "missing" or reader == "RESTORE":
        assert failed.value.getCondition() == "DELTA_TABLE_NOT_FOUND"
        assert str(failed.value).startswith(f"[DELTA_TABLE_NOT_FOUND] Delta table `{path}")
        assert "doesn't exist." in str(failed.value)
    else:
        assert failed.value.getCondition() == "DELTA_MISSING_TRANSACTION_LOG"
        assert f"read from `{path}` using Delta" in str(failed.value)


@pytest.mark.parametrize("convert", [
    _statement("CONVERT TO DELTA parquet.`{path}`"),
    lambda spark, path: DeltaTable.convertToDelta(spark, f"parquet.`{path}`"),
])  # fmt: skip
def test_a_folder_to_convert_has_to_exist(
    spark: SparkSession, tmp_path: Path, convert: Callable[[SparkSession, str], object]
) -> None:
    with pytest.raises(AnalysisException, match="/nope doesn't exist") as failed:
        convert(spark, str(tmp_path / "nope"))
    assert failed.value.getCondition() == "DELTA_PATH_DOES_NOT_EXIST"
