"""INSERT into a Delta table returns the number of rows of its query, as on Databricks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = ["num_affected_rows", "num_inserted_rows"]
TABLES = {
    "plain": "",
    "partitioned": "PARTITIONED BY (part)",
    "clustered": "CLUSTER BY (id)",
    "change data feed": "TBLPROPERTIES (delta.enableChangeDataFeed = true)",
    "deletion vectors": "TBLPROPERTIES (delta.enableDeletionVectors = true)",
    "column mapping": "TBLPROPERTIES (delta.columnMapping.mode = 'name')",
}
# Of a table with the ids 0 to 9 and `part` = id % 2: each statement, and the rows of its query.
STATEMENTS = {
    "INSERT INTO {t} SELECT id, 1 FROM range(7)": 7,
    "insert into {t} values (1, 2), (3, 4)": 2,
    "INSERT INTO TABLE {t} VALUES (1, DEFAULT)": 1,
    "INSERT INTO {t} (part, id) SELECT 1, id FROM range(3)": 3,
    "INSERT INTO {t} BY NAME SELECT 5 AS part, 6L AS id": 1,
    "INSERT INTO {t} SELECT id, 1 FROM range(7) WHERE id > 100": 0,
    "INSERT INTO {t} SELECT 1, 1 WHERE false": 0,
    "INSERT OVERWRITE {t} SELECT id, 1 FROM range(4)": 4,
    "INSERT OVERWRITE TABLE {t} SELECT 1, 1 WHERE false": 0,
    "INSERT INTO {t} REPLACE WHERE part = 1 SELECT id, 1 FROM range(2)": 2,
    "INSERT INTO {t} REPLACE WHERE id < 3 SELECT id, 0 FROM range(2)": 2,
    "INSERT INTO {t} REPLACE USING (part) SELECT id, 1 FROM range(3)": 3,
    "INSERT INTO {t} AS t REPLACE ON t.id = s.id (SELECT id, 1 AS part FROM range(3)) AS s": 3,
    "WITH few AS (SELECT id, 1 AS part FROM range(3)) INSERT INTO {t} SELECT * FROM few": 3,
    "FROM range(6) INSERT INTO {t} SELECT id, 1": 6,
    "INSERT INTO {t} TABLE {t}": 10,
    "EXECUTE IMMEDIATE 'INSERT INTO {t} VALUES (1, 2)'": 1,
    "/* first */ INSERT /* then */ INTO {t} VALUES (1, 2);": 1,
}
DYNAMIC = {
    "INSERT INTO {t} PARTITION (part = 7) SELECT id FROM range(4)": 4,
    "INSERT OVERWRITE {t} PARTITION (part = 1) SELECT id FROM range(5)": 5,
    "INSERT OVERWRITE {t} PARTITION (part) SELECT id, id % 3 FROM range(6)": 6,
}


def _cases() -> Iterator[Any]:
    for kind in TABLES:
        statements = {**STATEMENTS, **(DYNAMIC if kind == "partitioned" else {})}
        for number, (text, rows) in enumerate(statements.items()):
            # Each statement twice in the default lane: into a plain table, and into one of another kind.
            is_chosen = kind == "plain" or text in DYNAMIC or number % len(TABLES) == list(TABLES).index(kind)
            marks = () if is_chosen else pytest.mark.slow
            yield pytest.param(kind, text, rows, marks=marks, id=f"{kind}: {text}")


def fill(spark: SparkSession, name: str, kind: str) -> None:
    """Make the table `name` with the ids 0 to 9."""
    layout, _, properties = TABLES[kind].partition("TBLPROPERTIES")
    properties = f"{properties.strip(' ()')}, " if properties else ""
    spark.sql(
        f"CREATE OR REPLACE TABLE {name} (id BIGINT, part INT DEFAULT 3) USING delta {layout} "
        f"TBLPROPERTIES ({properties}delta.feature.allowColumnDefaults = 'supported')"
    )
    spark.range(0, 10, 1, 1).selectExpr("id", "CAST(id % 2 AS INT) AS part").writeTo(name).append()


@pytest.mark.parametrize(("kind", "text", "rows"), list(_cases()))
def test_an_insert_returns_the_rows_of_its_query(
    spark: SparkSession, kind: str, text: str, rows: int
) -> None:
    name = f"main.default.inserted_{kind.replace(' ', '_')}"
    fill(spark, name, kind)
    result = spark.sql(text.format(t=name))
    assert result.columns == COLUMNS
    assert [tuple(row) for row in result.collect()] == [(rows, rows)]


REPLACING = {
    "INSERT INTO {t} REPLACE USING (part) SELECT id, 1 FROM range(3)": 3,
    "INSERT INTO {t} (id, part) REPLACE USING (id) SELECT 1, 1": 1,
    "INSERT INTO {t} AS t REPLACE ON t.id = s.id (SELECT id, 1 AS part FROM range(3)) AS s": 3,
    "INSERT INTO {t} AS t REPLACE ON t.id = s.id VALUES (1, 1), (20, 1) AS s(id, part)": 2,
}


@pytest.mark.parametrize("kind", TABLES)
def test_the_history_of_an_insert_that_replaces_is_that_of_a_write(spark: SparkSession, kind: str) -> None:
    """It is a MERGE here, whose condition has a column that the user does not know."""
    from delta.tables import DeltaTable

    name = f"main.default.replaced_{kind.replace(' ', '_')}"
    for text, rows in REPLACING.items():
        fill(spark, name, kind)
        spark.sql(text.format(t=name))
        for history in (spark.sql(f"DESCRIBE HISTORY {name}"), DeltaTable.forName(spark, name).history()):
            latest = history.where("operation <> 'OPTIMIZE'").orderBy("version", ascending=False).first()
            assert latest is not None
            assert latest["operation"] == "WRITE"
            assert latest["operationParameters"] == {"mode": "Overwrite", "partitionBy": "[]"}
            assert latest["operationMetrics"]["numOutputRows"] == str(rows)
            assert int(latest["operationMetrics"]["numFiles"]) >= 1
            assert "numTargetRowsInserted" not in latest["operationMetrics"]
    spark.sql(f"MERGE INTO {name} t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE")
    latest = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").first()
    assert latest is not None
    assert latest["operation"] == "MERGE", "of the user"


def test_parameters_and_variables(spark: SparkSession) -> None:
    fill(spark, "main.default.inserted", "plain")
    named = spark.sql("INSERT INTO main.default.inserted SELECT :a, 1", args={"a": 5})
    in_order = spark.sql("INSERT INTO IDENTIFIER(?) VALUES (1, 1), (2, 2)", args=["main.default.inserted"])
    assert [tuple(each.collect()[0]) for each in (named, in_order)] == [(1, 1), (2, 2)]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("EXPLAIN INSERT INTO main.default.inserted VALUES (1, 1)", ["plan"]),
        ("SELECT 'insert' AS a", ["a"]),
        ("CREATE OR REPLACE TABLE main.default.other AS SELECT 'insert' AS a", []),
        ("DELETE FROM main.default.inserted WHERE 'insert' = 'x'", ["num_affected_rows"]),
        ("INSERT INTO hive_metastore.default.inserted_parquet VALUES (1)", []),
    ],
)
def test_other_statements_return_what_they_did(spark: SparkSession, text: str, columns: list[str]) -> None:
    fill(spark, "main.default.inserted", "plain")
    spark.sql("CREATE TABLE IF NOT EXISTS hive_metastore.default.inserted_parquet (a INT) USING parquet")
    assert spark.sql(text).columns == columns


def test_a_statement_that_commits_nothing_takes_no_number_of_an_earlier_commit(spark: SparkSession) -> None:
    fill(spark, "main.default.inserted", "plain")
    spark.range(5).selectExpr("id", "1 AS part").write.mode("append").saveAsTable("main.default.inserted")
    result = spark.sql("INSERT INTO main.default.inserted SELECT 1, 1 WHERE false").collect()
    assert [tuple(row) for row in result] == [(0, 0)]


def test_threads_that_insert_at_once_have_their_own_numbers(spark: SparkSession) -> None:
    found: dict[int, list[int]] = {}
    for number in (1, 2, 3):
        fill(spark, f"main.default.inserted_{number}", "plain")

    def insert(number: int) -> None:
        table = f"main.default.inserted_{number}"
        texts = [f"INSERT INTO {table} SELECT id, 1 FROM range({number * 10 + k})" for k in range(5)]
        found[number] = [spark.sql(text).collect()[0][0] for text in texts]

    threads = [threading.Thread(target=insert, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [number * 10 + k for k in range(5)] for number in (1, 2, 3)}
