"""CLONE: kinds × statements × clauses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeward.session import condition_of
from tests.conditions import failing
from tests.lanes import sampled

SOURCE, TARGET = "main.default.clone_source", "main.default.clone_target"
CLONES = ("CLONE", "DEEP CLONE", "SHALLOW CLONE")
CREATES = ("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", "CREATE OR REPLACE TABLE")
KINDS = pytest.mark.parametrize("kind", CLONES)


@pytest.fixture(autouse=True)
def source(spark: SparkSession) -> Iterator[None]:
    spark.sql(f"DROP TABLE IF EXISTS {TARGET}")
    spark.sql(f"CREATE OR REPLACE TABLE {SOURCE} (id INT) TBLPROPERTIES ('kept' = 'yes', 'a' = 'old')")
    spark.sql(f"INSERT INTO {SOURCE} VALUES (1), (2)")
    yield
    for table in (TARGET, SOURCE):
        spark.sql(f"DROP TABLE IF EXISTS {table}")


@pytest.mark.parametrize(
    ("kind", "create", "at"),
    sampled(
        product(CLONES, CREATES, ("", " VERSION AS OF 1")),
        ("CLONE", "CREATE TABLE IF NOT EXISTS", ""),
        ("DEEP CLONE", "CREATE TABLE", " VERSION AS OF 1"),
        ("SHALLOW CLONE", "CREATE OR REPLACE TABLE", ""),
    ),
)
def test_the_clauses_hold(spark: SparkSession, tmp_path: Path, kind: str, create: str, at: str) -> None:
    folder = tmp_path / "clone"
    properties = "TBLPROPERTIES ('a' = 'new', delta.appendOnly = false)"
    spark.sql(f"{create} {TARGET}\n{kind} {SOURCE}{at} {properties} LOCATION '{folder}'")
    detail = spark.sql(f"DESCRIBE DETAIL {TARGET}").first()
    assert detail is not None
    assert detail["location"].removeprefix("file:") == str(folder)
    assert {"kept": "yes", "a": "new", "delta.appendOnly": "false"}.items() <= detail["properties"].items()
    assert sorted(row.id for row in spark.table(TARGET).collect()) == [1, 2]
    assert sorted(row.id for row in spark.read.format("delta").load(str(folder)).collect()) == [1, 2]


@pytest.mark.parametrize(
    ("kind", "replace", "with_location"),
    sampled(
        product(CLONES, ("REPLACE TABLE", "CREATE OR REPLACE TABLE"), (False, True)),
        ("CLONE", "REPLACE TABLE", True),
        ("DEEP CLONE", "CREATE OR REPLACE TABLE", False),
        ("SHALLOW CLONE", "CREATE OR REPLACE TABLE", True),
    ),
)
def test_an_existing_table_is_replaced(
    spark: SparkSession, tmp_path: Path, kind: str, replace: str, with_location: bool
) -> None:
    location = f"LOCATION '{tmp_path / 'clone'}'" if with_location else ""
    spark.sql(f"CREATE TABLE {TARGET} (other STRING) {location}")
    spark.sql(f"{replace} {TARGET} {kind} {SOURCE} {location}")
    assert sorted(row.id for row in spark.table(TARGET).collect()) == [1, 2]


@pytest.mark.parametrize("with_location", [False, True])
@pytest.mark.parametrize("create", CREATES)
@KINDS
def test_a_clone_keeps_default_values(
    spark: SparkSession, tmp_path: Path, kind: str, create: str, with_location: bool
) -> None:
    """The source has the table feature for them, which the new table needs, too."""
    spark.sql(f"ALTER TABLE {SOURCE} SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')")
    spark.sql(f"ALTER TABLE {SOURCE} ALTER COLUMN id SET DEFAULT 7")
    location = f"LOCATION '{tmp_path / 'clone'}'" if with_location else ""
    spark.sql(f"{create} {TARGET} {kind} {SOURCE} {location}")
    spark.sql(f"INSERT INTO {TARGET} VALUES (DEFAULT)")
    assert sorted(row.id for row in spark.table(TARGET).collect()) == [1, 2, 7]
    with failing("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"):
        spark.sql("CREATE TABLE main.default.clone_other (id INT DEFAULT 1)")


@KINDS
def test_a_table_to_replace_has_to_exist(spark: SparkSession, kind: str) -> None:
    with failing("TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql(f"REPLACE TABLE {TARGET} {kind} {SOURCE}")


@KINDS
def test_an_existing_table_stays(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    spark.sql(f"CREATE TABLE {TARGET} (other STRING)")
    location = f"LOCATION '{tmp_path / 'clone'}'"
    spark.sql(f"CREATE TABLE IF NOT EXISTS {TARGET} {kind} {SOURCE} {location}")
    with pytest.raises(PySparkException) as failed:
        spark.sql(f"CREATE TABLE {TARGET} {kind} {SOURCE} {location}")
    assert (condition_of(failed.value) or "").startswith(
        ("TABLE_OR_VIEW_ALREADY_EXISTS", "DELTA_TABLE_ALREADY")
    )
    assert spark.table(TARGET).columns == ["other"]
    assert not (tmp_path / "clone").exists()


@pytest.mark.parametrize(
    ("kind", "partitioned", "named"),
    sampled(
        product(("CLONE", "DEEP CLONE"), (False, True), (False, True)),
        ("CLONE", True, True),
        ("DEEP CLONE", True, False),
    ),
)
def test_parquet_is_cloned(
    spark: SparkSession, tmp_path: Path, kind: str, partitioned: bool, named: bool
) -> None:
    folder = tmp_path / "files"
    writer = spark.sql("SELECT id, id % 2 AS p FROM range(4)").write
    (writer.partitionBy("p") if partitioned else writer).parquet(str(folder))
    name = f"parquet.`{folder}`"
    if named:
        columns = "(id LONG, p LONG)" + (
            " USING parquet PARTITIONED BY (p)" if partitioned else " USING parquet"
        )
        spark.sql(f"CREATE TABLE main.default.clone_files {columns} LOCATION '{folder}'")
        spark.sql("MSCK REPAIR TABLE main.default.clone_files")
        name = "main.default.clone_files"
    try:
        metrics = spark.sql(f"CREATE TABLE {TARGET} {kind} {name}").collect()[0]
    finally:
        spark.sql("DROP TABLE IF EXISTS main.default.clone_files")
    files = list(folder.rglob("part-*"))
    assert metrics["source_num_of_files"] == len(files)
    assert metrics["source_table_size"] == sum(file.stat().st_size for file in files)
    detail = spark.sql(f"DESCRIBE DETAIL {TARGET}").collect()[0]
    assert (detail["format"], detail["partitionColumns"]) == ("delta", ["p"] if partitioned else [])
    assert sorted(row.id for row in spark.table(TARGET).collect()) == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_other_formats_are_not_cloned(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    spark.range(2).write.format(kind).save(str(tmp_path / "files"))
    with failing("DELTA_CLONE_UNSUPPORTED_SOURCE"):
        spark.sql(f"CREATE TABLE {TARGET} CLONE {kind}.`{tmp_path / 'files'}`")


@KINDS
def test_identity_and_generated_columns_are_those_of_the_source(spark: SparkSession, kind: str) -> None:
    """Without their rules, statements that leave the columns out would write NULL."""
    spark.sql(
        f"CREATE OR REPLACE TABLE {SOURCE} ("
        "i BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 10 INCREMENT BY 5), "
        "a INT NOT NULL, g INT GENERATED ALWAYS AS (a * 2))"
    )
    spark.sql(f"INSERT INTO {SOURCE} (a) VALUES (1)")
    for create in ("CREATE TABLE", "CREATE OR REPLACE TABLE"):
        spark.sql(f"{create} {TARGET} {kind} {SOURCE}")
        spark.sql(f"INSERT INTO {TARGET} (a) VALUES (2)")
        assert sorted(tuple(row) for row in spark.table(TARGET).collect()) == [(10, 1, 2), (15, 2, 4)]
        for refused in ("(i, a) VALUES (1, 1)", "(a) VALUES (NULL)", "(a, g) VALUES (1, 1)"):
            with pytest.raises(PySparkException, match=r"IDENTITY|CONSTRAINT"):
                spark.sql(f"INSERT INTO {TARGET} {refused}")
        if create == "CREATE TABLE":
            # The rules came with a second commit, and RESTORE to the first one lost them.
            spark.sql(f"RESTORE TABLE {TARGET} TO VERSION AS OF 0")
            spark.sql(f"INSERT INTO {TARGET} (a) VALUES (3)")
            assert sorted(tuple(row)[1:] for row in spark.table(TARGET).collect()) == [(1, 2), (3, 6)]
            assert spark.table(TARGET).where("i IS NULL").isEmpty()


@pytest.mark.parametrize("mode", ["name", "id"])
def test_a_shallow_clone_keeps_the_mapping_of_columns(spark: SparkSession, mode: str) -> None:
    """Delta refused the property that counts their ids, which it had read from the source."""
    spark.sql(
        f"CREATE OR REPLACE TABLE {SOURCE} (a INT, b INT) TBLPROPERTIES (delta.columnMapping.mode = '{mode}')"
    )
    spark.sql(f"INSERT INTO {SOURCE} VALUES (1, 2)")
    spark.sql(f"ALTER TABLE {SOURCE} RENAME COLUMN a TO c")
    spark.sql(f"CREATE TABLE {TARGET} SHALLOW CLONE {SOURCE}")
    spark.sql(f"ALTER TABLE {TARGET} ADD COLUMN d INT")
    spark.sql(f"INSERT INTO {TARGET} VALUES (3, 4, 5)")
    assert sorted(map(tuple, spark.sql(f"SELECT c, b, d FROM {TARGET}").collect())) == [
        (1, 2, None),
        (3, 4, 5),
    ]
    assert spark.table(SOURCE).collect() == [(1, 2)]
    with failing("DELTA_CANNOT_MODIFY_TABLE_PROPERTY"):
        spark.sql(f"ALTER TABLE {SOURCE} SET TBLPROPERTIES (delta.columnMapping.maxColumnId = 9)")


def test_the_first_version_of_a_shallow_clone_has_its_rows(spark: SparkSession) -> None:
    """It was a table without rows, and without the rules of its columns."""
    spark.sql(f"CREATE OR REPLACE TABLE {SOURCE} (i BIGINT GENERATED ALWAYS AS IDENTITY, a INT)")
    spark.sql(f"INSERT INTO {SOURCE} (a) VALUES (1)")
    for _ in range(2):
        spark.sql(f"CREATE TABLE {TARGET} SHALLOW CLONE {SOURCE}")
        assert [row.operation for row in spark.sql(f"DESCRIBE HISTORY {TARGET}").collect()] == ["CLONE"]
        spark.sql(f"INSERT INTO {TARGET} (a) VALUES (2)")
        spark.sql(f"RESTORE TABLE {TARGET} TO VERSION AS OF 0")
        assert spark.table(TARGET).collect() == [(1, 1)]
        spark.sql(f"INSERT INTO {TARGET} (a) VALUES (2)")
        assert spark.table(TARGET).where("i IS NULL").isEmpty()
        spark.sql(f"DROP TABLE {TARGET}")
    with failing("SCHEMA_NOT_FOUND"):
        spark.sql(f"CREATE TABLE main.no_schema.t SHALLOW CLONE {SOURCE}")
