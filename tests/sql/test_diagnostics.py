"""GET DIAGNOSTICS and RESIGNAL: statements that fail × handlers × ways to handle.

Source: https://docs.databricks.com/aws/en/sql/language-manual/control-flow/get-diagnostics-stmt
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lakeward.session import Settings, session
from lakeward.spark_internals import scala_context
from lakeward.sql import Edits, apply_edits, rewrite
from lakeward.sql.script import handlers
from lakeward.sql.token_cursor import tokenize

S = "main.diagnostics"

# A block whose declarations a statement may use, so that its error is the same with a handler and without.
DECLARED = "DECLARE x INT; DECLARE too_many CONDITION FOR SQLSTATE '45001';"

FAILING = {
    "query": "SELECT 1 / 0",
    "missing table": f"SELECT * FROM {S}.missing",
    "assignment": "SET x = CAST('a' AS INT)",
    "condition": "IF 1 / 0 > 1 THEN SELECT 1; END IF",
    "case": "CASE WHEN CAST('a' AS INT) > 1 THEN SELECT 1; ELSE SELECT 2; END CASE",
    "while": "WHILE 1 / 0 > 1 DO SELECT 1; END WHILE",
    "for": "FOR r AS SELECT CAST('a' AS INT) AS a DO SELECT r.a; END FOR",
    "inner block": "BEGIN DECLARE y INT DEFAULT 1; SELECT y / 0; END",
    "insert": f"INSERT INTO {S}.t SELECT CAST('a' AS INT)",
    "constraint": f"INSERT INTO {S}.t VALUES (-1)",
    "merge": f"MERGE INTO {S}.t USING {S}.twice s ON t.a = s.a WHEN MATCHED THEN UPDATE SET a = s.a + 1",
    "update": f"UPDATE {S}.t SET a = 1 / 0",
    "statement of Delta": f"OPTIMIZE {S}.missing",
    "statement that runs here": f"DESCRIBE VOLUME {S}.missing",
    "create": f"CREATE TABLE {S}.t (a INT)",
    "text that is no statement": "EXECUTE IMMEDIATE 'SELEC 1'",
    "text that fails": "EXECUTE IMMEDIATE 'SELECT 1 / 0'",
    "signal of a state": "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'too [late]'",
    "signal of a condition": "SIGNAL too_many SET MESSAGE_TEXT = 'more than 4'",
    "signal of Spark's": "SIGNAL DIVIDE_BY_ZERO SET MESSAGE_ARGUMENTS = map('config', 'c')",
    "raise_error": "SELECT raise_error('mine')",
    "cursor": "BEGIN DECLARE c CURSOR FOR SELECT 1; FETCH c INTO x; END",
}

HANDLERS = {
    "exit": "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN {}; END;",
    "continue": "DECLARE CONTINUE HANDLER FOR SQLEXCEPTION\nBEGIN NOT ATOMIC\n DECLARE z INT;\n {}; END;",
    "with another": "DECLARE EXIT HANDLER FOR NOT FOUND SET x = 1; "
    "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN DECLARE EXIT HANDLER FOR NOT FOUND SET x = 2; {}; END;",
    "after another error": "DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN "
    "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN END; SELECT CAST('b' AS DATE); END; {}; END;",
}
GET = (
    "GET DIAGNOSTICS CONDITION 1\n session.d_condition = CONDITION_IDENTIFIER, d_state = RETURNED_SQLSTATE,\n"
    " `d_text` = MESSAGE_TEXT, d_arguments = MESSAGE_ARGUMENTS"
)


uses_objects = pytest.mark.usefixtures("objects")


@pytest.fixture(scope="module")
def objects(suite_settings: Settings) -> Iterator[None]:
    """A table with a constraint, and variables of the session for the parts of an error."""
    spark = session(suite_settings)
    spark.sql(f"CREATE SCHEMA IF NOT EXISTS {S}")
    spark.sql(f"CREATE TABLE {S}.t (a INT)")
    spark.sql(f"ALTER TABLE {S}.t ADD CONSTRAINT positive CHECK (a > 0)")
    spark.sql(f"INSERT INTO {S}.t VALUES (1)")
    spark.sql(f"CREATE TABLE {S}.twice AS SELECT * FROM VALUES (1), (1) AS rows(a)")
    types = {
        "d_condition": "STRING",
        "d_state": "STRING",
        "d_text": "STRING",
        "d_arguments": "MAP<STRING, STRING>",
        "d_line": "BIGINT",
    }
    for name, kind in types.items():
        spark.sql(f"DECLARE OR REPLACE VARIABLE {name} {kind}")
    yield
    for name in types:
        spark.sql(f"DROP TEMPORARY VARIABLE {name}")
    spark.sql(f"DROP SCHEMA {S} CASCADE")


def error_of(spark: SparkSession, script: str) -> PySparkException:
    """The error that a script ends with."""
    with pytest.raises(PySparkException) as failed:
        spark.sql(script).collect()
    return failed.value


@pytest.mark.parametrize(("name", "handler"), list(zip(FAILING, cycle(HANDLERS), strict=False)))
@uses_objects
def test_a_handler_gets_the_error_that_the_statement_has_without_it(
    spark: SparkSession, name: str, handler: str
) -> None:
    statement = FAILING[name]
    expected = error_of(spark, f"BEGIN {DECLARED} {statement}; END")
    rest = HANDLERS[handler].format(GET)
    spark.sql(f"BEGIN {DECLARED} {rest} {statement}; END").collect()
    (found,) = spark.sql("SELECT d_condition, d_state, d_text, d_arguments").collect()
    assert (found["d_condition"], found["d_state"]) == (expected.getCondition(), expected.getSqlState())
    parameters = dict(expected.getMessageParameters() or {})
    assert found["d_arguments"] == (
        {"MESSAGE_TEXT": "more than 4"} if name == "signal of a condition" else parameters
    )
    assert found["d_text"] in str(expected) and found["d_text"][:1] not in ("[", "\n", "")
    assert "SQLSTATE" not in found["d_text"]


@pytest.mark.parametrize(("name", "handler"), list(zip(FAILING, cycle(HANDLERS), strict=False)))
@uses_objects
def test_resignal_raises_the_error_again_after_the_handler(
    spark: SparkSession, name: str, handler: str
) -> None:
    statement = FAILING[name]
    expected = error_of(spark, f"BEGIN {DECLARED} {statement}; END")
    spark.sql(f"CREATE OR REPLACE TABLE {S}.log (line STRING)")
    rest = HANDLERS[handler].format(f"INSERT INTO {S}.log VALUES ('handled'); RESIGNAL")
    found = error_of(spark, f"BEGIN {DECLARED} {rest} {statement}; END")
    assert (found.getCondition(), found.getSqlState()) == (expected.getCondition(), expected.getSqlState())
    first, of_statement = (str(each).lstrip().split(" SQLSTATE")[0] for each in (found, expected))
    assert first == of_statement
    assert [row["line"] for row in spark.table(f"{S}.log").collect()] == ["handled"]


@pytest.mark.parametrize(
    "form", ["DECLARE EXIT HANDLER FOR SQLEXCEPTION RESIGNAL;", HANDLERS["exit"].format("RESIGNAL")]
)
@uses_objects
def test_an_outer_handler_handles_what_an_inner_one_raises_again(spark: SparkSession, form: str) -> None:
    outer = HANDLERS["exit"].format(f"{GET}; SELECT d_condition")
    script = f"BEGIN {outer} BEGIN {form} SELECT 1 / 0; END; END"
    assert spark.sql(script).collect()[0][0] == "DIVIDE_BY_ZERO"


@uses_objects
def test_the_line_is_that_of_the_statement(spark: SparkSession) -> None:
    get = "GET DIAGNOSTICS\n CONDITION 1\n d_line =\n LINE_NUMBER"
    script = f"BEGIN\n{HANDLERS['exit'].format(get)}\nSELECT 1;\nSELECT\n 1 / 0;\nEND"
    spark.sql(script).collect()
    line = 1 + next(at for at, text in enumerate(script.splitlines()) if "1 / 0" in text)
    assert spark.sql("SELECT d_line").collect()[0][0] == line
    # A text of its own has no line of the script.
    spark.sql(f"BEGIN {HANDLERS['exit'].format(get)} EXECUTE IMMEDIATE 'SELECT 1 / 0'; END").collect()
    assert spark.sql("SELECT d_line").collect()[0][0] is None


@uses_objects
def test_an_error_of_the_script_itself_is_not_taken_for_an_earlier_one(spark: SparkSession) -> None:
    """Spark raises INVALID_BOOLEAN_STATEMENT without a statement that fails."""
    first = "DECLARE CONTINUE HANDLER FOR DIVIDE_BY_ZERO BEGIN END;"
    script = f"BEGIN {first} {HANDLERS['exit'].format(GET)} SELECT 1 / 0; IF 'a' THEN SELECT 1; END IF; END"
    assert error_of(spark, script).getCondition() == "UNSUPPORTED_SQL"


@uses_objects
def test_errors_of_procedures_are_known_to_their_handlers_and_to_those_of_the_caller(
    spark: SparkSession,
) -> None:
    handler = HANDLERS["exit"].format(f"INSERT INTO {S}.log VALUES ('in the procedure'); RESIGNAL")
    spark.sql(f"CREATE OR REPLACE TABLE {S}.log (line STRING)")
    spark.sql(
        f"CREATE OR REPLACE PROCEDURE {S}.divide(n INT) LANGUAGE SQL SQL SECURITY INVOKER "
        f"AS BEGIN {handler} SELECT 1 / n; END"
    )
    assert error_of(spark, f"CALL {S}.divide(0)").getCondition() == "DIVIDE_BY_ZERO"
    spark.sql(f"BEGIN {HANDLERS['exit'].format(GET)} CALL {S}.divide(0); END").collect()
    assert spark.sql("SELECT d_condition").collect()[0][0] == "DIVIDE_BY_ZERO"
    assert spark.table(f"{S}.log").count() == 2


@pytest.mark.parametrize(
    "script",
    [
        "BEGIN RESIGNAL; END",
        "BEGIN DECLARE m STRING; GET DIAGNOSTICS CONDITION 1 m = MESSAGE_TEXT; END",
        f"BEGIN {HANDLERS['exit'].format('GET DIAGNOSTICS CONDITION 1 d_text = TEXT')} SELECT 1; END",
        f"BEGIN {HANDLERS['exit'].format('RESIGNAL m')} SELECT 1; END",
    ],
)
@uses_objects
def test_other_forms_and_places_are_syntax_errors(spark: SparkSession, script: str) -> None:
    assert error_of(spark, script).getCondition() == "PARSE_SYNTAX_ERROR"


@pytest.mark.parametrize("kind", ["EXIT", "CONTINUE"])
@pytest.mark.parametrize("trigger", ["SQLEXCEPTION", "SQLSTATE VALUE '22012', NOT FOUND", "a.b", "`x y`"])
@pytest.mark.parametrize(
    "body",
    ["SELECT 1", "BEGIN SELECT CASE WHEN a THEN 1 END; IF b THEN SELECT 2; END IF; END", "l: BEGIN END"],
)
def test_the_statement_of_a_handler_is_found(kind: str, trigger: str, body: str) -> None:
    script = f"BEGIN DECLARE {kind} HANDLER FOR {trigger} {body}; SELECT 3; END"
    tokens = tokenize(script)
    assert tokens is not None
    ((begin, end),) = handlers(tokens)
    assert script[tokens[begin].start : tokens[end - 1].end] == body.removeprefix("l: ")


@uses_objects
@pytest.mark.parametrize(("text", "args"), [("1 / 0", None), ("1 / :n", {"n": 0})], ids=["plain", "by name"])
@pytest.mark.parametrize("clones", [False, True])
def test_scripts_with_parameters_and_cloned_sessions_know_their_errors(
    spark: SparkSession, text: str, args: dict[str, int] | None, clones: bool
) -> None:
    own = spark.newSession() if clones else spark
    handler = HANDLERS["exit"].format(
        "DECLARE c STRING; GET DIAGNOSTICS CONDITION 1 c = CONDITION_IDENTIFIER; SELECT c"
    )
    assert own.sql(f"BEGIN {handler} SELECT {text}; END", args=args).collect() == [("DIVIDE_BY_ZERO",)]


@uses_objects
def test_sessions_of_a_later_client_know_their_errors_too(spark: SparkSession) -> None:
    """After a client the daemon removes all listeners that the context did not begin with."""
    bus = scala_context(spark.sparkContext).listenerBus()
    ours = [each for each in bus.listeners() if each.getClass().getName() == "lakeward.ScriptErrors"]
    assert len(ours) == 1
    bus.removeListener(ours[0])
    script = f"BEGIN {HANDLERS['exit'].format(GET)} SELECT 1 / 0; END"
    assert error_of(spark, script).getCondition() == "UNSUPPORTED_SQL"
    later = spark.newSession()
    later.sql("SELECT 1").collect()
    spark.sql(script).collect()
    assert spark.sql("SELECT d_condition").collect()[0][0] == "DIVIDE_BY_ZERO"


def test_scripts_without_the_statements_stay_as_they_are() -> None:
    assert rewrite("BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN SELECT 1; END; SELECT 2; END") is None
    assert rewrite("SELECT resignal FROM get AS diagnostics") is None
    script = "BEGIN\nDECLARE EXIT HANDLER FOR SQLEXCEPTION\nRESIGNAL;\nSELECT 2;\nEND"
    result = rewrite(script)
    assert isinstance(result, Edits)
    assert apply_edits(script, result.edits).count("\n") == script.count("\n"), "lines stay as they are"
