"""Keys of tables follow the table's definition, and are refused where the platform refuses them."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeward.session import condition_of

SCHEMA = "main.keys"
T = f"{SCHEMA}.t"


@pytest.fixture
def tables(spark: SparkSession) -> SparkSession:
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    spark.sql(f"CREATE TABLE {SCHEMA}.p (id INT PRIMARY KEY, n INT)")
    spark.sql(
        f"CREATE TABLE {T} (id INT PRIMARY KEY, n INT UNIQUE, f INT REFERENCES {SCHEMA}.p) "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    spark.sql(f"INSERT INTO {T} VALUES (1, 2, 3)")
    return spark


def keys(spark: SparkSession, table: str = "t") -> dict[str, str]:
    """Names and columns of the keys that the information schema has."""
    rows = spark.sql(
        "SELECT constraint_name, array_join(collect_list(column_name), ',') FROM "
        f"main.information_schema.key_column_usage WHERE table_schema = 'keys' AND table_name = '{table}' "
        "GROUP BY 1 ORDER BY 1"
    )
    return {str(name): str(columns) for name, columns in rows.collect()}


ALL = {"t_n_unique": "n", "t_p_fk": "f", "t_pk": "id"}
ROWS = "SELECT 1 AS id, 2 AS n, 3 AS f"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (f"CREATE OR REPLACE TABLE {T} (id INT NOT NULL, n INT, f INT)", {}),
        (f"REPLACE TABLE {T} (id INT NOT NULL, n INT, f INT)", {}),
        (f"CREATE OR REPLACE TABLE {T} AS {ROWS}", {}),
        (f"REPLACE TABLE {T} AS {ROWS}", {}),
        (f"CREATE OR REPLACE TABLE {T} (id INT, n INT, PRIMARY KEY (n))", {"t_pk": "n"}),
        (f"INSERT OVERWRITE {T} {ROWS}", ALL),
        (f"INSERT INTO {T} REPLACE WHERE id = 1 {ROWS}", ALL),
        (f"CREATE TABLE IF NOT EXISTS {T} (id INT)", ALL),
        (f"TRUNCATE TABLE {T}", ALL),
        (f"RESTORE TABLE {T} TO VERSION AS OF 0", ALL),
        (f"ALTER TABLE {T} RENAME COLUMN id TO number", ALL | {"t_pk": "number"}),
        (f"ALTER TABLE {T} DROP COLUMN n", {"t_p_fk": "f", "t_pk": "id"}),
        (f"ALTER TABLE {T} DROP COLUMNS (f, n)", {"t_pk": "id"}),
        (f"ALTER TABLE {T} ADD COLUMN x INT", ALL),
    ],
)
def test_a_new_definition_has_the_keys_that_it_declares(
    tables: SparkSession, statement: str, expected: dict[str, str]
) -> None:
    tables.sql(statement)
    assert keys(tables) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ALL),
        ({"overwriteSchema": "false"}, ALL),
        ({"overwriteSchema": "true"}, {}),
        ({"OVERWRITESCHEMA": "TRUE"}, {}),
    ],
)
def test_an_overwrite_keeps_the_keys_of_the_schema_that_it_keeps(
    tables: SparkSession, options: dict[str, str], expected: dict[str, str]
) -> None:
    tables.sql(ROWS).write.mode("overwrite").options(**options).saveAsTable(T)
    assert keys(tables) == expected
    assert tables.table(T).count() == 1


def test_writers_of_the_second_kind_replace_the_keys_with_the_definition(tables: SparkSession) -> None:
    rows = tables.sql(ROWS)
    rows.writeTo(T).append()
    assert keys(tables) == ALL
    rows.writeTo(T).overwritePartitions()
    assert keys(tables) == ALL
    rows.writeTo(T).replace()
    assert keys(tables) == {}


def test_a_replacement_that_fails_keeps_the_keys(tables: SparkSession) -> None:
    with pytest.raises(Exception, match="USER_RAISED_EXCEPTION"):
        tables.sql(f"CREATE OR REPLACE TABLE {T} AS SELECT int(raise_error('no')) AS id FROM range(3)")
    assert keys(tables) == ALL


ADD = f"ALTER TABLE {T} ADD"


@pytest.mark.parametrize(
    ("statement", "condition"),
    [
        (f"{ADD} PRIMARY KEY (id)", "MULTIPLE_PRIMARY_KEYS"),
        (f"{ADD} CONSTRAINT other PRIMARY KEY (id)", "MULTIPLE_PRIMARY_KEYS"),
        (f"CREATE TABLE {SCHEMA}.x (a INT PRIMARY KEY, b INT PRIMARY KEY)", "MULTIPLE_PRIMARY_KEYS"),
        (f"CREATE TABLE {SCHEMA}.x (a INT PRIMARY KEY, b INT, PRIMARY KEY (b))", "MULTIPLE_PRIMARY_KEYS"),
        (f"{ADD} CONSTRAINT T_PK UNIQUE (n)", "CONSTRAINT_ALREADY_EXISTS"),
        (f"{ADD} CONSTRAINT t_n_unique UNIQUE (n)", "CONSTRAINT_ALREADY_EXISTS"),
        (f"{ADD} CONSTRAINT t_pk FOREIGN KEY (n) REFERENCES {SCHEMA}.p", "CONSTRAINT_ALREADY_EXISTS"),
        (
            f"CREATE TABLE {SCHEMA}.x (a INT, CONSTRAINT k UNIQUE (a), CONSTRAINT K UNIQUE (a))",
            "CONSTRAINT_ALREADY_EXISTS",
        ),
        (f"{ADD} FOREIGN KEY (n) REFERENCES {SCHEMA}.p (n)", "FOREIGN_KEY_MISMATCH"),
        (f"{ADD} FOREIGN KEY (id, n) REFERENCES {SCHEMA}.p", "FOREIGN_KEY_MISMATCH"),
        (f"{ADD} FOREIGN KEY (id, n) REFERENCES {SCHEMA}.p (id, n)", "FOREIGN_KEY_MISMATCH"),
        (f"CREATE TABLE {SCHEMA}.x (a INT, FOREIGN KEY (a) REFERENCES {SCHEMA}.x)", "FOREIGN_KEY_MISMATCH"),
        (f"{ADD} FOREIGN KEY (n) REFERENCES {SCHEMA}.missing", "TABLE_OR_VIEW_NOT_FOUND"),
        (f"CREATE TABLE {SCHEMA}.x (a INT REFERENCES {SCHEMA}.missing (id))", "TABLE_OR_VIEW_NOT_FOUND"),
    ],
)
def test_a_key_that_contradicts_another_is_refused(
    tables: SparkSession, statement: str, condition: str
) -> None:
    with pytest.raises(AnalysisException) as raised:
        tables.sql(statement)
    assert raised.value.getCondition() == condition
    assert keys(tables) == ALL
    assert not tables.catalog.tableExists(f"{SCHEMA}.x")


def test_keys_without_a_name_get_one_of_their_own(tables: SparkSession) -> None:
    tables.sql(f"{ADD} UNIQUE (n)")
    tables.sql(f"{ADD} FOREIGN KEY (n) REFERENCES {SCHEMA}.p (ID)")
    assert keys(tables) == ALL | {"t_n_unique_1": "n", "t_p_fk_1": "n"}
    tables.sql(f"ALTER TABLE {T} DROP CONSTRAINT t_n_unique")
    assert keys(tables) == {"t_n_unique_1": "n", "t_p_fk": "f", "t_p_fk_1": "n", "t_pk": "id"}


def test_a_table_is_its_own_parent(tables: SparkSession) -> None:
    tables.sql(f"CREATE TABLE {SCHEMA}.staff (id INT PRIMARY KEY, boss INT REFERENCES {SCHEMA}.staff)")
    assert keys(tables, "staff") == {"staff_pk": "id", "staff_staff_fk": "boss"}


def test_a_key_whose_parent_is_gone_stays_when_another_changes(tables: SparkSession) -> None:
    tables.sql(f"DROP TABLE {SCHEMA}.p")
    tables.sql(f"ALTER TABLE {T} DROP PRIMARY KEY")
    assert keys(tables) == {"t_n_unique": "n", "t_p_fk": "f"}


DROPS = (
    "DROP PRIMARY KEY",
    "DROP CONSTRAINT {key}",
    "DROP PRIMARY KEY IF EXISTS",
    "DROP CONSTRAINT IF EXISTS {key}",
)


@pytest.mark.parametrize("drop", DROPS)
def test_a_primary_key_is_dropped_with_the_keys_that_reference_it_or_not_at_all(
    tables: SparkSession, drop: str
) -> None:
    """Source: sql-ref-syntax-ddl-alter-table-drop-constraint (RESTRICT is the default)."""
    parent = f"{SCHEMA}.p"
    before = keys(tables, "p")
    statement = f"ALTER TABLE {parent} {drop.format(key='p_pk')}"
    for end in ("", " RESTRICT"):
        with pytest.raises(AnalysisException, match=r"foreign key t_p_fk of main\.keys\.t") as raised:
            tables.sql(statement + end)
        assert condition_of(raised.value) == "INVALID_STATE"
        assert (keys(tables, "p"), keys(tables)) == (before, ALL)
    tables.sql(f"{statement} CASCADE")
    assert keys(tables, "p") == {}
    assert keys(tables) == {name: columns for name, columns in ALL.items() if name != "t_p_fk"}


def test_a_key_that_references_its_own_table_goes_with_the_primary_key(tables: SparkSession) -> None:
    tables.sql(f"ALTER TABLE {SCHEMA}.p ADD CONSTRAINT own FOREIGN KEY (n) REFERENCES {SCHEMA}.p")
    tables.sql(f"ALTER TABLE {SCHEMA}.p DROP PRIMARY KEY CASCADE")
    assert keys(tables, "p") == {}
