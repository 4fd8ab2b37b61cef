"""IDENTIFIER clauses in statements that Spark does not run: statements × ways to give the name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.lanes import sampled

SCHEMA = "main.identifier_clause"

# The object, and a statement about it that can be repeated.
STATEMENTS = [
    (f"{SCHEMA}.v", "CREATE VOLUME IF NOT EXISTS {name}"),
    (f"{SCHEMA}.v", "DESCRIBE VOLUME {name}"),
    (f"{SCHEMA}.v", "ALTER VOLUME {name} SET TAGS ('a' = 'b')"),
    (f"{SCHEMA}.v", "COMMENT ON VOLUME {name} IS 'files'"),
    (f"{SCHEMA}.v", "GRANT READ VOLUME ON VOLUME {name} TO `ann`"),
    (f"{SCHEMA}.v", "SHOW GRANTS ON VOLUME {name}"),
    (f"{SCHEMA}.none", "DROP VOLUME IF EXISTS {name}"),
    (SCHEMA, "SHOW VOLUMES IN {name}"),
    (SCHEMA, "SHOW TABLES IN {name}"),
    (SCHEMA, "DESCRIBE SCHEMA {name}"),
    (SCHEMA, "ALTER SCHEMA {name} ENABLE PREDICTIVE OPTIMIZATION"),
    ("main", "USE CATALOG {name}"),
    ("main", "SHOW SCHEMAS IN {name}"),
    ("main", "DESCRIBE CATALOG {name}"),
    (f"{SCHEMA}.t", "VACUUM {name}"),
    (f"{SCHEMA}.t", "ANALYZE TABLE {name} COMPUTE STATISTICS"),
    (f"{SCHEMA}.t", "ALTER TABLE {name} SET TAGS ('a' = 'b')"),
    (f"{SCHEMA}.t", "ALTER TABLE {name} CLUSTER BY AUTO"),
    (f"{SCHEMA}.t", "CREATE OR REPLACE TABLE main.identifier_clause.u DEEP CLONE {name}"),
    (f"{SCHEMA}.t", "OPTIMIZE {name}"),
    (f"{SCHEMA}.t", "REORG TABLE {name} APPLY (PURGE)"),
    (f"{SCHEMA}.t", "DESCRIBE HISTORY {name}"),
    (f"{SCHEMA}.t", "DESC DETAIL {name}"),
    (f"{SCHEMA}.t", "RESTORE TABLE {name} TO VERSION AS OF 0"),
    (f"{SCHEMA}.t", "ALTER TABLE {name} CLUSTER BY (id)"),
    (f"{SCHEMA}.t", "ALTER TABLE {name} DROP CONSTRAINT IF EXISTS c"),
]

# These add to the history of the table, or show it.
CHANGING = ("CREATE OR REPLACE", "DESC DETAIL", "DESCRIBE HISTORY", "OPTIMIZE", "REORG", "RESTORE")

SPELLINGS = {
    "literal": "IDENTIFIER('{whole}')",
    "parameter": "IDENTIFIER(:whole)",
    "concatenation": "IDENTIFIER(:head || :tail)",
    "function": "IDENTIFIER(concat('{head}', lower(:tail)))",
    "variable": "IDENTIFIER(identifier_clause_whole)",
    "adjacent": "IDENTIFIER('{head}' '{tail}')",
}


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    """The session with a table and a volume."""
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    spark.sql(f"CREATE VOLUME IF NOT EXISTS {SCHEMA}.v")
    if not spark.catalog.tableExists(f"{SCHEMA}.t"):
        spark.sql(f"CREATE TABLE {SCHEMA}.t AS SELECT 1 AS id")
    return spark


# `test_identifiers.py` has more statements on tables in the default lane.
KEPT = [(case, spelling) for case in STATEMENTS[:4] for spelling in SPELLINGS]
KEPT += [(case, "concatenation") for case in STATEMENTS if not case[1].startswith(CHANGING)]
# Spark parses these with another meaning.
KEPT += [
    (case, "literal")
    for case in STATEMENTS
    if case[1].startswith(("DESC DETAIL", "DESCRIBE HISTORY", "ALTER TABLE"))
]


@pytest.mark.parametrize(
    ("case", "spelling"), sampled([(case, each) for case in STATEMENTS for each in SPELLINGS], *KEPT)
)
def test_a_name_is_computed(session: SparkSession, case: tuple[str, str], spelling: str) -> None:
    name, statement = case
    if statement.startswith(CHANGING):
        # A long history is slow to read.
        session.sql(f"DROP TABLE IF EXISTS {SCHEMA}.u")
        session.sql(f"DROP TABLE {SCHEMA}.t")
        session.sql(f"CREATE TABLE {SCHEMA}.t AS SELECT 1 AS id")
    clause, values = spelled(name, spelling)
    session.sql(f"DECLARE OR REPLACE VARIABLE identifier_clause_whole STRING DEFAULT '{name}'")
    text = statement.format(name=clause)
    expected, found = session.sql(statement.format(name=name)), session.sql(text, args=values)
    assert found.columns == expected.columns
    if not statement.startswith(CHANGING):
        assert [tuple(row) for row in found.collect()] == [tuple(row) for row in expected.collect()]


def spelled(name: str, spelling: str) -> tuple[str, Mapping[str, Any]]:
    head, tail = name[:-1], name[-1]
    clause = SPELLINGS[spelling].format(whole=name, head=head, tail=tail)
    values = {"whole": name, "head": head, "tail": tail}
    return clause, {key: value for key, value in values.items() if f":{key}" in clause}


def test_a_name_that_is_null_is_an_error(session: SparkSession) -> None:
    with pytest.raises(PySparkException) as raised:
        session.sql("DESCRIBE VOLUME IDENTIFIER(CAST(NULL AS STRING))")
    assert raised.value.getCondition() == "NOT_A_CONSTANT_STRING.NULL"


@pytest.mark.parametrize("value", ["a b", "a.b.c.d.e", "", "a;b"])
def test_a_text_that_is_no_name_is_an_error(session: SparkSession, value: str) -> None:
    with pytest.raises(PySparkException) as raised:
        session.sql("DESCRIBE VOLUME IDENTIFIER(concat(:value, ''))", args={"value": value})
    assert raised.value.getCondition() == "PARSE_SYNTAX_ERROR"
