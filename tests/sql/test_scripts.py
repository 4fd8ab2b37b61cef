"""Statements in SQL scripts that Spark lacks there: statements × places × ways to give a name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from lakeward.sql import CONSTRUCTS, Edits, apply_edits, rewrite
from lakeward.sql.constructs.configuration_parameters import SQL_PARAMETERS, WAREHOUSE_SESSION
from lakeward.sql.constructs.procedures import CallProcedures
from lakeward.sql.script import statements
from lakeward.sql.token_cursor import tokenize
from tests.lanes import sampled

S = "main.scripts"

EMULATED = [each for each in CONSTRUCTS if each.statement and not each.example.startswith("BEGIN")]

# Places of a statement; the parts around it are Spark's.
PLACES = {
    "block": "BEGIN {}; END",
    "label": "outer: BEGIN {}; END outer",
    "after a declaration": "BEGIN DECLARE a, b INT DEFAULT 1; DECLARE OR REPLACE c STRING; {}; SELECT a; END",
    "between statements": "BEGIN SELECT CASE WHEN 1 > 2 THEN 3 ELSE 4 END; {}; SET VAR x = 1; END",
    "branch": "BEGIN IF (SELECT 1) > 0 THEN {}; ELSE {}; END IF; END",
    "second branch": "BEGIN IF a THEN SELECT 1; ELSEIF CASE WHEN true THEN true END THEN {}; END IF; END",
    "case": "BEGIN CASE WHEN true THEN {}; ELSE SELECT 2; {}; END CASE; END",
    "case of a value": "BEGIN CASE 1 WHEN 1 THEN {}; END CASE; END",
    "while": "BEGIN l: WHILE false DO {}; END WHILE l; END",
    "for": "BEGIN FOR r AS SELECT 1 DO {}; END FOR; END",
    "repeat": "BEGIN REPEAT {}; UNTIL true END REPEAT; {}; END",
    "loop": "BEGIN l: LOOP {}; LEAVE l; END LOOP; END",
    "nested": "BEGIN BEGIN {}; END; BEGIN NOT ATOMIC {}; END; END",
    "handler": "BEGIN DECLARE EXIT HANDLER FOR SQLSTATE '22012', NOT FOUND, DIVIDE_BY_ZERO {}; SELECT 1; END",
    "block of a handler": "BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN {}; END; SELECT 1; END",
}


@pytest.mark.parametrize("place", PLACES)
def test_each_statement_of_a_script_is_found(place: str) -> None:
    script = PLACES[place].format(*["OPTIMIZE t WHERE a = (SELECT CASE WHEN 1 THEN 2 END)"] * 3)
    tokens = tokenize(script)
    assert tokens is not None
    found = [script[each[0].start : each[-1].end] for each in statements(tokens)]
    kept = ("SELECT", "SET", "LEAVE")
    assert [each for each in found if not each.startswith(kept)] == [
        "OPTIMIZE t WHERE a = (SELECT CASE WHEN 1 THEN 2 END)"
    ] * PLACES[place].count("{}")


@pytest.mark.parametrize("construct", EMULATED, ids=lambda each: each.name)
def test_a_statement_that_runs_here_is_executed_by_its_text(construct: Any) -> None:
    example = construct.example
    alone = rewrite(example)
    script = rewrite(f"BEGIN IF true THEN {example}; END IF; END")
    if example.startswith("CALL"):
        # The body takes its place when the script runs.
        assert isinstance(script, CallProcedures) and script.text.startswith("BEGIN IF true")
        return
    assert isinstance(script, Edits)
    text = apply_edits(f"BEGIN IF true THEN {example}; END IF; END", script.edits)
    if isinstance(alone, Edits):
        assert text == f"BEGIN IF true THEN {apply_edits(example, alone.edits)}; END IF; END"
    else:
        assert text.startswith("BEGIN IF true THEN EXECUTE IMMEDIATE '") and text.endswith("'; END IF; END")


def test_statements_of_spark_stay() -> None:
    for place in PLACES.values():
        assert rewrite(place.format(*["INSERT INTO t SELECT optimize, vacuum FROM restore"] * 3)) is None
    assert rewrite("BEGIN SELECT 1; END") is None


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """The session, with a table of two versions."""
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {S}")
    spark.sql(f"CREATE OR REPLACE TABLE {S}.t AS SELECT 1 AS id")
    spark.sql(f"INSERT INTO {S}.t VALUES (2)")
    yield spark
    spark.sql(f"DROP SCHEMA {S} CASCADE")


# A statement with the name of the table, and a query that gives 1 after it.
EFFECTS = {
    "OPTIMIZE {t}": "DESCRIBE HISTORY main.scripts.t LIMIT 1",
    "RESTORE TABLE {t} TO VERSION AS OF 0": "SELECT count(*) FROM main.scripts.t",
    "ALTER TABLE {t} ADD CONSTRAINT positive CHECK (id > 0)": (
        "SHOW TBLPROPERTIES main.scripts.t ('delta.constraints.positive')"
    ),
    "ALTER TABLE {t} SET TAGS ('it''s' = 'b')": (
        "SELECT count(*) FROM main.information_schema.table_tags "
        "WHERE schema_name = 'scripts' AND table_name = 't' AND tag_name = 'it''s'"
    ),
    "CREATE TABLE main.scripts.u DEEP CLONE {t}": "SELECT count(*) - 1 FROM main.scripts.u",
    "CREATE TABLE main.scripts.u SHALLOW CLONE {t}": "SELECT count(*) - 1 FROM main.scripts.u",
    "GRANT SELECT ON TABLE {t} TO `a b`": (
        "SELECT count(*) FROM main.information_schema.table_privileges "
        "WHERE table_schema = 'scripts' AND table_name = 't' AND grantee = 'a b'"
    ),
    "INSERT INTO {t} REPLACE USING (id) SELECT 3 AS id": "SELECT count(*) - 2 FROM main.scripts.t",
}
NAMES = {
    "a name": f"{S}.t",
    "a literal": f"IDENTIFIER('{S}.t')",
    "a variable of the script": "IDENTIFIER(schema || '.t')",
    "a parameter": "IDENTIFIER(:t)",
    "a parameter in an expression": f"IDENTIFIER(concat('{S}.', :last))",
}


FIRST, VARIABLE = next(iter(EFFECTS)), "a variable of the script"


@pytest.mark.parametrize(
    ("statement", "name"),
    sampled(
        product(EFFECTS, NAMES),
        *((each, VARIABLE) for each in [*EFFECTS][::2]),
        *((FIRST, each) for each in NAMES),
    ),
)
def test_a_statement_has_its_effect(session: SparkSession, statement: str, name: str) -> None:
    values = {key: value for key, value in {"t": f"{S}.t", "last": "t"}.items() if f":{key}" in NAMES[name]}
    text = statement.format(t=NAMES[name])
    session.sql(f"BEGIN DECLARE schema STRING DEFAULT '{S}'; IF true THEN {text}; END IF; END", args=values)
    row = session.sql(EFFECTS[statement]).first()
    assert row is not None
    if len(row) > 1:
        assert row.asDict().get("operation") == "OPTIMIZE" or row["value"] == "id > 0"
    else:
        assert row[0] == 1


# Statements with one value, and the values.
VALUES = {
    "SELECT id FROM main.scripts.t WHERE id = {}": "2",
    "DESCRIBE HISTORY IDENTIFIER({})": f"'{S}.t'",
    "OPTIMIZE IDENTIFIER({})": f"'{S}.t'",
    "VACUUM main.scripts.t RETAIN {} HOURS DRY RUN": "200",
    "SHOW GRANTS ON TABLE IDENTIFIER({})": f"'{S}.t'",
    "ALTER TABLE main.scripts.t SET TAGS ('a' = {})": "'it''s'",
}
USING = {
    "named": (":x", "{} AS x"),
    "positional": ("?", "{}"),
    "a variable": ("?", "scripts_value"),
    "a variable with a name": (":x", "scripts_value AS x"),
}


@pytest.mark.parametrize(
    ("statement", "using"),
    sampled(product(VALUES, USING), *product([*VALUES][1:2], USING)),
)
def test_execute_immediate_fills_parameters(session: SparkSession, statement: str, using: str) -> None:
    marker, clause = USING[using]
    value = VALUES[statement]
    kind = "STRING" if value.startswith("'") else "INT"
    session.sql(f"DECLARE OR REPLACE VARIABLE scripts_value {kind} DEFAULT {value}")
    text = statement.format(marker).replace("'", "\\'")
    found = session.sql(f"EXECUTE IMMEDIATE '{text}' USING {clause.format(value)}")
    assert found.columns == session.sql(statement.format(value)).columns
    session.sql(
        f"BEGIN DECLARE local {kind} DEFAULT {value}; EXECUTE IMMEDIATE '{text}' USING local AS x; END"
    )


@pytest.mark.parametrize("statement", VALUES)
def test_statements_with_parameters(session: SparkSession, statement: str) -> None:
    value = VALUES[statement]
    given = value[1:-1].replace("''", "'") if value.startswith("'") else int(value)
    expected = session.sql(statement.format(value)).columns
    assert session.sql(statement.format(":x"), args={"x": given}).columns == expected
    assert session.sql(statement.format("?"), args=[given]).columns == expected


def test_an_error_in_a_script_can_be_handled(session: SparkSession) -> None:
    for statement in (
        "VACUUM main.scripts.t RETAIN 0 HOURS",
        "OPTIMIZE main.scripts.none",
        "GRANT SELECT ON TABLE main.scripts.none TO `a`",
    ):
        script = f"BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT 'handled' AS h; {statement}; END"
        assert session.sql(script).collect() == [("handled",)]
        with pytest.raises(PySparkException) as raised:
            session.sql(f"BEGIN {statement}; END")
        with pytest.raises(PySparkException) as alone:
            session.sql(statement)
        assert raised.value.getCondition() == alone.value.getCondition()


@pytest.mark.parametrize("name", [*SQL_PARAMETERS, "plain"])
@pytest.mark.parametrize(
    "script",
    [
        "BEGIN DECLARE {n} STRING; SET {n} = 'a'; SELECT {n}; END",
        "BEGIN DECLARE VARIABLE {n} STRING; SET {n} = 'a'; SELECT {n}; END",
        "BEGIN DECLARE other, {n} STRING; SET {n} = 'a'; SELECT {n}; END",
        "BEGIN DECLARE `{n}` STRING; IF true THEN SET `{n}` = 'a'; END IF; SELECT {n}; END",
        "BEGIN DECLARE {n} STRING; lbl: BEGIN SET {n} = 'a'; END; SELECT {n}; END",
        "BEGIN DECLARE {n} STRING; FOR r AS SELECT 'a' AS c DO SET {n} = r.c; END FOR; SELECT {n}; END",
    ],
)
@pytest.mark.parametrize("of_a_warehouse", [True, False])
def test_a_variable_with_the_name_of_a_parameter_is_assigned(
    spark: SparkSession, script: str, name: str, of_a_warehouse: bool
) -> None:
    spark.conf.set(WAREHOUSE_SESSION, str(of_a_warehouse).lower())
    before = {key: spark.conf.get(key) for key in SQL_PARAMETERS.values()}
    try:
        assert spark.sql(script.format(n=name)).collect()[0][0] == "a"
        assert {key: spark.conf.get(key) for key in SQL_PARAMETERS.values()} == before
    finally:
        spark.conf.unset(WAREHOUSE_SESSION)


@pytest.mark.parametrize(
    ("zone", "expected"),
    [("'America/Los_Angeles'", "America/Los_Angeles"), ("INTERVAL '08:30' HOUR TO MINUTE", "+08:30")],
)
@pytest.mark.parametrize(
    "script",
    [
        "BEGIN SET TIME ZONE {z}; SELECT current_timezone(); END",
        "BEGIN IF true THEN set time zone {z}; END IF; SELECT current_timezone(); END",
        "BEGIN DECLARE x INT DEFAULT 1; BEGIN SET TIME ZONE {z}; END; SELECT current_timezone(); END",
    ],
)
def test_a_script_sets_the_time_zone(spark: SparkSession, script: str, zone: str, expected: str) -> None:
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        assert spark.sql(script.format(z=zone)).collect()[0][0] == expected
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


_NUMBERED = {
    "declared": "CREATE TABLE numbered (a INTERVAL)",
    "renamed": "CREATE TABLE numbered (id INT) PARTITIONED BY (nope)",
}


@pytest.mark.parametrize("statement", _NUMBERED)
def test_an_error_with_a_number_is_the_same_in_a_script_and_can_be_handled(
    spark: SparkSession, statement: str
) -> None:
    """Spark looks for a handler by the SQLSTATE, which errors without a name lack."""
    texts = []
    for text in (_NUMBERED[statement], f"BEGIN {_NUMBERED[statement]}; END"):
        with pytest.raises(AnalysisException) as caught:
            spark.sql(text)
        texts.append((caught.value.getCondition(), str(caught.value).partition("\n")[0]))
    assert texts[0] == texts[1]
    assert "42000" not in texts[0][1]
    handled = f"BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT 1 AS a; {_NUMBERED[statement]}; END"
    assert spark.sql(handled).collect() == [(1,)]
