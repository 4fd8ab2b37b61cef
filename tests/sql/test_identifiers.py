"""IDENTIFIER(expression): statements × expressions × literals and parameters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

TABLE = "main.default.identified"

EXPRESSIONS = {
    "literal": "'main.default.identified'",
    "operator": ":catalog||'.'||:schema || '.identified'",
    "concat": "CONCAT(:catalog, '.', :schema, '.identified')",
    "concat_ws": "concat_ws('.', :catalog, :schema, 'identified')",
    "nested": "CONCAT(concat_ws('.', :catalog, :schema), ('.' || LOWER('IDENTIFIED')))",
}
STATEMENTS = (
    "INSERT INTO {} VALUES (2, 'b')",
    "INSERT INTO {} (id, name) VALUES (2, CONCAT('a', 'b'))",
    "INSERT INTO TABLE {} BY NAME SELECT 'b' AS name, 2 AS id",
    "INSERT OVERWRITE {} SELECT 2, 'b'",
    "INSERT INTO {} REPLACE WHERE id = 2 SELECT 2, 'b'",
    "FROM range(2, 4) INSERT INTO {} SELECT id, 'x' INSERT INTO {} SELECT id, 'y'",
    "WITH s AS (SELECT 2, 'b') INSERT INTO {} SELECT * FROM s",
    "EXPLAIN INSERT INTO {} VALUES (2, 'b')",
    "BEGIN INSERT INTO {} VALUES (2, 'b'); END",
    "UPDATE {} SET name = 'c' WHERE id = 1",
    "DELETE FROM {} WHERE id = 1",
    "MERGE INTO {} t USING (SELECT 1 AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE",
    "TRUNCATE TABLE {}",
    "OPTIMIZE {} ZORDER BY (id)",
    "VACUUM {} DRY RUN",
    "DESCRIBE HISTORY {} LIMIT 1",
    "DESC DETAIL {}",
    "DESCRIBE TABLE {}",
    "RESTORE TABLE {} TO VERSION AS OF 0",
    "REORG TABLE {} APPLY (PURGE)",
    "ANALYZE TABLE {} COMPUTE STATISTICS",
    "ALTER TABLE {} SET TBLPROPERTIES ('a' = 'b')",
    "ALTER TABLE {} SET TAGS ('a' = 'b')",
    "ALTER TABLE {} ALTER COLUMN id SET NOT NULL",
    "GRANT SELECT ON TABLE {} TO `a@b.c`",
    "COMMENT ON TABLE {} IS 'x'",
    "CREATE OR REPLACE TABLE main.default.identified_clone SHALLOW CLONE {}",
    "CREATE OR REPLACE TABLE main.default.identified_clone DEEP CLONE {}",
    "SELECT * FROM {}",
)


@pytest.fixture(autouse=True)
def table(spark: SparkSession) -> Iterator[None]:
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} (id INT, name STRING)")
    spark.sql(f"INSERT INTO {TABLE} VALUES (1, 'a')")
    yield
    spark.sql(f"DROP TABLE {TABLE}")
    spark.sql("DROP TABLE IF EXISTS main.default.identified_clone")


@pytest.mark.parametrize("statement", STATEMENTS)
def test_every_expression_gives_what_the_name_gives(spark: SparkSession, statement: str) -> None:
    def outcome(name: str) -> tuple[list[str], list[tuple[object, ...]]]:
        spark.sql(f"CREATE OR REPLACE TABLE {TABLE} (id INT, name STRING)")
        spark.sql(f"INSERT INTO {TABLE} VALUES (1, 'a')")
        columns = spark.sql(
            statement.replace("{}", name), args={"catalog": "main", "schema": "default"}
        ).columns
        return columns, sorted(map(tuple, spark.table(TABLE).collect()))

    expected = outcome(TABLE)
    kinds = ("operator", "concat_ws", "nested") if "INSERT" in statement else ("literal", "concat")
    found = {kind: outcome(f"IDENTIFIER({EXPRESSIONS[kind]})") for kind in kinds}
    assert found == dict.fromkeys(kinds, expected)


def test_a_procedure_inserts_into_the_table_of_its_parameter(spark: SparkSession) -> None:
    spark.sql("DECLARE OR REPLACE VARIABLE suffix STRING DEFAULT 'identified'")
    spark.sql(
        "BEGIN DECLARE schema_name STRING DEFAULT 'main.default'; "
        "INSERT INTO IDENTIFIER(CONCAT(schema_name, '.', session.suffix)) VALUES (3, 'c'); END"
    )
    assert spark.table(TABLE).count() == 2
