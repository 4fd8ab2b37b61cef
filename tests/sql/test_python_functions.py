"""CREATE FUNCTION … LANGUAGE PYTHON: stored with the schema, called by name, as functions of SQL are.

Source: https://docs.databricks.com/sql/language-manual/sql-ref-syntax-ddl-create-sql-function
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException, PythonException

from lakeward.session import ensure_schema

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PY = "LANGUAGE PYTHON"
PANDAS = f"{PY} PARAMETER STYLE PANDAS"
CLEAN = r"""
  import re
  def clean(t):
    return re.sub(r'\d+', '#', t)
  return clean(s) if s else None
"""
QUOTES = """
  # don't stop here; nor here
  t = "it's"; u = '--'
  return f'{t}{u}{s}' + '''
 x'''
"""
SHOUT = """
MARK = '!'
def shout(t):
  return t + MARK
"""
TWICE = """
import pandas as pd
def twice(batches):
  for x in batches:
    yield x * 2
"""
ADDED = """
def added(batches):
  for x, y in batches:
    yield x + y
"""
NESTED = "(m MAP<STRING, DECIMAL(10, 2)>, a ARRAY<STRUCT<k: STRING, v: INT>>) RETURNS ARRAY<STRING>"
PACKAGES = """ENVIRONMENT (dependencies = '["simplejson"]', environment_version = 'None')"""
# Parameters and clauses in the orders in which people write them, the code, a call, and its value.
FUNCTIONS: dict[str, tuple[str, str, str, object]] = {
    "one line": (f"(x INT) RETURNS INT {PY}", " return x + 1 ", "f(1)", 2),
    "no parameter": (f"() RETURNS STRING {PY}", "return 'a'", "f()", "a"),
    "lines": (
        f"(a DOUBLE, b DOUBLE)\nRETURNS DOUBLE\n{PY}\n",
        "\n    if b == 0:\n        return None\n    return a / b\n",
        "f(3, 2)",
        1.5,
    ),
    "NULL": (f"(x INT) RETURNS STRING {PY}", "return str(x)", "f(NULL)", "None"),
    "helper and import": (f"(s STRING) RETURNS STRING {PY}", CLEAN, "f('a12b3')", "a#b#"),
    "quotes and semicolons": (f"(s STRING) RETURNS STRING {PY}", QUOTES, "f('!')", "it's--!\n x"),
    "default, by name": (
        f"(x INT, y INT DEFAULT 10 COMMENT 'added, (always)') RETURNS INT {PY}",
        "return x - y",
        "f(x => 1)",
        -9,
    ),
    "comment first": (f"(x INT) RETURNS INT COMMENT 'AS $' {PY}", "return x", "f(4)", 4),
    "not deterministic": (f"(x INT) RETURNS INT {PY} NOT DETERMINISTIC", "return x", "f(4)", 4),
    "nested types": (
        f"{NESTED} {PY}",
        "return [str(m['a'])] + [e['k'] * e['v'] for e in a]",
        "f(map('a', 1.5), array(struct('z', 2)))",
        ["1.50", "zz"],
    ),
    "handler": (f"(s STRING) RETURNS STRING {PY} HANDLER 'shout'", SHOUT, "f('a')", "a!"),
    "batches": (f"(x BIGINT) RETURNS BIGINT {PANDAS} HANDLER 'twice'", TWICE, "f(21)", 42),
    "batches of two": (
        f"(x BIGINT, y BIGINT) RETURNS BIGINT {PANDAS} HANDLER 'added'",
        ADDED,
        "f(21, 3)",
        24,
    ),
    "environment": (f"(x INT) RETURNS INT {PY} {PACKAGES}", "return x", "f(5)", 5),
}


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    ensure_schema(spark, "main", "python_functions")
    spark.sql("USE main.python_functions")
    yield "main.python_functions"
    spark.sql("USE main.default")
    spark.sql("DROP SCHEMA main.python_functions CASCADE")


@pytest.mark.usefixtures("schema")
def test_every_way_to_write_one_gives_the_value_of_its_code(spark: SparkSession) -> None:
    found = {}
    for name, (clauses, code, call, _) in FUNCTIONS.items():
        spark.sql(f"CREATE OR REPLACE FUNCTION f{clauses} AS $${code}$$")
        found[name] = spark.sql(f"SELECT {call} AS v").collect()[0]["v"]
    assert found == {name: value for name, (*_, value) in FUNCTIONS.items()}


def test_every_user_of_a_function_calls_it(spark: SparkSession, schema: str) -> None:
    spark.sql(
        f"CREATE FUNCTION {schema}.bmi(w DOUBLE, h DOUBLE) RETURNS DOUBLE {PY} AS $$ return w / h ** 2 $$"
    )
    spark.sql("CREATE TABLE people AS SELECT 80.0D AS w, 2.0D AS h")
    spark.sql("CREATE VIEW v AS SELECT bmi(w, h) AS b FROM people")
    spark.sql("CREATE FUNCTION is_heavy(w DOUBLE, h DOUBLE) RETURNS BOOLEAN RETURN bmi(w, h) > 19")
    users = {
        "function of SQL": "SELECT if(is_heavy(w, h), 20.0D, 0) FROM people",
        "short name": "SELECT bmi(w, h) FROM people",
        "long name": f"SELECT {schema}.bmi(w, h) FROM people",
        "filter": "SELECT 20.0D FROM people WHERE bmi(w, h) = 20",
        "aggregate": "SELECT max(bmi(w, h)) FROM people",
        "group": "SELECT bmi(w, h) FROM people GROUP BY bmi(w, h)",
        "view": "SELECT b FROM v",
        "literals": "SELECT bmi(80, 2)",
    }
    found = {user: spark.sql(query).collect()[0][0] for user, query in users.items()}
    assert found == dict.fromkeys(users, 20.0)
    assert spark.table("people").selectExpr("bmi(w, h) AS b").collect()[0]["b"] == 20.0
    spark.sql("INSERT INTO people SELECT bmi(w, h), 1 FROM people")
    assert spark.table("people").count() == 2


@pytest.mark.usefixtures("schema")
def test_it_is_listed_described_replaced_and_dropped(spark: SparkSession) -> None:
    spark.sql("CREATE FUNCTION g(x INT) RETURNS INT LANGUAGE PYTHON AS $$ return x $$")
    spark.sql("CREATE FUNCTION IF NOT EXISTS g(x INT) RETURNS INT LANGUAGE PYTHON AS $$ return 7 $$")
    with pytest.raises(AnalysisException, match="ROUTINE_ALREADY_EXISTS"):
        spark.sql("CREATE FUNCTION g(x INT) RETURNS INT LANGUAGE PYTHON AS $$ return 8 $$")
    assert spark.sql("SELECT g(1)").collect()[0][0] == 1
    columns = "routine_body, external_language, routine_definition"
    listed = f"SELECT {columns} FROM main.information_schema.routines WHERE routine_name = 'g'"
    assert [tuple(row) for row in spark.sql(listed).collect()] == [("EXTERNAL", "Python", " return x ")]
    spark.sql("DROP FUNCTION g")
    with pytest.raises(AnalysisException, match="UNRESOLVED_ROUTINE"):
        spark.sql("SELECT g(1)").collect()


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        (f"INT {PY} AS $$ return ( $$", "UDF_USER_CODE_ERROR"),
        (f"INT {PY} HANDLER 'g' AS $$ def h(x): return x $$", "UDF_USER_CODE_ERROR"),
        (f"TABLE (y INT) {PY} HANDLER 'H' AS $$ class H: pass $$", "UNSUPPORTED_SQL"),
        (f"NUMBERS {PY} AS $$ return x $$", "UNSUPPORTED_DATATYPE"),
        (f"INT {PY} AS 'return x'", "PARSE_SYNTAX_ERROR"),
    ],
)
@pytest.mark.usefixtures("schema")
def test_what_cannot_be_created_says_why(spark: SparkSession, text: str, condition: str) -> None:
    with pytest.raises(AnalysisException) as error:
        spark.sql(f"CREATE FUNCTION f(x INT) RETURNS {text}")
    assert error.value.getCondition() == condition
    assert not [row for row in spark.sql("SHOW USER FUNCTIONS").collect() if row[0].endswith(".f")]


@pytest.mark.usefixtures("schema")
def test_an_error_of_the_code_names_the_function_and_the_line(spark: SparkSession) -> None:
    spark.sql("CREATE FUNCTION f(x INT) RETURNS INT LANGUAGE PYTHON AS $$\n  y = 0\n  return x / y\n$$")
    with pytest.raises(PythonException, match=r'(?s)<function f>", line 3.*ZeroDivisionError'):
        spark.sql("SELECT f(1)").collect()
