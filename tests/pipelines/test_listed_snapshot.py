"""The files that the checksum of a version lists are those that Delta reads from its log."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from lakeward.pipelines.incremental.view_plan import delta_index, read_view_plan
from lakeward.pipelines.storage.file_replacement import FileReplacement
from lakeward.spark_internals import jvm_view
from tests.pipelines.conftest import Lab

KINDS = {
    "plain": "",
    "partitioned": "PARTITIONED BY (place)",
    "deletion vectors": "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
    "column mapping": "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
    "mapped partitions": "PARTITIONED BY (place) TBLPROPERTIES ('delta.columnMapping.mode' = 'id')",
    "clustered": "CLUSTER BY (day)",
    "row tracking": "TBLPROPERTIES ('delta.enableRowTracking' = 'true')",
    "without statistics": "TBLPROPERTIES ('delta.dataSkippingNumIndexedCols' = '0')",
    "checkpoints": "TBLPROPERTIES ('delta.checkpointInterval' = '2')",
}
CONDITIONS = (
    "true",
    "t.id = 3 OR t.id IS NULL",
    "t.day >= DATE'2024-01-03' AND t.day <= DATE'2024-01-04'",
    "t.place IS NULL",
    "t.amount = 1.50 AND t.place = ''",
)
COLUMNS = (
    "id INT, day DATE, at TIMESTAMP, amount DECIMAL(10, 2), place STRING, "
    "nested STRUCT<value: INT, text: STRING>"
)


def insert(spark: SparkSession, table: str, start: int) -> None:
    place = "element_at(array('a b', 'ä/%', '', NULL), CAST(id % 4 + 1 AS INT))"
    spark.sql(
        f"INSERT INTO {table} SELECT IF(id % 7 = 6, NULL, id), "
        "date_add(DATE'2024-01-01', CAST(id div 10 AS INT)), "
        f"timestamp_micros(1704067200000001 + id * 3600000000), id / 2, {place}, "
        f"named_struct('value', CAST(id AS INT), 'text', repeat('x', 40)) FROM range({start}, {start + 10})"
    )


def log_of(spark: SparkSession, table: str) -> Any:
    """Return the log of a table of which Delta has not read the files yet."""
    jvm_view(spark).org.apache.spark.sql.delta.DeltaLog.clearCache()
    (node,) = read_view_plan(spark.table(table)).sources
    return delta_index(node).deltaLog()


def kind_of(log: Any) -> str:
    """Return the class of the newest version."""
    return str(log.currentSnapshot().snapshot().getClass().getSimpleName())


def use_files_of_log(spark: SparkSession, log: Any) -> None:
    """Let Delta find the files of the newest version in its log."""
    delta = jvm_view(spark).org.apache.spark.sql.delta
    now = log.currentSnapshot()
    listed = now.snapshot()
    snapshot = delta.Snapshot(
        listed.path(), listed.version(), listed.logSegment(), listed.deltaLog(), listed.checksumOpt()
    )
    snapshot.allFiles().count()
    getattr(log, "currentSnapshot_$eq")(delta.CapturedSnapshot(snapshot, now.updateTimestamp()))


def state(snapshot: Any) -> list[str]:
    """Return what else Delta computes from the log."""
    names = ("sizeInBytes", "numOfFiles", "sizeInBytesIfKnown", "numOfFilesIfKnown", "numDeletedRecordsOpt")
    names += ("numDeletionVectorsOpt", "transactions")
    several = [getattr(snapshot, name)().toList() for name in ("domainMetadata", "setTransactions")]
    return [*(str(getattr(snapshot, name)()) for name in names), *map(str, several)]


def files(rows: Any) -> list[dict[str, Any]]:
    """Return the files, without what a commit says of a file and a version does not, and empty tags."""
    found = [json.loads(each.json())["add"] for each in rows.collectAsList()]
    left_out = (("dataChange", True), ("dataChange", False), ("tags", {}))
    kept = [{k: v for k, v in each.items() if (k, v) not in left_out} for each in found]
    return sorted(kept, key=lambda each: str(each["path"]))


def results(spark: SparkSession, table: str, condition: str) -> tuple[int, int, list[Any]]:
    """Return number of rows and of files that may have rows which meet the condition, and these rows."""
    found = FileReplacement(spark, tuple(table.split(".")), condition)
    rows = spark.table(table).alias("t").where(condition)
    return found.count(), len(found.rows.inputFiles()), sorted(map(str, rows.collect()))


@pytest.mark.parametrize("listed", [True, False])
def test_the_first_commit_lists_its_files_without_a_query(
    spark: SparkSession, tmp_path: Path, listed: bool
) -> None:
    """Delta ran one for the files of the table before its first commit, which has none."""
    setting = "spark.databricks.delta.allFilesInCrc.enabled"
    jvm: Any = jvm_view(spark)
    # Each query has the next number, also after the store of queries has dropped older ones.
    next_number = getattr(
        getattr(jvm.org.apache.spark.sql.execution, "SQLExecution$"), "MODULE$"
    ).nextExecutionId
    places = [str(tmp_path / name) for name in ("created", "selected", "saved", "second")]
    # Number of queries: that of the statement, that of its rows, and the job that writes them.
    for place, queries, write in (
        (places[0], 1, lambda: spark.sql(f"CREATE TABLE delta.`{places[0]}` (id INT)")),
        (places[1], 3, lambda: spark.sql(f"CREATE TABLE delta.`{places[1]}` AS SELECT 1 AS id")),
        (places[2], 2, lambda: spark.range(3).write.format("delta").save(places[2])),
        (places[3], 3, lambda: spark.range(3).writeTo(f"delta.`{places[3]}`").create()),
    ):
        spark.conf.set(setting, str(listed).lower())
        try:
            before = next_number()
            write()
            assert next_number() - before - 1 == queries
        finally:
            spark.conf.unset(setting)
        log = Path(place) / "_delta_log"
        added = [
            action["add"]["path"]
            for action in map(json.loads, (log / f"{0:020d}.json").read_text().splitlines())
            if "add" in action
        ]
        checksum = json.loads((log / f"{0:020d}.crc").read_text())
        assert checksum["numFiles"] == len(added)
        # The list of an empty table is kept in any case.
        found = [each["path"] for each in checksum.get("allFiles", ())]
        assert sorted(found) == (sorted(added) if listed else [])


def test_the_first_commit_refuses_defaults_of_the_session(spark: SparkSession) -> None:
    """They are read when the commit needs them."""
    setting = "spark.databricks.delta.properties.defaults.columnMapping.mode"
    spark.conf.set(setting, "99")
    try:
        with pytest.raises(PySparkException, match=r"DELTA_ILLEGAL_OPTION.*columnMapping\.mode"):
            spark.sql("CREATE TABLE main.default.refused (id INT)")
    finally:
        spark.conf.unset(setting)
    spark.sql("CREATE TABLE main.default.refused (id INT)")
    spark.sql("DROP TABLE main.default.refused")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_listed_files_are_those_of_the_log(lab: Lab, kind: str) -> None:
    spark, table = lab.spark, f"main.{lab.source}.listed"
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) {KINDS[kind]}")
    for start in (0, 10, 20, 30):
        insert(spark, table, start)
    spark.sql(f"DELETE FROM {table} WHERE id IN (3, 17)")
    spark.sql(f"UPDATE {table} SET amount = 1.5 WHERE id = 25")
    insert(spark, table, 40)
    if kind in ("clustered", "deletion vectors"):
        # Files of an OPTIMIZE of a clustered table have tags.
        spark.sql(f"OPTIMIZE {table}").collect()
        insert(spark, table, 50)
    once = {"txnAppId": "listed", "txnVersion": 7}
    spark.table(table).where("id = 41").write.options(**once).mode("append").saveAsTable(table)
    log = log_of(spark, table)
    assert kind_of(log) == "ListedSnapshot"
    snapshot = log.currentSnapshot().snapshot()
    found = [results(spark, table, each) for each in CONDITIONS]
    listed = state(snapshot)
    assert not snapshot.stateReconstructionTriggered()
    assert files(snapshot.allFiles()) == files(snapshot.allFilesViaStateReconstruction())
    use_files_of_log(spark, log)
    assert listed == state(log.currentSnapshot().snapshot())
    assert found == [results(spark, table, each) for each in CONDITIONS]
    assert kind_of(log) == "Snapshot"


@pytest.mark.slow
def test_commits_follow_a_listed_version(lab: Lab) -> None:
    """Every kind of change takes the files of the version before from its list."""
    spark, table = lab.spark, f"main.{lab.source}.changed"
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) {KINDS['deletion vectors']}")
    insert(spark, table, 0)
    # Delta lists no files in the checksum of a commit that restores a version.
    unlisted = {"VACUUM"}
    for statement in (
        f"UPDATE {table} SET amount = 0 WHERE id = 1",
        f"DELETE FROM {table} WHERE id = 2",
        f"MERGE INTO {table} t USING (SELECT 3 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
        f"OPTIMIZE {table}",
        f"INSERT INTO {table} REPLACE WHERE id = 4 SELECT * FROM {table} WHERE id = 4",
        f"ALTER TABLE {table} ADD COLUMN more INT",
        f"RESTORE TABLE {table} TO VERSION AS OF 3",
        f"VACUUM {table} RETAIN 200 HOURS",
    ):
        spark.table(table).count()
        log = log_of(spark, table)
        assert (kind_of(log) == "Snapshot") == (statement.split()[0] in unlisted), statement
        spark.sql(statement).collect()
        newest = log_of(spark, table).currentSnapshot().snapshot()
        assert files(newest.allFiles()) == files(newest.allFilesViaStateReconstruction()), statement


def test_changes_of_the_metadata_keep_the_list(lab: Lab) -> None:
    """Delta lists no files in the checksum of such a commit; the next statement read the log in a job."""
    spark, table = lab.spark, f"main.{lab.source}.altered"
    spark.sql(f"CREATE TABLE {table} ({COLUMNS}) {KINDS['deletion vectors']}")
    insert(spark, table, 0)
    spark.sql(f"DELETE FROM {table} WHERE id = 2")
    listed_by_delta = []
    for statement in (
        "ADD COLUMN more INT",
        "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        "RENAME COLUMN more TO other",
        "ADD CONSTRAINT positive CHECK (id >= 0 OR id IS NULL)",
        "DROP COLUMN other",
        "ALTER COLUMN place SET DEFAULT 'x'",
        "CLUSTER BY (day)",
    ):
        if statement.startswith("ALTER"):
            spark.sql(
                f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')"
            )
        spark.sql(f"ALTER TABLE {table} {statement}")
        log = log_of(spark, table)
        assert kind_of(log) == "ListedSnapshot", statement
        listed_by_delta.append(log.currentSnapshot().snapshot().checksumOpt().get().allFiles().isDefined())
    assert False in listed_by_delta
    found = [results(spark, table, each) for each in CONDITIONS]
    snapshot = log.currentSnapshot().snapshot()
    listed = state(snapshot)
    assert not snapshot.stateReconstructionTriggered()
    assert files(snapshot.allFiles()) == files(snapshot.allFilesViaStateReconstruction())
    use_files_of_log(spark, log)
    assert listed == state(log.currentSnapshot().snapshot())
    assert found == [results(spark, table, each) for each in CONDITIONS]
    # A command that names the table has the list, too, and the next commit continues it.
    jvm_view(spark).org.apache.spark.sql.delta.DeltaLog.clearCache()
    assert spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["numFiles"] == len(files(snapshot.allFiles()))
    insert(spark, table, 20)
    log = log_of(spark, table)
    assert log.currentSnapshot().snapshot().checksumOpt().get().allFiles().isDefined()
    # A commit with files and without a list ends it.
    setting = "spark.databricks.delta.allFilesInCrc.enabled"
    spark.conf.set(setting, "false")
    try:
        insert(spark, table, 30)
    finally:
        spark.conf.unset(setting)
    assert kind_of(log_of(spark, table)) == "Snapshot"


@pytest.mark.slow
def test_files_are_read_from_the_log_where_no_checksum_lists_them(lab: Lab) -> None:
    """Other writers write no checksum, and Delta lists no more than 50 files."""
    spark, table = lab.spark, f"main.{lab.source}.unlisted"
    spark.range(120).repartition(60).write.saveAsTable(table)
    assert kind_of(log_of(spark, table)) == "Snapshot"
    for expected in ("Snapshot", "ListedSnapshot"):
        # Its list continues that of the version before.
        spark.range(5).write.mode("overwrite").saveAsTable(table)
        assert kind_of(log_of(spark, table)) == expected
    place = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"]
    for checksum in Path(place.removeprefix("file:"), "_delta_log").glob("*.crc"):
        checksum.unlink()
    assert kind_of(log_of(spark, table)) == "Snapshot"
    assert results(spark, table, "true")[0] == 5


def _streamed(spark: SparkSession, place: str) -> DataFrame:
    query = spark.readStream.format("delta").load(place).writeStream.format("memory").queryName("listed_rows")
    query.trigger(availableNow=True).start().awaitTermination()
    return spark.table("listed_rows")


READERS: dict[str, Callable[[SparkSession, str], DataFrame]] = {
    "path": lambda spark, place: spark.read.format("delta").load(place),
    "path in SQL": lambda spark, place: spark.sql(f"SELECT * FROM delta.`{place}`"),
    "newest version": lambda spark, place: spark.sql(f"SELECT * FROM delta.`{place}` VERSION AS OF 3"),
    "older version": lambda spark, place: (
        spark.read.format("delta").option("versionAsOf", 2).load(place).unionAll(spark.range(8, 9).toDF("id"))
    ),
    "change data feed": lambda spark, place: (
        spark.read.format("delta").option("readChangeFeed", "true").option("startingVersion", 0).load(place)
    ).where("_change_type = 'insert' AND id <> 2"),
    "stream": _streamed,
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_gives_the_rows_of_a_listed_version(lab: Lab, reader: str) -> None:
    spark, table = lab.spark, f"main.{lab.source}.read"
    spark.sql(
        f"CREATE TABLE {table} (id BIGINT) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', "
        "'delta.enableChangeDataFeed' = 'true')"
    )
    spark.sql(f"INSERT INTO {table} SELECT id FROM range(8)")
    spark.sql(f"DELETE FROM {table} WHERE id = 2")
    spark.sql(f"INSERT INTO {table} VALUES (8)")
    assert kind_of(log_of(spark, table)) == "ListedSnapshot"
    place = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"]
    found = READERS[reader](spark, place).select("id").collect()
    assert sorted(row["id"] for row in found) == [0, 1, 3, 4, 5, 6, 7, 8]
