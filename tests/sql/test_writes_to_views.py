"""Statements and writers that would change the rows of a materialized view are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeward.session import condition_of
from tests.conditions import failing

SCHEMA = "main.written_views"
VIEW, TABLE = "sums", "target"
QUERY = "SELECT a, sum(b) AS s FROM source GROUP BY a"
STATEMENTS = {
    "INSERT": "INSERT INTO {t} VALUES (3, 4)",
    "INSERT OVERWRITE": "INSERT OVERWRITE {t} VALUES (3, 4)",
    "INSERT REPLACE WHERE": "INSERT INTO {t} REPLACE WHERE a = 1 VALUES (1, 4)",
    "DELETE": "DELETE FROM {t} WHERE a = 1",
    "UPDATE": "UPDATE {t} SET s = 9",
    "MERGE": "MERGE INTO {t} AS t USING source AS u ON t.a = u.a WHEN MATCHED THEN UPDATE SET s = 8",
    "TRUNCATE": "TRUNCATE TABLE {t}",
    "REPLACE": "CREATE OR REPLACE TABLE {t} AS SELECT 1 AS a",
    "COPY INTO": "COPY INTO {t} FROM (SELECT CAST(a AS INT) AS a, s FROM '{folder}/in') FILEFORMAT = JSON",
}
Writer = Callable[[SparkSession, DataFrame, str, Path], Any]


def _table(spark: SparkSession, name: str) -> DeltaTable:
    return DeltaTable.forName(spark, name)


def _stream(spark: SparkSession, rows: DataFrame, name: str, folder: Path) -> None:
    stream = spark.readStream.table("source").selectExpr("a", "CAST(b AS BIGINT) AS s")
    writer = stream.writeStream.option("checkpointLocation", str(folder / name)).trigger(availableNow=True)
    writer.toTable(name).awaitTermination()


WRITERS: dict[str, Writer] = {
    "saveAsTable": lambda _, rows, name, __: rows.write.mode("append").saveAsTable(name),
    "saveAsTable overwrite": lambda _, rows, name, __: rows.write.mode("overwrite").saveAsTable(name),
    "insertInto": lambda _, rows, name, __: rows.write.insertInto(name),
    "writeTo append": lambda _, rows, name, __: rows.writeTo(name).append(),
    "writeTo overwritePartitions": lambda _, rows, name, __: rows.writeTo(name).overwritePartitions(),
    "writeTo createOrReplace": lambda _, rows, name, __: rows.writeTo(name).using("delta").createOrReplace(),
    "DeltaTable.delete": lambda spark, _, name, __: _table(spark, name).delete("a = 1"),
    "DeltaTable.update": lambda spark, _, name, __: _table(spark, name).update(set={"s": "9"}),
    "DeltaTable.merge": lambda spark, rows, name, __: (
        _table(spark, name).alias("t").merge(rows.alias("u"), "t.a = u.a").whenMatchedUpdateAll().execute()
    ),
    "mergeInto": lambda _, rows, name, __: (
        rows.alias("u").mergeInto(name, rows["a"] == 1).whenNotMatched().insertAll().merge()
    ),
    "toTable": _stream,
}


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """A folder with one JSON file; the schema has a source and a materialized view of it."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"a": 7, "s": 8}')
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    spark.sql(f"USE {SCHEMA}")
    spark.sql("CREATE TABLE IF NOT EXISTS source AS SELECT 1 AS a, 2 AS b")
    spark.sql(f"CREATE MATERIALIZED VIEW IF NOT EXISTS {VIEW} AS {QUERY}")
    yield tmp_path
    spark.sql("USE main.default")


@pytest.fixture
def write(spark: SparkSession, folder: Path, request: pytest.FixtureRequest) -> Callable[[str], Any]:
    """Write to the table of a name with the statement or writer of the test."""
    how = request.param

    def run(name: str) -> Any:
        if how in STATEMENTS:
            return spark.sql(STATEMENTS[how].format(t=name, folder=folder))
        return WRITERS[how](spark, spark.sql("SELECT 1 AS a, 5L AS s"), name, folder)

    return run


@pytest.mark.parametrize("write", [*STATEMENTS, *WRITERS], indirect=True)
def test_users_cannot_change_the_rows(spark: SparkSession, write: Callable[[str], Any]) -> None:
    with failing("MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED") as caught:
        write(VIEW)
    assert VIEW in str(caught.value)
    assert "SQLSTATE: 56038" in str(caught.value)
    assert [tuple(row) for row in spark.table(VIEW).collect()] == [(1, 2)]
    # The same write to a table of the same columns is not refused.
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} AS SELECT * FROM {VIEW}")
    write(TABLE)


def test_metadata_of_users_commits_does_not_allow_writes(spark: SparkSession, folder: Path) -> None:
    del folder
    spark.conf.set("spark.databricks.delta.commitInfo.userMetadata", "nightly update")
    try:
        with pytest.raises(PySparkException, match="MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED"):
            spark.sql(f"DELETE FROM {VIEW}")
    finally:
        spark.conf.unset("spark.databricks.delta.commitInfo.userMetadata")


def test_other_statements_on_views_remain(spark: SparkSession, folder: Path) -> None:
    del folder
    for statement in (
        f"OPTIMIZE {VIEW}",
        f"VACUUM {VIEW}",
        f"COMMENT ON TABLE {VIEW} IS 'x'",
        "INSERT INTO source SELECT * FROM source WHERE a > 1",
        f"REFRESH MATERIALIZED VIEW {VIEW}",
        f"CREATE OR REPLACE MATERIALIZED VIEW {VIEW} AS {QUERY}",
    ):
        spark.sql(statement)
    assert [tuple(row) for row in spark.table(VIEW).collect()] == [(1, 2)]


DATASETS = {"a_view": "MATERIALIZED_VIEW", "a_stream": "STREAMING_TABLE"}
ALTERS = (
    *("ADD COLUMN c INT", "ADD COLUMNS (c INT, d STRING)", "DROP COLUMN b", "RENAME COLUMN b TO c"),
    *("ALTER COLUMN b TYPE BIGINT", "ALTER COLUMN b SET NOT NULL", "ALTER b FIRST"),
    *("SET TBLPROPERTIES ('x' = 'y')", "UNSET TBLPROPERTIES ('x')", "RENAME TO other", "CLUSTER BY (a)"),
    *("ADD CONSTRAINT c CHECK (a > 0)", "ADD CONSTRAINT c PRIMARY KEY (a)", "ADD PRIMARY KEY (a)"),
    *("DROP CONSTRAINT IF EXISTS c", "DROP PRIMARY KEY IF EXISTS"),
)
# Statement → the condition for a materialized view, and that for a streaming table.
PLAIN, UNSUPPORTED = "MATERIALIZED_VIEW_OPERATION_NOT_ALLOWED", "STREAMING_TABLE_OPERATION_NOT_ALLOWED"
CLONE = "DELTA_DEEP_CLONE_MV_ST_ERROR.REQUIRES_WITH_HISTORY"
WRONG = "WRONG_COMMAND_FOR_OBJECT_TYPE"
REFUSED = {
    "CREATE OR REPLACE TABLE {t} (a INT)": (PLAIN, f"{UNSUPPORTED}.CREATE_OR_REPLACE"),
    "REPLACE TABLE {t} AS SELECT 1 AS a": (PLAIN, f"{UNSUPPORTED}.CREATE_OR_REPLACE"),
    "CREATE OR REPLACE TABLE {t} SHALLOW CLONE source": (PLAIN, f"{UNSUPPORTED}.UNSUPPORTED_OPERATION"),
    "CREATE TABLE copy SHALLOW CLONE {t}": (PLAIN, f"{UNSUPPORTED}.UNSUPPORTED_OPERATION"),
    "CREATE TABLE copy CLONE {t}": (CLONE, CLONE),
    "CREATE OR REPLACE TABLE {t} DEEP CLONE source": (CLONE, CLONE),
    "RESTORE TABLE {t} TO VERSION AS OF 0": (PLAIN, f"{UNSUPPORTED}.UNSUPPORTED_OPERATION"),
    "TRUNCATE TABLE {t}": (PLAIN, f"{UNSUPPORTED}.UNSUPPORTED_OPERATION"),
    "COPY INTO {t} FROM '{folder}/in' FILEFORMAT = JSON": (PLAIN, f"{UNSUPPORTED}.UNSUPPORTED_OPERATION"),
    "DROP VIEW {t}": (WRONG, WRONG),
    "DROP VIEW IF EXISTS {t}": (WRONG, WRONG),
    "DROP TABLE {t}": (WRONG, None),
    "DROP TABLE IF EXISTS {t} PURGE": (WRONG, None),
    "DROP MATERIALIZED VIEW source": (f"{PLAIN}.NON_MATERIALIZED_VIEW",) * 2,
}


def _datasets(spark: SparkSession) -> None:
    spark.sql("CREATE MATERIALIZED VIEW IF NOT EXISTS a_view AS SELECT a, b FROM source")
    spark.sql("CREATE OR REFRESH STREAMING TABLE a_stream AS SELECT a, b FROM STREAM source")


def _condition(spark: SparkSession, statement: str) -> str | None:
    try:
        spark.sql(statement)
    except PySparkException as error:
        return condition_of(error)
    return None


def test_definitions_are_not_altered(spark: SparkSession, folder: Path) -> None:
    del folder
    _datasets(spark)
    found = {
        (table, clause): _condition(spark, f"ALTER TABLE {table} {clause}")
        for table in DATASETS
        for clause in ALTERS
    }
    assert found == {key: f"{DATASETS[key[0]]}_OPERATION_NOT_ALLOWED.INVALID_ALTER" for key in found}


def test_statements_for_tables_alone_are_refused(spark: SparkSession, folder: Path) -> None:
    """A condition is the same after one of its sub-conditions, and before it."""
    found, wanted = {}, {}
    for statement, conditions in REFUSED.items():
        for table, condition in zip(DATASETS, conditions, strict=True):
            _datasets(spark)
            found[statement, table] = _condition(spark, statement.format(t=table, folder=folder))
            wanted[statement, table] = condition
    assert found == wanted


def test_other_metadata_of_datasets_changes(spark: SparkSession, folder: Path) -> None:
    del folder
    _datasets(spark)
    for table, kind in DATASETS.items():
        for noun in ("TABLE", kind.replace("_", " ")):
            for clause in (
                f"ALTER COLUMN b COMMENT '{noun}'",
                "SET TAGS ('k' = 'v')",
                "UNSET TAGS ('k')",
                "ALTER COLUMN b SET TAGS ('k' = 'v')",
                "DROP ROW FILTER",
                "OWNER TO `me`",
            ):
                assert _condition(spark, f"ALTER {noun} {table} {clause}") is None, (noun, table, clause)
            comments = {row["col_name"]: row["comment"] for row in spark.sql(f"DESCRIBE {table}").collect()}
            assert comments["b"] == noun


def test_a_table_like_a_dataset_is_a_table(spark: SparkSession, folder: Path) -> None:
    del folder
    _datasets(spark)
    for table in DATASETS:
        spark.sql(f"CREATE TABLE like_{table} LIKE {table}")
        spark.sql(f"INSERT INTO like_{table} VALUES (5, 6)")
        spark.sql(f"ALTER TABLE like_{table} ADD COLUMN c INT")
        assert [tuple(row) for row in spark.table(f"like_{table}").collect()] == [(5, 6, None)]
        spark.sql(f"DROP TABLE like_{table}")
