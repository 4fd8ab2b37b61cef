"""Stored procedures: definition, arguments, results and calls within scripts.

The example is that of the platform's page about CALL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, ParseException

from lakeward.session import Settings, session
from lakeward.sql.token_cursor import split

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = "main.procedures"
AREA = """CREATE OR REPLACE PROCEDURE area
(IN x INT, y INT DEFAULT 10 COMMENT 'height', OUT result INT, INOUT total INT)
LANGUAGE SQL SQL SECURITY INVOKER AS
BEGIN
  SET result = x * y;
  SET total = total + result;
  SELECT 'area: ' || result;
END"""
LOG = """CREATE PROCEDURE write_log(n INT DEFAULT 2, kind STRING DEFAULT 'none')
COMMENT 'rows' MODIFIES SQL DATA AS
BEGIN
  DECLARE i INT DEFAULT 0;
  WHILE i < n DO
    INSERT INTO log VALUES (i, kind);
    SET i = i + 1;
  END WHILE;
  OPTIMIZE log;
  SELECT count(*) AS n FROM log WHERE log.kind = write_log.kind;
END"""


@pytest.fixture(scope="module", autouse=True)
def schema(suite_settings: Settings) -> Iterator[None]:
    spark = session(suite_settings)
    spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    spark.sql(f"CREATE SCHEMA {SCHEMA}")
    spark.sql(f"USE {SCHEMA}")
    spark.sql("CREATE TABLE log (n INT, kind STRING)")
    spark.sql(AREA)
    spark.sql(LOG)
    yield
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA {SCHEMA} CASCADE")


@pytest.fixture
def sql(spark: SparkSession) -> Iterator[Any]:
    """Return what runs a statement in the schema and returns its rows."""
    spark.sql(f"USE {SCHEMA}")
    yield lambda text, **arguments: [tuple(row) for row in spark.sql(text, **arguments).collect()]
    spark.sql("USE main.default")


@pytest.fixture
def variables(sql: Any) -> Iterator[None]:
    """Session variables `result` and `total`; the latter is 100."""
    sql("DECLARE OR REPLACE VARIABLE result INT")
    sql("DECLARE OR REPLACE VARIABLE total INT DEFAULT 100")
    yield
    sql("DROP TEMPORARY VARIABLE result")
    sql("DROP TEMPORARY VARIABLE total")


@pytest.mark.parametrize(
    "call",
    [
        "CALL area(2, 3, result, total)",
        "call procedures.area(2, 3, session.result, system.session.total);",
        "CALL main.procedures.AREA(y => 3, X => 2, total => total, result => result)",
        "CALL area(1 + 1, y => (SELECT max(id) FROM range(4)), total => total, result => result)",
        "CALL area(:x, y => :x + 1, result => result, total => total)",
        "EXECUTE IMMEDIATE 'CALL area(2, 3, result, total)'",
        "BEGIN CALL area(2, 3, result, total); END",
        "BEGIN DECLARE x INT DEFAULT 3; DECLARE y INT DEFAULT 2; CALL area(y, x, result, total); END",
        "BEGIN IF true THEN CALL area(2, 3, result, total); END IF; END",
    ],
)
def test_results_are_assigned_to_variables(sql: Any, variables: None, call: str) -> None:
    given = {"args": {"x": 2}} if ":x" in call else {}
    assert sql(call, **given) == [("area: 6",)]
    assert sql("SELECT result, total") == [(6, 106)]


def test_defaults_and_statements_of_delta(sql: Any) -> None:
    assert sql("CALL write_log()") == [(2,)]
    assert sql("CALL write_log(1)") == [(3,)]
    assert sql("CALL write_log(kind => 'named', n => 1)") == [(1,)]
    assert sql("CALL write_log(DEFAULT, 'b')") == [(2,)]
    assert "OPTIMIZE" in [row[0] for row in sql("SELECT operation FROM (DESCRIBE HISTORY log)")]


def test_procedures_call_others_and_themselves(sql: Any) -> None:
    """Variables of the caller, and arguments with the names of other parameters, keep their values."""
    sql(
        "CREATE PROCEDURE twice(OUT sum INT) AS BEGIN DECLARE y INT DEFAULT 4; DECLARE x INT DEFAULT 1; "
        "CALL area(y, x, y, x); SET sum = y * 100 + x; END"
    )
    assert sql("BEGIN DECLARE s INT; CALL twice(s); SELECT s; END") == [(405,)]
    sql(
        "CREATE PROCEDURE down(n INT) AS BEGIN INSERT INTO log VALUES (n, 'down'); "
        "IF n > 1 THEN CALL down(n - 1); END IF; END"
    )
    sql("CALL down(3)")
    assert sql("SELECT n FROM log WHERE kind = 'down' ORDER BY n") == [(1,), (2,), (3,)]


def test_a_failure_leaves_the_variables_as_they_were(sql: Any, variables: None) -> None:
    """The condition reaches the caller, whose handlers see it."""
    sql("CREATE PROCEDURE fails(OUT o INT, x STRING) AS BEGIN SET o = 5; SET o = CAST(x AS INT); END")
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        sql("CALL fails(result, 'x')")
    handled = "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SELECT 'handled'; END;"
    assert sql(f"BEGIN {handled} CALL fails(result, 'x'); END") == [("handled",)]
    assert sql("SELECT result, total") == [(None, 100)]


def test_types_labels_and_names_qualified_by_the_procedure(sql: Any) -> None:
    sql(
        "CREATE PROCEDURE typed(d DATE, a ARRAY<STRING>, s STRUCT<x: INT, y: MAP<STRING,INT>>, m DECIMAL)"
        " AS done: BEGIN IF m > 1 THEN SELECT d, typed.a, s.y['k']; LEAVE done; END IF; SELECT 'end'; END"
    )
    call = "CALL typed(DATE'2026-01-02', array('a,b', 'c'), named_struct('x', 1, 'y', map('k', 7)), {})"
    [(day, texts, value)] = sql(call.format("1.5"))
    assert (str(day), list(texts), value) == ("2026-01-02", ["a,b", "c"], 7)
    assert sql(call.format("0")) == [("end",)]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("CALL nothing()", "ROUTINE_NOT_FOUND"),
        ("DROP PROCEDURE nothing", "ROUTINE_NOT_FOUND"),
        ("DESCRIBE PROCEDURE nothing", "ROUTINE_NOT_FOUND"),
        ("BEGIN CALL nothing(); END", "ROUTINE_NOT_FOUND"),
        ("GRANT EXECUTE ON PROCEDURE nothing TO users", "ROUTINE_NOT_FOUND"),
        ("CALL area()", "REQUIRED_PARAMETER_NOT_FOUND"),
        ("CALL area(1, 2, 3, 4, 5)", "WRONG_NUM_ARGS.WITHOUT_SUGGESTION"),
        ("CALL area(1, z => 3)", "UNRECOGNIZED_PARAMETER_NAME"),
        ("CALL area(x => 3, 4)", "UNEXPECTED_POSITIONAL_ARGUMENT"),
        ("CALL area(1, x => 3)", "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.BOTH_POSITIONAL_AND_NAMED"),
        (
            "CALL area(x => 1, x => 3)",
            "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.DOUBLE_NAMED_ARGUMENT_REFERENCE",
        ),
        ("CALL area(1, 2, 3, 4)", "UNSUPPORTED_SQL"),
        ("CREATE PROCEDURE area() AS BEGIN SELECT 1; END", "ROUTINE_ALREADY_EXISTS"),
        ("CREATE OR REPLACE PROCEDURE plus(x INT) AS BEGIN SELECT 1; END", "ROUTINE_ALREADY_EXISTS"),
        ("CREATE PROCEDURE p(a INT, A INT) AS BEGIN SELECT 1; END", "DUPLICATE_ROUTINE_PARAMETER_NAMES"),
        ("CREATE PROCEDURE none.p() AS BEGIN SELECT 1; END", "SCHEMA_NOT_FOUND"),
        ("CREATE PROCEDURE p() AS BEGIN SELEC 1; END", "PARSE_SYNTAX_ERROR"),
        ("CREATE PROCEDURE p() AS SELECT 1", "PARSE_SYNTAX_ERROR"),
        (
            "CREATE OR REPLACE PROCEDURE IF NOT EXISTS p() AS BEGIN SELECT 1; END",
            "INVALID_SQL_SYNTAX.CREATE_ROUTINE_WITH_IF_NOT_EXISTS_AND_REPLACE",
        ),
    ],
)
def test_what_does_not_fit_has_the_condition_of_the_platform(sql: Any, text: str, condition: str) -> None:
    sql("CREATE OR REPLACE FUNCTION plus(x INT) RETURNS INT RETURN x + 1")
    with pytest.raises((AnalysisException, ParseException)) as raised:
        sql(text)
    assert raised.value.getCondition() == condition


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("CREATE PROCEDURE p() SQL SECURITY INVOKER BEGIN SELECT 1; END", "'BEGIN'"),
        ("CREATE OR REPLACE PROCEDURE p() BEGIN SELECT 1; END", "'BEGIN'"),
        ("CREATE PROCEDURE p() AS SELECT 1", "'SELECT'"),
        ("CREATE PROCEDURE p(x INT) DETERMINISTIC AS BEGIN SELECT 1; END", "'DETERMINISTIC'"),
        ("CREATE PROCEDURE p() LANGUAGE SQL", "end of input"),
    ],
)
def test_a_syntax_error_names_the_word_that_does_not_fit(sql: Any, text: str, near: str) -> None:
    with pytest.raises(ParseException) as caught:
        sql(text)
    assert caught.value.getCondition() == "PARSE_SYNTAX_ERROR"
    assert f"at or near {near}" in str(caught.value)


def test_procedures_are_described_listed_and_dropped(sql: Any) -> None:
    lines = [row[0] for row in sql("DESCRIBE PROCEDURE EXTENDED area")]
    assert lines[:5] == [
        "Procedure:     main.procedures.area",
        "Parameters:    IN x INT",
        "               IN y INT 'height'",
        "               OUT result INT",
        "               INOUT total INT",
    ]
    assert lines[-1].startswith("Body:          BEGIN\n")
    assert sql("DESC PROCEDURE write_log")[1] == ("Parameters:    IN n INT",)
    sql("CREATE PROCEDURE IF NOT EXISTS area() AS BEGIN SELECT 'new'; END")
    assert sql("SHOW PROCEDURES LIKE 'ar*'") == [("main", ["procedures"], "procedures", "area")]
    assert ("main", ["procedures"], "procedures", "write_log") in sql(f"SHOW PROCEDURES IN {SCHEMA}")
    where = "specific_schema = 'procedures' AND specific_name = 'area'"
    assert sql(f"SELECT routine_type, security_type FROM main.information_schema.routines WHERE {where}") == [
        ("PROCEDURE", "INVOKER")
    ]
    parameters = (
        "SELECT parameter_name, parameter_mode, parameter_default FROM main.information_schema.parameters"
    )
    assert sql(f"{parameters} WHERE {where} ORDER BY ordinal_position") == [
        ("x", "IN", None),
        ("y", "IN", "10"),
        ("result", "OUT", "NULL"),
        ("total", "INOUT", None),
    ]
    sql("GRANT EXECUTE ON PROCEDURE area TO users")
    assert sql("SHOW GRANTS ON PROCEDURE area")[0][:2] == ("users", "EXECUTE")
    sql("CREATE PROCEDURE dropped() AS BEGIN SELECT 1; END")
    sql("GRANT EXECUTE ON PROCEDURE dropped TO users")
    sql("CREATE OR REPLACE PROCEDURE dropped() AS BEGIN SELECT 2; END")
    assert sql("SHOW GRANTS ON PROCEDURE dropped") and sql("CALL dropped()") == [(2,)]
    sql("DROP PROCEDURE dropped")
    sql("CREATE PROCEDURE dropped() AS BEGIN SELECT 1; END")
    assert sql("SHOW GRANTS ON PROCEDURE dropped") == []
    sql("DROP PROCEDURE dropped")
    sql("DROP PROCEDURE IF EXISTS dropped")
    assert sql("SHOW PROCEDURES LIKE 'dropped'") == []
    sql("CREATE SCHEMA main.procedures_only")
    sql("CREATE PROCEDURE main.procedures_only.p() AS BEGIN SELECT 1; END")
    with pytest.raises(AnalysisException, match="SCHEMA_NOT_EMPTY"):
        sql("DROP SCHEMA main.procedures_only")
    sql("DROP SCHEMA main.procedures_only CASCADE")
    sql("CREATE SCHEMA main.procedures_only")
    assert sql("SHOW PROCEDURES IN main.procedures_only") == []
    sql("DROP SCHEMA main.procedures_only")


def test_procedures_are_created_in_scripts(sql: Any) -> None:
    body = "BEGIN CASE x WHEN 1 THEN SELECT CASE WHEN true THEN 'one' END; END CASE; END"
    sql(f"BEGIN IF true THEN CREATE PROCEDURE made(x INT) AS {body}; END IF; SELECT 2; END")
    assert sql("CALL made(1)") == [("one",)]


def test_a_body_is_one_statement_of_a_file() -> None:
    text = f"DECLARE x INT; {AREA}; CREATE VIEW v AS SELECT 1; {LOG};"
    assert split(text) == ["DECLARE x INT", AREA, "CREATE VIEW v AS SELECT 1", LOG]
