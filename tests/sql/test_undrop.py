"""UNDROP TABLE and SHOW TABLES DROPPED: kinds of tables × ways to name them × what happened in between.

Sources: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-undrop-table and
https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-aux-show-tables-dropped
"""

from __future__ import annotations

import json
import shutil
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

from lakeward.databricks_shims.local_workspace import remove_table
from lakeward.error_formatting import describe_error
from lakeward.pipelines.writers.query_fingerprint import commit_metadata
from lakeward.session import USER_METADATA, Settings, temporary_conf
from lakeward.sql.constructs.dropped_tables import recovery_period
from lakeward.sql.session_context import current_context

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

KINDS = {
    "delta": "(id INT) COMMENT 'numbers' TBLPROPERTIES (a = 'b')",
    "partitioned": "(id INT, day STRING) PARTITIONED BY (day)",
    "column mapping": "(id INT) TBLPROPERTIES (delta.columnMapping.mode = 'name')",
    "as select": "AS SELECT 7 AS id",
    "generated": "(id INT, twice INT GENERATED ALWAYS AS (id * 2))",
}


class Place:
    """A schema of its own."""

    def __init__(self, spark: SparkSession, settings: Settings) -> None:
        self.spark, self.name = spark, "undrop_" + uuid.uuid4().hex[:8]
        self.warehouse = settings.warehouse
        self.folder = self.warehouse / "main" / self.name
        self.dropped = self.folder / ".dropped"
        self("CREATE SCHEMA {s}")

    def __call__(self, text: str) -> list[Row]:
        return self.spark.sql(text.format(s=f"main.{self.name}")).collect()

    def failed(self, text: str) -> str | None:
        with pytest.raises(PySparkException) as caught:
            self(text)
        return describe_error(caught.value).condition

    def listed(self) -> list[str]:
        return [row.tableName for row in self("SHOW TABLES DROPPED IN {s}")]

    def fill(self, name: str, kind: str = "delta") -> list[Row]:
        self(f"CREATE TABLE {{s}}.{name} {KINDS[kind]}")
        columns = "(id, day) VALUES (1, 'x')" if kind == "partitioned" else "(id) VALUES (1)"
        self(f"INSERT INTO {{s}}.{name} {columns}")
        return self(f"SELECT * FROM {{s}}.{name}")

    def records(self) -> list[Path]:
        return sorted(self.dropped.glob("[!.]*.json"))


@pytest.fixture
def place(spark: SparkSession, suite_settings: Settings) -> Iterator[Place]:
    made = Place(spark, suite_settings)
    yield made
    made("DROP SCHEMA IF EXISTS {s} CASCADE")


@pytest.mark.parametrize("way", ["name", "id"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_dropped_table_is_recovered(place: Place, kind: str, way: str) -> None:
    rows = place.fill("t", kind)
    before = place("SHOW CREATE TABLE {s}.t")
    place("DROP TABLE {s}.t")
    assert place.failed("SELECT * FROM {s}.t") == "TABLE_OR_VIEW_NOT_FOUND"
    assert place("SHOW TABLES IN {s}") == []
    (row,) = place("SHOW TABLES DROPPED IN {s}")
    place("UNDROP TABLE {s}.t" if way == "name" else f"UNDROP TABLE WITH ID '{row.tableId}'")
    assert place("SELECT * FROM {s}.t") == rows
    assert place("SHOW CREATE TABLE {s}.t") == before
    assert place.listed() == [] and not place.records()
    columns = "(id, day) VALUES (2, 'y')" if kind == "partitioned" else "(id) VALUES (2)"
    place("INSERT INTO {s}.t " + columns)
    assert len(place("SELECT * FROM {s}.t")) == len(rows) + 1


EXTERNAL = {
    "delta": "(id INT) COMMENT 'numbers' LOCATION '{0}'",
    "partitioned": "(id INT, day STRING) PARTITIONED BY (day) LOCATION '{0}'",
    "parquet": "(id INT) USING parquet LOCATION '{0}'",
    "csv": "(id INT) USING csv OPTIONS (header 'true') LOCATION '{0}'",
}


@pytest.mark.parametrize("way", ["name", "id"])
@pytest.mark.parametrize("kind", EXTERNAL)
def test_an_external_table_is_recovered_with_its_files(
    place: Place, kind: str, way: str, tmp_path: Path
) -> None:
    """Source: "UNDROP TABLE … recovers managed and external tables"."""
    files = tmp_path / "files"
    place(f"CREATE TABLE {{s}}.t {EXTERNAL[kind].format(files)}")
    place("ALTER TABLE {s}.t SET TAGS ('team' = 'a')")
    place("INSERT INTO {s}.t " + ("VALUES (1, 'x')" if kind == "partitioned" else "VALUES (1)"))
    rows, before = place("SELECT * FROM {s}.t"), place("SHOW CREATE TABLE {s}.t")
    place("DROP TABLE {s}.t")
    assert files.is_dir() and place("SHOW TABLES IN {s}") == []
    (row,) = place("SHOW TABLES DROPPED IN {s}")
    assert (row.tableName, row.tableType) == ("t", "EXTERNAL")
    place("UNDROP TABLE {s}.t" if way == "name" else f"UNDROP TABLE WITH ID '{row.tableId}'")
    assert place("SELECT * FROM {s}.t") == rows
    assert place("SHOW CREATE TABLE {s}.t") == before
    listed = "SELECT tag_name FROM main.information_schema.table_tags"
    tags = place(f"{listed} WHERE schema_name = '{place.name}'")
    assert [row.tag_name for row in tags] == ["team"]
    assert place.listed() == [] and not place.records()
    place("DROP TABLE {s}.t")
    shutil.rmtree(files)
    assert place.listed() == ["t"]


def test_an_external_table_and_a_conflict(place: Place, tmp_path: Path, suite_settings: Settings) -> None:
    """An interrupted DROP leaves a record, and a table; the workspace's API drops as SQL does."""
    create = f"CREATE TABLE {{s}}.t (id INT) LOCATION '{tmp_path / 'files'}'"
    place(create)
    definition = place.folder / ".objects" / "t.table.json"
    content = definition.read_text()
    place("DROP TABLE {s}.t")
    definition.write_text(content)
    assert place.listed() == []
    definition.unlink()
    place("CREATE VIEW {s}.t AS SELECT 1 AS a")
    assert place.failed("UNDROP TABLE {s}.t") == "TABLE_OR_VIEW_ALREADY_EXISTS"
    place("DROP VIEW {s}.t")
    place("UNDROP TABLE {s}.t")
    remove_table(place.folder, "t")
    assert place.listed() == ["t"] and not definition.exists()
    place("UNDROP TABLE {s}.t")
    assert place("SELECT * FROM {s}.t") == []
    place("DROP TABLE {s}.t")
    (record,) = place.records()
    fields = json.loads(record.read_text())
    record.write_text(json.dumps({**fields, "dropped": fields["dropped"] - 8 * 86_400_000}))
    assert place.listed() == []
    place.fill("other")
    place("DROP TABLE {s}.other")
    assert record not in place.records()


def test_the_columns_of_a_dropped_table(place: Place, suite_settings: Settings) -> None:
    place.fill("t")
    (detail,) = place("DESCRIBE DETAIL {s}.t")
    place("DROP TABLE {s}.t")
    (row,) = place("SHOW TABLES DROPPED FROM {s} LIMIT 5")
    assert (row.catalogName, row.schemaName, row.tableName) == ("main", place.name, "t")
    assert (row.tableId, row.tableType, row.comment) == (detail.id, "MANAGED", "numbers")
    assert (row.createdBy, row.owner) == (suite_settings.user, suite_settings.user)
    assert all(value.endswith(" UTC") for value in (row.deletedAt, row.createdAt, row.updatedAt))


def test_the_last_of_several_tables_of_a_name_is_recovered(place: Place) -> None:
    for number in range(3):
        place(f"CREATE TABLE {{s}}.t AS SELECT {number} AS n")
        place("DROP TABLE {s}.t")
    first, second, third = (row.tableId for row in reversed(place("SHOW TABLES DROPPED IN {s}")))
    assert len({first, second, third}) == 3
    place("UNDROP TABLE {s}.T")
    assert place("SELECT n FROM {s}.t") == [(2,)]
    assert place.failed("UNDROP TABLE {s}.t") == "TABLE_OR_VIEW_ALREADY_EXISTS"
    assert place.failed(f"UNDROP TABLE WITH ID '{first}'") == "TABLE_OR_VIEW_ALREADY_EXISTS"
    place("ALTER TABLE {s}.t RENAME TO {s}.other")
    place(f"UNDROP TABLE WITH ID '{first}'")
    assert (place("SELECT n FROM {s}.t"), place("SELECT n FROM {s}.other")) == ([(0,)], [(2,)])
    assert [row.tableId for row in place("SHOW TABLES DROPPED IN {s}")] == [second]


@pytest.mark.parametrize("taken", ["CREATE VIEW {s}.t AS SELECT 1 AS a", "CREATE TABLE {s}.t (b INT)"])
def test_a_name_that_is_taken_is_a_conflict(place: Place, taken: str) -> None:
    place.fill("t")
    place("DROP TABLE {s}.t")
    place(taken)
    assert place.failed("UNDROP TABLE {s}.t") == "TABLE_OR_VIEW_ALREADY_EXISTS"
    assert place.listed() == ["t"]


def test_metadata_is_recovered_but_keys(place: Place) -> None:
    place("CREATE TABLE {s}.t (id INT NOT NULL PRIMARY KEY)")
    place("ALTER TABLE {s}.t SET TAGS ('team' = 'a')")
    place("GRANT SELECT ON TABLE {s}.t TO `readers`")
    place("DROP TABLE {s}.t")
    place("CREATE TABLE {s}.t (id INT)")
    assert place("SHOW GRANTS `readers` ON TABLE {s}.t") == []
    place("DROP TABLE {s}.t")
    last, first = (row.tableId for row in place("SHOW TABLES DROPPED IN {s}"))
    assert last != first
    place(f"UNDROP TABLE WITH ID '{first}'")
    tags = "SELECT tag_name FROM main.information_schema.table_tags WHERE schema_name = '{s}'"
    assert place(tags.replace("{s}", place.name)) == [("team",)]
    assert len(place("SHOW GRANTS `readers` ON TABLE {s}.t")) == 1
    keys = "SELECT * FROM main.information_schema.table_constraints WHERE table_schema = '{s}'"
    assert place(keys.replace("{s}", place.name)) == []


def test_a_damaged_table_hides_no_other(place: Place) -> None:
    place.fill("damaged")
    place("DROP TABLE {s}.damaged")
    (log,) = place.dropped.rglob("_delta_log")
    max(log.glob("*.json")).write_text("x")
    place.fill("whole")
    place("DROP TABLE {s}.whole")
    assert sorted(place.listed()) == ["damaged", "whole"]
    place("UNDROP TABLE {s}.whole")
    place("UNDROP TABLE {s}.damaged")
    assert place("SELECT count(*) FROM {s}.whole")[0][0] > 0
    assert place.listed() == []


def test_tables_of_a_dropped_schema_are_gone(place: Place) -> None:
    place.fill("t")
    place("DROP TABLE {s}.t")
    (row,) = place("SHOW TABLES DROPPED IN {s}")
    place("DROP SCHEMA {s}")
    for text in ("UNDROP TABLE {s}.t", "SHOW TABLES DROPPED IN {s}"):
        assert place.failed(text) == "SCHEMA_NOT_FOUND"
    place("CREATE SCHEMA {s}")
    assert place.listed() == []
    assert place.failed(f"UNDROP TABLE WITH ID '{row.tableId}'") == "TABLE_OR_VIEW_NOT_FOUND"


def _age(place: Place, days: float) -> None:
    for file in place.records():
        record = json.loads(file.read_text())
        file.write_text(json.dumps({**record, "dropped": int((time.time() - days * 86400) * 1000)}))


@pytest.mark.parametrize(
    ("setting", "days", "is_kept"),
    [
        ("", 6.9, True),
        ("", 7.1, False),
        ("ALTER SCHEMA {s} RETAIN DROPPED TO 2 DAYS", 1.9, True),
        ("ALTER SCHEMA {s} RETAIN DROPPED TO 2 DAYS", 2.1, False),
        ("ALTER SCHEMA {s} RETAIN DROPPED TO 14 DAYS", 13.0, True),
        ("ALTER SCHEMA {s} RETAIN DROPPED TO 12 HOURS", 0.6, False),
    ],
)
def test_the_recovery_period_ends(place: Place, setting: str, days: float, is_kept: bool) -> None:
    place.fill("t")
    place("DROP TABLE {s}.t")
    if setting:
        place(setting)
    _age(place, days)
    assert (place.listed() == ["t"]) == is_kept
    place("CREATE TABLE {s}.other (a INT)")
    place("DROP TABLE {s}.other")
    assert (len(place.records()), len(list(place.dropped.iterdir()))) == ((2, 4) if is_kept else (1, 2))
    if not is_kept:
        assert place.failed("UNDROP TABLE {s}.t") == "TABLE_OR_VIEW_NOT_FOUND"


@pytest.mark.parametrize(
    ("statements", "days"),
    [
        (["CREATE SCHEMA {s} RETAIN DROPPED FOR 2 DAYS"], 2),
        (
            ["CREATE SCHEMA IF NOT EXISTS {s} RETAIN DROPPED TO 1 WEEK DEFAULT COLLATION UNICODE"],
            7,
        ),
        (["CREATE SCHEMA {s} RETAIN DROPPED FOR 48 HOURS MANAGED LOCATION '/tmp/x'"], 2),
        # A schema that exists keeps its own.
        (
            [
                "CREATE SCHEMA {s} RETAIN DROPPED FOR 2 DAYS",
                "CREATE SCHEMA IF NOT EXISTS {s} RETAIN DROPPED FOR 9 DAYS",
            ],
            2,
        ),
        (["CREATE SCHEMA {s}"], 4),
    ],
)
def test_a_schema_is_created_with_its_recovery_period(
    spark: SparkSession, statements: list[str], days: int
) -> None:
    catalog = f"retain_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE CATALOG {catalog} RETAIN DROPPED FOR 4 DAYS")
    try:
        for statement in statements:
            spark.sql(statement.format(s=f"{catalog}.s"))
        assert recovery_period(current_context(spark), catalog, "s") == timedelta(days=days)
    finally:
        spark.sql(f"DROP CATALOG {catalog} CASCADE")


@pytest.mark.parametrize("step", ["record", "files"])
def test_a_drop_that_was_killed_loses_nothing(place: Place, step: str) -> None:
    """A kill after a step of DROP: the record is written, the files are moved."""
    rows = place.fill("t")
    place("ALTER TABLE {s}.t SET TAGS ('team' = 'a')")
    about = next(place.folder.glob(".objects/t.*about.json"))
    kept = about.read_bytes()
    place("DROP TABLE {s}.t")
    (file,) = place.records()
    about.write_bytes(kept)
    if step == "record":
        file.with_suffix("").rename(place.folder / "t")
        assert place.listed() == []
        assert place("SELECT * FROM {s}.t") == rows
        place("DROP TABLE {s}.t")
        assert place.listed() == ["t"]
    place("UNDROP TABLE {s}.t")
    assert place("SELECT * FROM {s}.t") == rows
    assert about.is_file()


@pytest.mark.parametrize("create", ["(id INT)", "AS SELECT 1 AS id", "USING delta AS SELECT 1 AS id"])
@pytest.mark.parametrize("replace", ["", "OR REPLACE "])
def test_a_new_table_does_not_get_the_metadata_that_a_killed_drop_left(
    place: Place, create: str, replace: str
) -> None:
    place.fill("t")
    place("ALTER TABLE {s}.t SET TAGS ('team' = 'a')")
    about = next(place.folder.glob(".objects/t.*about.json"))
    kept = about.read_bytes()
    place("DROP TABLE {s}.t")
    about.write_bytes(kept)
    place(f"CREATE {replace}TABLE {{s}}.t {create}")
    tags = f"SELECT * FROM main.information_schema.table_tags WHERE schema_name = '{place.name}'"
    assert place(tags) == []


@pytest.mark.parametrize("way", ["name", "id"])
@pytest.mark.parametrize("step", ["mark", "files", "objects"])
def test_an_undrop_that_was_killed_is_completed(place: Place, step: str, way: str) -> None:
    """A kill after a step of UNDROP: the record is marked, the files are back, metadata is back."""
    rows = place.fill("t")
    table_id = place("DESCRIBE DETAIL {s}.t")[0].id
    place("ALTER TABLE {s}.t SET TAGS ('team' = 'a')")
    place("DROP TABLE {s}.t")
    (file,) = place.records()
    record = json.loads(file.read_text())
    file.write_text(json.dumps({**record, "restoring": True}))
    if step != "mark":
        file.with_suffix("").rename(place.folder / "t")
    if step == "objects":
        for name, content in record["objects"].items():
            (place.folder / ".objects" / name).write_text(json.dumps(content))
    (row,) = place("SHOW TABLES DROPPED IN {s}")
    assert row.tableId == table_id
    place("UNDROP TABLE {s}.t" if way == "name" else f"UNDROP TABLE WITH ID '{table_id}'")
    assert place("SELECT * FROM {s}.t") == rows
    assert list(place.folder.glob(".objects/t.*about.json")) and not place.records()


@pytest.mark.parametrize("text", ["DROP TABLE {t} PURGE", "DROP TABLE {t}"])
def test_purged_tables_and_those_of_hive_metastore_are_removed(
    spark: SparkSession, suite_settings: Settings, place: Place, text: str
) -> None:
    name = "hive_metastore.default.undropped" if "PURGE" not in text else f"main.{place.name}.t"
    spark.sql(f"CREATE TABLE {name} (a INT) USING delta")
    spark.sql(text.format(t=name))
    folder = suite_settings.warehouse / "hive_metastore" / "default" / ".dropped"
    assert not folder.exists() and not place.dropped.exists()
    assert place.failed(f"UNDROP TABLE {name}") == "TABLE_OR_VIEW_NOT_FOUND"


def test_files_that_are_gone_are_not_listed(place: Place) -> None:
    place.fill("t")
    place("DROP TABLE {s}.t")
    shutil.rmtree(place.records()[0].with_suffix(""))
    assert place.listed() == []
    assert place.failed("UNDROP TABLE {s}.t") == "TABLE_OR_VIEW_NOT_FOUND"


def test_a_materialized_view_needs_its_kind(place: Place) -> None:
    place("CREATE TABLE {s}.t (a INT) TBLPROPERTIES ('lakeward.kind' = 'materialized_view')")
    with temporary_conf(place.spark, {"pipelines.id": "p"}):
        place("DROP TABLE {s}.t")
    (row,) = place("SHOW TABLES DROPPED IN {s}")
    assert row.tableType == "MATERIALIZED_VIEW"
    assert place.failed("UNDROP TABLE {s}.t") == "WRONG_COMMAND_FOR_OBJECT_TYPE"
    place(f"UNDROP MATERIALIZED VIEW WITH ID '{row.tableId}'")
    assert place("SELECT * FROM {s}.t") == []


def test_a_table_whose_first_commits_were_cleaned_up_keeps_kind_and_id(place: Place) -> None:
    """The metadata is in the checkpoint then."""
    properties = "'lakeward.kind' = 'materialized_view', 'delta.checkpointInterval' = '1'"
    place(f"CREATE TABLE {{s}}.t (a INT) COMMENT 'numbers' TBLPROPERTIES ({properties})")
    with temporary_conf(place.spark, {USER_METADATA: commit_metadata(None, "1")}):
        place("INSERT INTO {s}.t VALUES (1)")
    table_id = place("DESCRIBE DETAIL {s}.t")[0].id
    log = place.folder / "t" / "_delta_log"
    assert (log / f"{1:020}.checkpoint.parquet").is_file()
    for version in range(2):
        (log / f"{version:020}.json").unlink()
    with temporary_conf(place.spark, {"pipelines.id": "p"}):
        place("DROP TABLE {s}.t")
    (row,) = place("SHOW TABLES DROPPED IN {s}")
    assert (row.tableType, row.tableId, row.comment) == ("MATERIALIZED_VIEW", table_id, "numbers")


def test_a_table_with_a_damaged_log_can_be_dropped(place: Place) -> None:
    place("CREATE TABLE {s}.t (a INT)")
    (place.folder / "t" / "_delta_log" / f"{0:020}.json").write_text("{")
    place("DROP TABLE {s}.t")
    assert not place.spark.catalog.tableExists(f"main.{place.name}.t")


def test_a_process_of_its_own_recovers_it(place: Place, suite_settings: Settings) -> None:
    """Nothing of it is kept in memory: the record is all there is."""
    rows: Any = place.fill("t")
    place("DROP TABLE {s}.t")
    other = place.spark.newSession()
    other.sql(f"UNDROP TABLE main.{place.name}.t")
    assert other.table(f"main.{place.name}.t").collect() == rows == place("SELECT * FROM {s}.t")


def _drop(place: Place, writer: str, catalog: str = "main") -> None:
    """Drop the table `t`: in the JVM with DROP TABLE, or in Python as `w.tables.delete` does."""
    if writer == "sql":
        place(f"DROP TABLE {catalog}.{place.name}.t")
    else:
        remove_table(place.warehouse / catalog / place.name, "t")


@pytest.mark.parametrize("kind", [*KINDS, "upper case"])
def test_both_writers_of_records_write_the_same(place: Place, kind: str) -> None:
    if kind == "upper case":
        place("CREATE TABLE {s}.T (id INT)")
    else:
        place.fill("t", kind)
    place("ALTER TABLE {s}.t SET TAGS ('team' = 'a')")
    records = []
    for writer in ("sql", "api"):
        _drop(place, writer)
        (file,) = place.records()
        records.append({**json.loads(file.read_text()), "dropped": 0, "restoring": False})
        place("UNDROP TABLE {s}.t")
    assert records[0] == records[1]


@pytest.mark.parametrize("writer", ["sql", "api"])
def test_each_reader_of_records_reads_those_of_each_writer(place: Place, writer: str) -> None:
    """UNDROP and SHOW TABLES DROPPED in Python; the next DROP TABLE removes what has expired, in the JVM."""
    rows = place.fill("t")
    table_id = place("DESCRIBE DETAIL {s}.t")[0].id
    for days, is_kept in ((6.9, True), (7.1, False)):
        _drop(place, writer)
        _age(place, days)
        place("CREATE TABLE {s}.other (a INT)")
        place("DROP TABLE {s}.other PURGE")
        assert [row.tableId for row in place("SHOW TABLES DROPPED IN {s}")] == [table_id] * is_kept
        assert len(place.records()) == is_kept
        if is_kept:
            place(f"UNDROP TABLE WITH ID '{table_id}'")
            assert place("SELECT * FROM {s}.t") == rows


@pytest.mark.parametrize("name", ["main", "hive_metastore"])
def test_a_table_that_a_client_of_the_api_deletes_is_recovered(place: Place, name: str) -> None:
    """`w.tables.delete` drops a table, as DROP TABLE does."""
    place.spark.sql(f"CREATE SCHEMA IF NOT EXISTS {name}.{place.name}")
    table = f"{name}.{place.name}.t"
    place.spark.sql(f"CREATE TABLE {table} (id INT) COMMENT 'numbers'")
    place.spark.sql(f"INSERT INTO {table} VALUES (1)")
    _drop(place, "api", name)
    assert place.failed(f"SELECT * FROM {table}") == "TABLE_OR_VIEW_NOT_FOUND"
    if name == "main":
        assert place.listed() == ["t"]
        place(f"UNDROP TABLE {table}")
        assert place(f"SELECT * FROM {table}") == [(1,)]
    else:
        assert place.failed(f"UNDROP TABLE {table}") == "TABLE_OR_VIEW_NOT_FOUND"
        place(f"DROP SCHEMA {name}.{place.name} CASCADE")


@pytest.mark.parametrize("is_external", [False, True], ids=["managed", "external"])
@pytest.mark.parametrize("writer", ["sql", "api"])
@pytest.mark.parametrize("provider", ["delta", "parquet", "csv", "json", "orc", "text"])
def test_a_table_of_the_hive_metastore_loses_the_files_that_it_owns(
    place: Place, provider: str, writer: str, is_external: bool, tmp_path: Path
) -> None:
    """Files that stay would be the rows of the next table of this name."""
    schema = f"hive_metastore.{place.name}"
    place(f"CREATE SCHEMA {schema}")
    location = f"LOCATION '{tmp_path / 'files'}'" if is_external else ""
    statement = f"CREATE TABLE {schema}.t (a STRING) USING {provider} {location}"
    place(statement)
    place(f"INSERT INTO {schema}.t VALUES ('x')")
    _drop(place, writer, "hive_metastore")
    assert not (place.warehouse / "hive_metastore" / place.name / "t").exists()
    assert place.failed(f"SELECT * FROM {schema}.t") == "TABLE_OR_VIEW_NOT_FOUND"
    place(statement)
    assert [row.a for row in place(f"SELECT * FROM {schema}.t")] == ["x"] * is_external
    place(f"DROP SCHEMA {schema} CASCADE")
