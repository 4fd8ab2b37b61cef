"""Three-part names: catalogs are kept apart, and the warehouse folder is the catalog."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeward.session import Settings, ensure_catalog, ensure_schema, session
from tests.processes import SharedDaemon
from tests.trees import write_files


@pytest.fixture
def schema(spark: SparkSession) -> str:
    """A schema of its own name in the catalogs dev and prod."""
    name = f"s_{uuid.uuid4().hex[:8]}"
    ensure_schema(spark, "dev", name)
    ensure_schema(spark, "prod", name)
    return name


def test_one_name_in_two_catalogs_is_two_tables(spark: SparkSession, schema: str) -> None:
    spark.sql(f"CREATE TABLE dev.{schema}.t AS SELECT 1 AS id")
    spark.sql(f"CREATE TABLE prod.{schema}.t AS SELECT 2 AS id")
    spark.sql(f"INSERT INTO dev.{schema}.t VALUES (11)")
    assert sorted(r.id for r in spark.table(f"dev.{schema}.t").collect()) == [1, 11]
    assert [r.id for r in spark.table(f"prod.{schema}.t").collect()] == [2]


def test_one_name_in_two_catalogs_is_two_views(spark: SparkSession, schema: str) -> None:
    spark.sql(f"CREATE TABLE dev.{schema}.t AS SELECT 1 AS id")
    spark.sql(f"CREATE VIEW dev.{schema}.v AS SELECT id + 1 AS x FROM dev.{schema}.t")
    spark.sql(f"CREATE VIEW prod.{schema}.v AS SELECT 'prod' AS x")
    assert [r.x for r in spark.table(f"dev.{schema}.v").collect()] == [2]
    assert [r.x for r in spark.table(f"prod.{schema}.v").collect()] == ["prod"]
    spark.sql(f"DROP VIEW dev.{schema}.v")
    assert not spark.catalog.tableExists(f"dev.{schema}.v")
    assert spark.catalog.tableExists(f"prod.{schema}.v")


def test_default_schema_of_two_catalogs_is_two_schemas(spark: SparkSession) -> None:
    for catalog in ("dev", "prod"):
        ensure_catalog(spark, catalog)
        spark.sql(f"CREATE OR REPLACE TABLE {catalog}.default.t AS SELECT '{catalog}' AS name")
    assert spark.table("dev.default.t").first()[0] == "dev"
    assert spark.table("prod.default.t").first()[0] == "prod"


def test_statements_of_daily_work_take_three_part_names(spark: SparkSession, schema: str) -> None:
    t = f"dev.{schema}.t"
    spark.range(3).write.saveAsTable(t)
    spark.range(3, 5).write.mode("append").saveAsTable(t)
    spark.sql(f"MERGE INTO {t} a USING (SELECT 99L AS id) b ON a.id = b.id WHEN NOT MATCHED THEN INSERT *")
    spark.sql(f"ALTER TABLE {t} ADD COLUMN note STRING")
    spark.sql(f"UPDATE {t} SET note = 'x' WHERE id = 0")
    spark.sql(f"DELETE FROM {t} WHERE id = 1")
    spark.sql(f"OPTIMIZE {t}")
    assert sorted(r.id for r in spark.table(t).collect()) == [0, 2, 3, 4, 99]
    assert spark.sql(f"SELECT count(*) FROM {t} VERSION AS OF 0").first()[0] == 3
    spark.sql(f"RESTORE TABLE {t} TO VERSION AS OF 0")
    assert spark.table(t).count() == 3
    spark.sql(f"ALTER TABLE {t} RENAME TO dev.{schema}.t2")
    assert [r.tableName for r in spark.sql(f"SHOW TABLES IN dev.{schema}").collect()] == ["t2"]
    spark.sql(f"DROP TABLE dev.{schema}.t2")
    assert spark.sql(f"SHOW TABLES IN dev.{schema}").count() == 0


def test_streams_read_and_write_three_part_names(spark: SparkSession, schema: str, tmp_path: Path) -> None:
    spark.range(3).write.saveAsTable(f"dev.{schema}.source")
    query = (
        spark.readStream.table(f"dev.{schema}.source")
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .toTable(f"prod.{schema}.target")
    )
    query.awaitTermination()
    assert spark.table(f"prod.{schema}.target").count() == 3


def test_a_table_of_a_catalog_that_is_not_there_is_a_table_that_is_not_there(spark: SparkSession) -> None:
    from pyspark.errors import AnalysisException

    for name in ("nowhere.crm.customers", "nowhere.a.b.customers"):
        with pytest.raises(AnalysisException, match="customers") as raised:
            spark.table(name)
        assert raised.value.getCondition() == "TABLE_OR_VIEW_NOT_FOUND"
        assert not spark.catalog.tableExists(name)


def test_use_makes_short_names_work(spark: SparkSession, schema: str) -> None:
    spark.sql(f"USE dev.{schema}")
    try:
        spark.sql("CREATE TABLE k AS SELECT 1 AS x")
        assert spark.sql("SELECT current_catalog(), current_schema()").first() == ("dev", schema)
        assert spark.table(f"dev.{schema}.k").count() == 1
        from delta.tables import DeltaTable

        assert DeltaTable.forName(spark, "k").toDF().count() == 1
    finally:
        spark.sql("USE main.default")


def test_other_formats_keep_their_schema_and_partitions(spark: SparkSession, schema: str) -> None:
    spark.sql(f"CREATE TABLE dev.{schema}.p (a INT, b STRING) USING parquet PARTITIONED BY (b)")
    spark.sql(f"INSERT INTO dev.{schema}.p VALUES (1, 'x'), (2, 'y')")
    assert sorted(spark.table(f"dev.{schema}.p").collect()) == [(1, "x"), (2, "y")]


def test_a_managed_table_of_another_format_is_not_made_of_a_query(spark: SparkSession, schema: str) -> None:
    for make in (
        lambda: spark.range(2).write.format("parquet").saveAsTable(f"dev.{schema}.files"),
        lambda: spark.sql(f"CREATE TABLE dev.{schema}.files USING csv AS SELECT 1 AS a"),
    ):
        with pytest.raises(AnalysisException, match="UNSUPPORTED_MANAGED_TABLE_CREATION"):
            make()
    assert not spark.catalog.tableExists(f"dev.{schema}.files")


def test_a_table_that_cannot_be_replaced_by_a_query_stays(spark: SparkSession, schema: str) -> None:
    table = f"dev.{schema}.kept"
    spark.sql(f"CREATE TABLE {table} AS SELECT 7 AS a")
    for replace in (
        lambda: spark.range(2).write.format("parquet").mode("overwrite").saveAsTable(table),
        lambda: spark.sql(f"CREATE OR REPLACE TABLE {table} USING parquet AS SELECT 1 AS a"),
        lambda: spark.sql(f"REPLACE TABLE {table} USING csv AS SELECT 1 AS a"),
    ):
        with pytest.raises(AnalysisException, match="UNSUPPORTED_MANAGED_TABLE_CREATION"):
            replace()
    assert spark.table(table).collect() == [(7,)]
    spark.sql(f"CREATE OR REPLACE TABLE {table} (b INT) USING parquet")
    spark.sql(f"INSERT INTO {table} VALUES (1)")
    assert spark.table(table).collect() == [(1,)]


def test_external_table_leaves_its_files_when_dropped(
    spark: SparkSession, schema: str, tmp_path: Path
) -> None:
    place = tmp_path / "external"
    spark.sql(f"CREATE TABLE dev.{schema}.e (a INT) LOCATION '{place}'")
    spark.sql(f"INSERT INTO dev.{schema}.e VALUES (4)")
    spark.sql(f"DROP TABLE dev.{schema}.e")
    assert spark.read.load(str(place)).count() == 1


def test_a_schema_with_tables_is_dropped_only_by_cascade(spark: SparkSession, schema: str) -> None:
    spark.sql(f"CREATE VIEW dev.{schema}.v AS SELECT 1 AS x")
    with pytest.raises(AnalysisException, match=f"SCHEMA_NOT_EMPTY.*{schema}"):
        spark.sql(f"DROP SCHEMA dev.{schema}")
    spark.sql(f"DROP SCHEMA dev.{schema} CASCADE")
    assert (schema,) not in [tuple(r) for r in spark.sql("SHOW SCHEMAS IN dev").collect()]


def test_an_existing_table_is_not_made_twice(spark: SparkSession, schema: str) -> None:
    spark.sql(f"CREATE TABLE dev.{schema}.t (id INT)")
    for statement in (
        f"CREATE TABLE dev.{schema}.t (id INT)",
        f"CREATE TABLE dev.{schema}.t AS SELECT 1 AS id",
    ):
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_ALREADY_EXISTS"):
            spark.sql(statement)
    with pytest.raises(AnalysisException, match="ALREADY_EXISTS"):
        spark.sql(f"CREATE VIEW dev.{schema}.t AS SELECT 1 AS id")
    spark.sql(f"CREATE TABLE IF NOT EXISTS dev.{schema}.t (id INT)")


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE {} AS SELECT 1 AS id", "CREATE TABLE {} (id INT)", "CREATE OR REPLACE TABLE {} (id INT)"],
)
@pytest.mark.parametrize("left", ["_staged_commits/", f".{0:020}.json.{uuid.UUID(int=7)}.tmp"])
def test_what_a_killed_creation_left_is_no_table_and_in_nobodys_way(
    spark: SparkSession, schema: str, suite_settings: Settings, left: str, statement: str
) -> None:
    """Delta makes the log's folders before its first commit and refuses a folder that is not empty (22)."""
    log = suite_settings.warehouse / "dev" / schema / "t" / "_delta_log"
    write_files(log, {left: ""}) if left.endswith(".tmp") else (log / left).mkdir(parents=True)
    table = f"dev.{schema}.t"
    assert not spark.catalog.tableExists(table)
    spark.sql(statement.format(table))
    spark.sql(f"INSERT INTO {table} VALUES (2)")
    assert spark.table(table).where("id = 2").count() == 1


def test_files_that_no_commit_names_stay_where_they_are(
    spark: SparkSession, schema: str, suite_settings: Settings
) -> None:
    """Another process may be writing them for the same table."""
    table = suite_settings.warehouse / "dev" / schema / "t"
    write_files(table, {"part-00000.parquet": "rows", "_delta_log/_staged_commits/note": ""})
    with pytest.raises(AnalysisException, match="DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"):
        spark.sql(f"CREATE TABLE dev.{schema}.t (id INT)")
    assert (table / "part-00000.parquet").exists() and (table / "_delta_log/_staged_commits/note").exists()
    spark.sql(f"CREATE TABLE dev.{schema}.t AS SELECT 1 AS id")
    assert spark.table(f"dev.{schema}.t").count() == 1


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=6, alphabet="ab_u0-9é "),
            st.text(min_size=1, max_size=6, alphabet="ab_u0-9é "),
        ),
        min_size=2,
        max_size=2,
        unique=True,
    )
)
def test_no_two_schemas_share_a_database_and_names_come_back(
    names: SimpleNamespace, pairs: list[tuple[str, str]]
) -> None:
    databases = [names.database(c, s) for c, s in pairs]
    assert databases[0] != databases[1]
    for (catalog, schema), database in zip(pairs, databases, strict=True):
        assert (names.catalog(database), names.schema(database)) == (catalog, schema)
        assert database.replace("_", "").isalnum()
        assert database.isascii()


@pytest.fixture(scope="session")
def names(suite_settings: Settings) -> SimpleNamespace:
    """The Java functions that join catalog and schema, and part them."""
    java: Any = session(suite_settings)._jvm.lakeward.IdentifierCodec  # type: ignore[union-attr]
    return SimpleNamespace(database=java.database, catalog=java.catalog, schema=java.schema)


READER = """
import json, sys
from pathlib import Path
from lakeward.session import Settings, session
spark = session(Settings.here(Path(sys.argv[1]), environ={}))
t = sys.argv[2]
print(json.dumps({
    "rows": spark.table(t).count(), "view": spark.table(t + "_v").first()[0],
    "tables": sorted(r.tableName for r in spark.sql(f"SHOW TABLES IN {t.rsplit('.', 1)[0]}").collect()),
}))
spark.sql(f"INSERT INTO {t} VALUES (7)")
"""


@pytest.mark.process
def test_another_process_finds_tables_and_views_and_writes_next_to_this_one(
    spark: SparkSession, schema: str, suite_settings: Settings, shared_daemon: SharedDaemon
) -> None:
    t = f"dev.{schema}.t"
    spark.sql(f"CREATE TABLE {t} AS SELECT 1 AS id")
    spark.sql(f"CREATE VIEW {t}_v AS SELECT count(*) AS n FROM {t}")
    out = subprocess.run(
        [sys.executable, "-c", READER, str(suite_settings.root), t],
        env=shared_daemon.environ(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert json.loads(out.splitlines()[-1]) == {"rows": 1, "view": 1, "tables": ["t", "t_v"]}
    assert sorted(r.id for r in spark.table(t).collect()) == [1, 7]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE {}.t (a INT)",
        "CREATE TABLE {}.t USING parquet AS SELECT 1 AS a",
        "CREATE TABLE {}.t AS SELECT 1 AS a",
        "CREATE OR REPLACE TABLE {}.t AS SELECT 1 AS a",
        "CREATE OR REPLACE TABLE {}.t (a INT)",
        "CREATE TABLE {}.t LIKE main.information_schema.tables",
        "CREATE VIEW {}.v AS SELECT 1 AS a",
        "CREATE FUNCTION {}.f() RETURNS INT RETURN 1",
        "CREATE OR REPLACE FUNCTION {}.f(x INT) RETURNS TABLE (a INT) RETURN SELECT x",
        "SHOW TABLES IN {}",
        "SHOW VIEWS IN {}",
    ],
)
@pytest.mark.parametrize("schema", ["main.nowhere", "nowhere"])
def test_a_missing_schema_is_named_as_the_user_knows_it(
    spark: SparkSession, statement: str, schema: str
) -> None:
    with pytest.raises(AnalysisException) as raised:
        spark.sql(statement.format(schema)).collect()
    assert raised.value.getCondition() == "SCHEMA_NOT_FOUND"
    assert "The schema `main`.`nowhere` cannot be found" in str(raised.value)


SEVERAL_PARTS = {
    "CREATE SCHEMA main.b.c": "`b`.`c`",
    "CREATE DATABASE IF NOT EXISTS main.b.c COMMENT 'x'": "`b`.`c`",
    "CREATE SCHEMA main.b.c.d WITH DBPROPERTIES ('a' = 'b')": "`b`.`c`.`d`",
    "CREATE SCHEMA `main`.`b``b`.`c.d`": "`b``b`.`c.d`",
    "CREATE SCHEMA IDENTIFIER('main.b.c')": "`b`.`c`",
    "CREATE SCHEMA hive_metastore.b.c": "`b`.`c`",
    "CREATE SCHEMA spark_catalog.b.c": "`b`.`c`",
}


@pytest.mark.parametrize("statement", SEVERAL_PARTS)
def test_a_schema_is_one_part_of_its_catalog(spark: SparkSession, statement: str) -> None:
    before = spark.sql("SHOW SCHEMAS IN main").collect()
    with pytest.raises(AnalysisException) as raised:
        spark.sql(statement)
    assert raised.value.getCondition() == "REQUIRES_SINGLE_PART_NAMESPACE"
    assert raised.value.getSqlState() == "42K05"
    assert f"but got identifier {SEVERAL_PARTS[statement]}" in str(raised.value)
    assert spark.sql("SHOW SCHEMAS IN main").collect() == before
