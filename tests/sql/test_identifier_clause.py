"""IDENTIFIER clauses: statements × ways to give the name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.lanes import sampled

SCHEMA = "main.identifier_clause"
TABLE, CLONE, VOLUME = f"{SCHEMA}.t", f"{SCHEMA}.u", f"{SCHEMA}.v"


class Case(NamedTuple):
    """A statement about an object. One that is not repeatable gets a new table; its rows are not compared."""

    name: str
    statement: str
    is_repeatable: bool = True


# Statements that Spark does not run, and that can be repeated.
REPEATABLE = [
    Case(VOLUME, "CREATE VOLUME IF NOT EXISTS {}"),
    Case(VOLUME, "DESCRIBE VOLUME {}"),
    Case(VOLUME, "ALTER VOLUME {} SET TAGS ('a' = 'b')"),
    Case(VOLUME, "COMMENT ON VOLUME {} IS 'files'"),
    Case(VOLUME, "GRANT READ VOLUME ON VOLUME {} TO `ann`"),
    Case(VOLUME, "SHOW GRANTS ON VOLUME {}"),
    Case(f"{SCHEMA}.none", "DROP VOLUME IF EXISTS {}"),
    Case(SCHEMA, "SHOW VOLUMES IN {}"),
    Case(SCHEMA, "SHOW TABLES IN {}"),
    Case(SCHEMA, "DESCRIBE SCHEMA {}"),
    Case(SCHEMA, "ALTER SCHEMA {} ENABLE PREDICTIVE OPTIMIZATION"),
    Case("main", "USE CATALOG {}"),
    Case("main", "SHOW SCHEMAS IN {}"),
    Case("main", "DESCRIBE CATALOG {}"),
    Case(TABLE, "VACUUM {}"),
    Case(TABLE, "ANALYZE TABLE {} COMPUTE STATISTICS"),
    Case(TABLE, "ALTER TABLE {} SET TAGS ('a' = 'b')"),
    Case(TABLE, "ALTER TABLE {} CLUSTER BY AUTO"),
    Case(TABLE, "ALTER TABLE {} CLUSTER BY (id)"),
    Case(TABLE, "ALTER TABLE {} DROP CONSTRAINT IF EXISTS c"),
]
# These add to the history of the table, or show it.
HISTORY = [
    Case(TABLE, statement, is_repeatable=False)
    for statement in (
        f"CREATE OR REPLACE TABLE {CLONE} DEEP CLONE {{}}",
        "OPTIMIZE {}",
        "REORG TABLE {} APPLY (PURGE)",
        "DESCRIBE HISTORY {}",
        "DESC DETAIL {}",
        "RESTORE TABLE {} TO VERSION AS OF 0",
    )
]
TABLES = [
    Case(TABLE, statement, is_repeatable=False)
    for statement in (
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
        "DESCRIBE TABLE {}",
        "ALTER TABLE {} SET TBLPROPERTIES ('a' = 'b')",
        "ALTER TABLE {} ALTER COLUMN id SET NOT NULL",
        "GRANT SELECT ON TABLE {} TO `a@b.c`",
        "COMMENT ON TABLE {} IS 'x'",
        f"CREATE OR REPLACE TABLE {CLONE} SHALLOW CLONE {{}}",
        "SELECT * FROM {}",
    )
]

# Of a name as a whole.
SPELLINGS = {
    "literal": "'{whole}'",
    "parameter": ":whole",
    "concatenation": ":head || :tail",
    "function": "concat('{head}', lower(:tail))",
    "variable": "identifier_clause_whole",
    "adjacent": "'{head}' '{tail}'",
}
# Of a name with three parts.
PART_SPELLINGS = {
    "operator": ":catalog||'.'||:schema || '.{object}'",
    "concat": "CONCAT(:catalog, '.', :schema, '.{object}')",
    "concat_ws": "concat_ws('.', :catalog, :schema, '{object}')",
    "nested": "CONCAT(concat_ws('.', :catalog, :schema), ('.' || LOWER('{OBJECT}')))",
}

OF_PARTS = {
    case: ("operator", "concat_ws", "nested") if "INSERT" in case.statement else ("literal", "concat")
    for case in (*TABLES, *HISTORY, *(case for case in REPEATABLE if case.name == TABLE))
}
# Of every second statement one spelling, each spelling in turn; the slowest statements are long proofs.
SLOW = ("VACUUM", "RESTORE")
KEPT = [
    (case, spelling)
    for case, spelling in (
        *((case, spelling) for case in REPEATABLE[:2] for spelling in SPELLINGS),
        *((case, "concatenation") for case in REPEATABLE[2:]),
        *(
            (case, of_case[at % len(of_case)])
            for at, (case, of_case) in enumerate(OF_PARTS.items())
            if at % 2
        ),
    )
    if not case.statement.startswith(SLOW)
]
CASES = [
    *((case, spelling) for case in (*REPEATABLE, *HISTORY) for spelling in SPELLINGS),
    *((case, spelling) for case, of_case in OF_PARTS.items() for spelling in of_case),
]


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """The session with a table and a volume."""
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    spark.sql(f"CREATE VOLUME IF NOT EXISTS {VOLUME}")
    if not spark.catalog.tableExists(TABLE):
        create_table(spark)
    return spark


@pytest.fixture(scope="module")
def outcomes() -> dict[Case, Any]:
    """Return the outcomes with plain names of the statements that are not repeatable, which start alike."""
    return {}


def create_table(spark: SparkSession) -> None:
    # A long history is slow to read.
    for table in (CLONE, TABLE):
        spark.sql(f"DROP TABLE IF EXISTS {table}")
    spark.sql(f"CREATE TABLE {TABLE} (id INT, name STRING)")
    spark.sql(f"INSERT INTO {TABLE} VALUES (1, 'a')")


@pytest.mark.parametrize(("case", "spelling"), sampled(dict.fromkeys(CASES), *KEPT))
def test_a_name_is_computed(
    session: SparkSession, outcomes: dict[Case, Any], case: Case, spelling: str
) -> None:
    if case.is_repeatable:
        expected = outcome(session, case, case.name)
    else:
        expected = outcomes.get(case) or outcomes.setdefault(case, outcome(session, case, case.name))
    clause, values = spelled(case.name, spelling)
    session.sql(f"DECLARE OR REPLACE VARIABLE identifier_clause_whole STRING DEFAULT '{case.name}'")
    assert outcome(session, case, clause, values) == expected


def outcome(session: SparkSession, case: Case, name: str, values: Mapping[str, Any] | None = None) -> Any:
    """Return the result's columns, its rows if they are always the same, and the rows of the table."""
    if not case.is_repeatable:
        create_table(session)
    result = session.sql(case.statement.replace("{}", name), args=dict(values or {}))
    rows = [tuple(row) for row in result.collect()] if case.is_repeatable else []
    table = sorted(map(tuple, session.table(TABLE).collect())) if case.name == TABLE else []
    return result.columns, rows, table


def spelled(name: str, spelling: str) -> tuple[str, Mapping[str, Any]]:
    """Return the IDENTIFIER clause, and the values of its parameters."""
    catalog, schema, entity = (*name.split("."), "", "")[:3]
    values = {"whole": name, "head": name[:-1], "tail": name[-1], "catalog": catalog, "schema": schema}
    template = {**SPELLINGS, **PART_SPELLINGS}[spelling]
    text = template.format(**values, object=entity, OBJECT=entity.upper())
    return f"IDENTIFIER({text})", {key: value for key, value in values.items() if f":{key}" in text}


FUNCTION_STATEMENTS = [
    "DROP FUNCTION {}",
    "DROP FUNCTION IF EXISTS {}",
    "REFRESH FUNCTION {}",
    "DESCRIBE FUNCTION {}",
]


@pytest.mark.parametrize("name", [f"{SCHEMA}.f", f"{SCHEMA}.missing", "missing", "missing_catalog.a.b"])
@pytest.mark.parametrize("statement", FUNCTION_STATEMENTS)
def test_a_function_is_named(session: SparkSession, statement: str, name: str) -> None:
    expected = outcome_of_function(session, statement, name)
    for spelling in SPELLINGS:
        clause, values = spelled(name, spelling)
        session.sql(f"DECLARE OR REPLACE VARIABLE identifier_clause_whole STRING DEFAULT '{name}'")
        assert outcome_of_function(session, statement, clause, values) == expected, spelling
    if "missing" in name and "DESCRIBE" not in statement and expected is not True:
        unknown = "NO_SUCH_CATALOG_EXCEPTION" if name.startswith("missing_") else "ROUTINE_NOT_FOUND"
        assert expected == unknown


def outcome_of_function(
    session: SparkSession, statement: str, name: str, values: Mapping[str, Any] | None = None
) -> str | bool | None:
    """Return the condition of the error; True for success."""
    session.sql(f"CREATE OR REPLACE FUNCTION {SCHEMA}.f(x INT) RETURNS INT RETURN x + 1")
    try:
        session.sql(statement.format(name), args=dict(values or {})).collect()
    except PySparkException as error:
        return error.getCondition()
    return True


def test_a_schema_with_a_function_is_not_empty(session: SparkSession) -> None:
    session.sql("CREATE SCHEMA main.identifier_functions")
    session.sql("CREATE FUNCTION main.identifier_functions.f() RETURNS INT RETURN 1")
    with pytest.raises(PySparkException, match="schema `identifier_functions` because") as raised:
        session.sql("DROP SCHEMA main.identifier_functions")
    assert raised.value.getCondition() == "SCHEMA_NOT_EMPTY"
    session.sql("DROP SCHEMA main.identifier_functions CASCADE")


def test_a_script_inserts_into_the_table_of_its_variables(session: SparkSession) -> None:
    create_table(session)
    session.sql("DECLARE OR REPLACE VARIABLE suffix STRING DEFAULT 't'")
    session.sql(
        f"BEGIN DECLARE schema_name STRING DEFAULT '{SCHEMA}'; "
        "INSERT INTO IDENTIFIER(CONCAT(schema_name, '.', session.suffix)) VALUES (3, 'c'); END"
    )
    assert session.table(TABLE).count() == 2


def test_a_name_that_is_null_is_an_error(session: SparkSession) -> None:
    with pytest.raises(PySparkException) as raised:
        session.sql("DESCRIBE VOLUME IDENTIFIER(CAST(NULL AS STRING))")
    assert raised.value.getCondition() == "NOT_A_CONSTANT_STRING.NULL"


@pytest.mark.parametrize("value", ["a b", "a.b.c.d.e", "", "a;b"])
def test_a_text_that_is_no_name_is_an_error(session: SparkSession, value: str) -> None:
    with pytest.raises(PySparkException) as raised:
        session.sql("DESCRIBE VOLUME IDENTIFIER(concat(:value, ''))", args={"value": value})
    assert raised.value.getCondition() == "PARSE_SYNTAX_ERROR"
