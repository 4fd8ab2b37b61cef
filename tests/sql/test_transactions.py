"""BEGIN ATOMIC: all statements take effect, or none of them."""

from __future__ import annotations

import shutil
import signal
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from lakeward.session import condition_of
from lakeward.sql import split
from lakeward.sql.transactions import _folder, recover
from tests.processes import SharedDaemon, environ_without, outcome

_KEY = "spark.databricks.delta.commitInfo.userMetadata"


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    name = f"main.t_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {name}")
    spark.sql(f"USE {name}")
    for table in ("a", "b"):
        spark.sql(f"CREATE TABLE {table} AS SELECT * FROM VALUES (1, 10), (2, 20) t(id, v)")
    yield name
    spark.sql("ROLLBACK")
    spark.sql("SET AUTOCOMMIT = TRUE")
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA {name} CASCADE")


def _rows(spark: SparkSession, table: str) -> list[tuple[int, int]]:
    return sorted(tuple(row) for row in spark.table(table).collect())


_UNTOUCHED = [(1, 10), (2, 20)]
_STATEMENTS = {
    "insert": "INSERT INTO {} VALUES (3, 30)",
    "insert table": "INSERT INTO TABLE {} VALUES (3, 30)",
    "overwrite": "INSERT OVERWRITE {} SELECT 9, 9",
    "replace where": "INSERT INTO {} REPLACE WHERE id = 1 SELECT 1, 8",
    "replace using": "INSERT INTO {} REPLACE USING (id) SELECT 1, 7",
    "by name": "INSERT INTO {} BY NAME SELECT 1 AS v, 11 AS id",
    "identifier": "INSERT INTO IDENTIFIER('{}') VALUES (4, 40)",
    "dynamic": "EXECUTE IMMEDIATE 'INSERT INTO {} VALUES (5, 50)'",
    "update": "UPDATE {} SET v = 0 WHERE id = 1",
    "delete": "DELETE FROM {} WHERE id = 1",
    "merge": "MERGE INTO {} t USING b s ON t.id = s.id + 1 WHEN NOT MATCHED THEN INSERT *",
    "evolution": "MERGE WITH SCHEMA EVOLUTION INTO {} t USING b s ON t.id = s.id WHEN MATCHED THEN DELETE",
}
# Source: https://docs.databricks.com/aws/en/error-messages/transaction-not-supported-error-class
_REFUSED = {
    "create": "CREATE TABLE c (id INT)",
    "create as": "CREATE TABLE c AS SELECT 1 AS id",
    "replace": "CREATE OR REPLACE TABLE a AS SELECT 1 AS id",
    "view": "CREATE VIEW c AS SELECT 1 AS id",
    "drop": "DROP TABLE a",
    "alter": "ALTER TABLE a ADD COLUMN c INT",
    "properties": "ALTER TABLE a SET TBLPROPERTIES ('a' = 'b')",
    "truncate": "TRUNCATE TABLE a",
    "optimize": "OPTIMIZE a",
    "vacuum": "VACUUM a",
    "restore": "RESTORE TABLE a TO VERSION AS OF 0",
    "clone": "CREATE TABLE c DEEP CLONE a",
    "copy into": "COPY INTO a FROM '/missing' FILEFORMAT = JSON",
    "volume": "CREATE VOLUME c",
    "schema": "CREATE SCHEMA c",
    "grant": "GRANT SELECT ON TABLE a TO `users`",
    "comment": "COMMENT ON TABLE a IS 'c'",
}


def test_a_failure_undoes_all_statements_of_all_blocks(spark: SparkSession, schema: str) -> None:
    statements = "; ".join(text.format(f"{schema}.a") for text in _STATEMENTS.values())
    spark.conf.set(_KEY, "mine")
    try:
        with pytest.raises(PySparkException, match="no more"):
            spark.sql(
                f"BEGIN ATOMIC {statements}; BEGIN ATOMIC DELETE FROM b; END; "
                "SELECT raise_error('no more'); END"
            )
        assert spark.conf.get(_KEY) == "mine"
    finally:
        spark.conf.unset(_KEY)
    assert [_rows(spark, table) for table in ("a", "b")] == [_UNTOUCHED] * 2
    commits = spark.sql("DESCRIBE HISTORY a").collect()
    assert commits[0]["operation"] == "RESTORE"
    assert {commit["userMetadata"] for commit in commits} == {"mine", None}
    assert len(commits) > 10


def test_a_block_that_succeeds_keeps_all_changes_and_gives_the_last_result(
    spark: SparkSession, schema: str
) -> None:
    result = spark.sql(
        """-- a comment
        begin atomic
          DECLARE n INT DEFAULT 5;
          UPDATE a SET v = v - n WHERE id = 1;
          IF n > 1 THEN
            INSERT INTO b VALUES (3, n);
          END IF;
          SELECT count(*) AS n FROM b;
        end;"""
    )
    assert result.collect()[0][0] == 3
    assert _rows(spark, "a") == [(1, 5), (2, 20)]
    assert _rows(spark, "b") == [*_UNTOUCHED, (3, 5)]


@pytest.mark.parametrize("begin", ["BEGIN TRANSACTION", "SET AUTOCOMMIT = FALSE"])
def test_changes_of_another_writer_are_kept_and_named(spark: SparkSession, schema: str, begin: str) -> None:
    spark.sql(begin)
    spark.sql("INSERT INTO a VALUES (3, 3)")
    spark.sql("INSERT INTO b VALUES (3, 3)")
    spark.newSession().sql(f"INSERT INTO {schema}.a VALUES (4, 4)")
    with pytest.raises(AnalysisException, match=r"/a \(version 0\)") as caught:
        spark.sql("ROLLBACK")
    assert condition_of(caught.value) == "TRANSACTION_ROLLBACK_CONFLICT"
    assert _rows(spark, "a") == [*_UNTOUCHED, (3, 3), (4, 4)]
    assert _rows(spark, "b") == _UNTOUCHED
    # The statement that failed is one of the next transaction.
    spark.sql("ROLLBACK")
    assert spark.sql("SET AUTOCOMMIT").collect()[0][0] == str(begin == "BEGIN TRANSACTION").lower()


@pytest.mark.parametrize("end", ["commit transaction", "ROLLBACK /* all */ WORK"])
@pytest.mark.parametrize("statement", _STATEMENTS)
def test_a_transaction_sees_its_writes_and_keeps_or_undoes_them(
    spark: SparkSession, schema: str, statement: str, end: str
) -> None:
    spark.sql("CREATE TABLE expected AS SELECT * FROM a")
    spark.sql(_STATEMENTS[statement].format("expected"))
    spark.sql("Begin Transaction")
    spark.sql(_STATEMENTS[statement].format("a"))
    assert _rows(spark, "a") == _rows(spark, "expected") != _UNTOUCHED
    spark.sql(end)
    assert _rows(spark, "a") == (_rows(spark, "expected") if end.upper().startswith("COMMIT") else _UNTOUCHED)
    assert not spark.conf.get(_KEY, None)


@pytest.mark.parametrize("statement", _REFUSED)
@pytest.mark.parametrize(
    "begin", ["BEGIN TRANSACTION", "BEGIN WORK", "BEGIN ATOMIC {}; END", "block and dynamic"]
)
def test_commands_other_than_dml_are_refused(
    spark: SparkSession, schema: str, begin: str, statement: str
) -> None:
    texts = [begin, _REFUSED[statement]]
    if "ATOMIC" in begin:
        texts = [begin.format(f"INSERT INTO a VALUES (3, 3); {_REFUSED[statement]}")]
    elif begin == "block and dynamic":
        dynamic = _REFUSED[statement].replace("'", "\\'")
        texts = [f"BEGIN ATOMIC INSERT INTO a VALUES (3, 3); EXECUTE IMMEDIATE '{dynamic}'; END"]
    *before, last = texts
    for text in before:
        spark.sql(text)
    with pytest.raises(PySparkException) as caught:
        spark.sql(last)
    spark.sql("ROLLBACK")
    assert condition_of(caught.value) == "TRANSACTION_NOT_SUPPORTED.COMMAND"
    assert _rows(spark, "a") == _UNTOUCHED


_FAILURES = {
    "evaluation": "SELECT 1 / 0",
    "analysis": "SELECT * FROM missing",
    "parser": "SELLECT 1",
    "write": "INSERT INTO a SELECT 1, 1 / 0",
    "command": "CREATE TABLE c (id INT)",
    "construct": "COPY INTO a FROM",
    "construct of Python": "CALL missing()",
    "replace using": "INSERT INTO a REPLACE USING (c) SELECT 1, 7",
}


@pytest.mark.parametrize("failure", _FAILURES)
def test_after_a_failure_only_rollback_is_accepted(spark: SparkSession, schema: str, failure: str) -> None:
    spark.sql("BEGIN TRANSACTION")
    spark.sql("INSERT INTO a VALUES (3, 3)")
    with pytest.raises(PySparkException):
        spark.sql(_FAILURES[failure]).collect()
    for text in ("SELECT 1", "COMMIT", "BEGIN TRANSACTION", "INSERT INTO b VALUES (3, 3)"):
        with pytest.raises(PySparkException, match="Run ROLLBACK") as caught:
            spark.sql(text)
        assert condition_of(caught.value) == (
            "TRANSACTION_ROLLBACK_REQUIRED_AFTER_ABORT.PREVIOUS_QUERY_FAILURE"
        )
    spark.sql("-- all of it\nROLLBACK")
    assert [_rows(spark, table) for table in ("a", "b")] == [_UNTOUCHED] * 2


def test_transactions_do_not_nest_and_end_once(spark: SparkSession, schema: str) -> None:
    with pytest.raises(AnalysisException) as caught:
        spark.sql("COMMIT")
    assert condition_of(caught.value) == "NO_ACTIVE_TRANSACTION"
    spark.sql("ROLLBACK")
    spark.sql("BEGIN TRANSACTION")
    with pytest.raises(AnalysisException) as caught:
        spark.sql("BEGIN WORK")
    assert condition_of(caught.value) == "TRANSACTION_NOT_SUPPORTED.NESTED_TRANSACTION"
    spark.sql("ROLLBACK")
    spark.sql("BEGIN TRANSACTION")
    spark.sql("BEGIN ATOMIC INSERT INTO a VALUES (3, 3); END")
    spark.sql("ROLLBACK")
    assert _rows(spark, "a") == _UNTOUCHED


def test_another_session_has_no_part_in_the_transaction(spark: SparkSession, schema: str) -> None:
    other = spark.newSession()
    other.sql(f"USE {schema}")
    spark.sql("BEGIN TRANSACTION")
    other.sql("CREATE TABLE c AS SELECT 1 AS id, 1 AS v")
    other.sql("INSERT INTO b VALUES (3, 3)")
    spark.sql("ROLLBACK")
    assert _rows(spark, "b") == [*_UNTOUCHED, (3, 3)]
    assert _rows(spark, "c") == [(1, 1)]


def test_a_handler_in_a_block_keeps_the_transaction(spark: SparkSession, schema: str) -> None:
    spark.sql(
        "BEGIN ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; INSERT INTO a VALUES (3, 3); "
        "INSERT INTO a SELECT 1, 1 / 0; EXECUTE IMMEDIATE 'INSERT INTO a VALUES (4, 4)'; END"
    )
    assert _rows(spark, "a") == [*_UNTOUCHED, (3, 3), (4, 4)]


def test_a_missing_table_is_an_error(spark: SparkSession, schema: str) -> None:
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("BEGIN ATOMIC INSERT INTO a VALUES (3, 3); INSERT INTO missing VALUES (1); END")
    assert _rows(spark, "a") == _UNTOUCHED


def test_without_autocommit_each_end_begins_the_next_transaction(spark: SparkSession, schema: str) -> None:
    def autocommit() -> list[tuple[str]]:
        return [tuple(row) for row in spark.sql("SET AUTOCOMMIT").collect()]

    assert autocommit() == [("true",)]
    spark.sql("SET AUTOCOMMIT = FALSE")
    assert autocommit() == [("false",)]
    for value in ("TRUE", "FALSE"):
        spark.sql("INSERT INTO a VALUES (3, 3)")
        with pytest.raises(AnalysisException) as caught:
            spark.sql(f"set autocommit = {value}")
        assert condition_of(caught.value) == "AUTOCOMMIT_SET_DURING_ACTIVE_TRANSACTION"
        spark.sql("ROLLBACK")
        assert autocommit() == [("false",)]
    spark.sql("INSERT INTO a VALUES (4, 4)")
    spark.sql("COMMIT")
    spark.sql("INSERT INTO a VALUES (5, 5)")
    spark.sql("ROLLBACK")
    spark.sql("SET AUTOCOMMIT = TRUE")
    spark.sql("INSERT INTO b VALUES (5, 5)")
    spark.sql("ROLLBACK")
    assert _rows(spark, "a") == [*_UNTOUCHED, (4, 4)]
    assert _rows(spark, "b") == [*_UNTOUCHED, (5, 5)]


@pytest.mark.parametrize("word", ["TRANSACTION", "WORK"])
def test_begin_transaction_opens_no_block_in_a_file(word: str) -> None:
    text = f"BEGIN {word}; INSERT INTO a VALUES (1); BEGIN SELECT 1; END; COMMIT"
    assert split(text) == [f"BEGIN {word}", "INSERT INTO a VALUES (1)", "BEGIN SELECT 1; END", "COMMIT"]


def _sql(folder: Path, daemon: SharedDaemon, text: str) -> str:
    command = [sys.executable, "-m", "lakeward", "sql", "--format", "csv", "-e", text]
    done = outcome(command, cwd=folder, env=daemon.environ(environ_without("LAKEWARD_HOME")))
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.process
def test_a_transaction_without_commit_is_rolled_back_at_the_end(
    tmp_path: Path, shared_daemon: SharedDaemon
) -> None:
    count = "SELECT count(*) AS n FROM a"
    _sql(tmp_path, shared_daemon, "CREATE TABLE a AS SELECT 1 AS id")
    seen = _sql(tmp_path, shared_daemon, f"BEGIN TRANSACTION; INSERT INTO a VALUES (2); {count}")
    assert seen.endswith("n\n2\n")
    assert _sql(tmp_path, shared_daemon, count) == "n\n1\n"


_KILLED = {
    "block": "spark.sql('BEGIN ATOMIC INSERT INTO a VALUES (2); DELETE FROM b; SELECT kill(); END')",
    "interactive": "[*map(spark.sql, ('BEGIN WORK', 'INSERT INTO a VALUES (2)', 'DELETE FROM b'))]; kill()",
    "stopped": "[*map(spark.sql, ('BEGIN WORK', 'INSERT INTO a VALUES (2)', 'DELETE FROM b'))]; spark.stop()",
    "committed": "spark.sql('BEGIN ATOMIC INSERT INTO a VALUES (2); DELETE FROM b; END'); kill()",
}
_SCRIPT = """
import functools, os, signal
from lakeward.session import session

spark = session()
kill = functools.partial(os.kill, os.getpid(), signal.SIGKILL)
spark.udf.register("kill", lambda: kill(), "int")
"""


@pytest.mark.process
@pytest.mark.parametrize("kind", _KILLED)
def test_what_a_killed_process_wrote_is_undone(
    tmp_path: Path, shared_daemon: SharedDaemon, kind: str
) -> None:
    _sql(tmp_path, shared_daemon, "CREATE TABLE a AS SELECT 1 AS id; CREATE TABLE b AS SELECT 1 AS id")
    command = [sys.executable, "-c", _SCRIPT + _KILLED[kind]]
    killed = outcome(command, cwd=tmp_path, env=environ_without("LAKEWARD_HOME"))
    assert killed.returncode == (0 if kind == "stopped" else -signal.SIGKILL), killed.stderr
    counts = "SELECT (SELECT count(*) FROM a) AS a, (SELECT count(*) FROM b) AS b"
    expected = f"a,b\n{'2,0' if kind == 'committed' else '1,1'}\n"
    assert [_sql(tmp_path, shared_daemon, counts) for _ in range(2)] == [expected] * 2
    assert not [*tmp_path.rglob("transactions/*.json")]


@pytest.mark.parametrize("damage", ["files of the old version", "record"])
def test_what_cannot_be_restored_is_named_and_stops_neither_the_session_nor_other_tables(
    spark: SparkSession, schema: str, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    folder = _folder()
    first, second = folder / "0.json", folder / "1.json"
    for table, record in (("a", first), ("b", second)):
        path = Path(spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]["location"].removeprefix("file:"))
        old = [*path.glob("*.parquet")]
        spark.sql("BEGIN TRANSACTION")
        spark.sql(f"DELETE FROM {table}")
        [own] = folder.glob("*-*.json")
        shutil.copy(own, record)
        spark.sql("COMMIT")
        if damage != "record" and table == "a":
            for file in old:
                file.unlink()
    if damage == "record":
        first.write_text("{")
    try:
        recover(spark)
        assert f"delete {first}" in caplog.text
        assert (first.exists(), second.exists()) == (True, False)
        assert (_rows(spark, "a"), _rows(spark, "b")) == ([], _UNTOUCHED)
    finally:
        first.unlink(missing_ok=True)


# Source: https://docs.databricks.com/aws/en/sql/language-manual/control-flow/get-diagnostics-stmt
_GET = "get diagnostics /* state */ {} = transaction_active"


@pytest.mark.parametrize(
    ("script", "active"),
    [
        (f"BEGIN DECLARE a BOOLEAN; {_GET.format('a')}; SELECT a; END", False),
        (f"BEGIN ATOMIC DECLARE a BOOLEAN; {_GET.format('a')}; SELECT a; END", True),
        (
            f"BEGIN ATOMIC DECLARE a BOOLEAN; INSERT INTO a VALUES (5, 5); {_GET.format('a')}; SELECT a; END",
            True,
        ),
        (f"BEGIN ATOMIC DECLARE a BOOLEAN; BEGIN ATOMIC {_GET.format('a')}; END; SELECT a; END", True),
        (
            f"BEGIN DECLARE a, b BOOLEAN; {_GET.format('a')}, b = TRANSACTION_ACTIVE; SELECT a OR b; END",
            False,
        ),
        (f"BEGIN DECLARE a BOOLEAN; IF true THEN {_GET.format('a')}; END IF; SELECT a; END", False),
    ],
)
def test_scripts_find_out_whether_a_transaction_is_active(
    spark: SparkSession, schema: str, script: str, active: bool
) -> None:
    assert spark.sql(script).collect() == [(active,)]


@pytest.mark.parametrize("name", ["transaction_state", "session.transaction_state", "`transaction_state`"])
def test_statements_outside_of_scripts_find_out_too(spark: SparkSession, name: str) -> None:
    spark.sql("DECLARE OR REPLACE VARIABLE transaction_state BOOLEAN")
    spark.sql(_GET.format(name))
    assert spark.sql("SELECT transaction_state").collect() == [(False,)]
    spark.sql(f"EXECUTE IMMEDIATE '{_GET.format(name)}'")
    spark.sql("DROP TEMPORARY VARIABLE transaction_state")


def test_procedures_find_out_too(spark: SparkSession, schema: str) -> None:
    spark.sql(
        "CREATE PROCEDURE state(OUT a BOOLEAN) LANGUAGE SQL SQL SECURITY INVOKER "
        f"AS BEGIN {_GET.format('a')}; END"
    )
    spark.sql("DECLARE OR REPLACE VARIABLE transaction_state BOOLEAN")
    spark.sql("CALL state(transaction_state)")
    assert spark.sql("SELECT transaction_state").collect() == [(False,)]
    spark.sql("DROP TEMPORARY VARIABLE transaction_state")


# `{}` is whether the procedure fails after it has changed both tables.
_CALLS = {
    "call": "CALL p({})",
    "dynamic": "EXECUTE IMMEDIATE 'CALL p(fails => {})'",
    "script": "BEGIN CALL p({}); END",
    "branch": "BEGIN IF true THEN CALL p({}); END IF; END",
    "block": "BEGIN ATOMIC CALL p({}); END",
    "nested block": "BEGIN ATOMIC BEGIN CALL p({}); END; END",
    "procedure": "CALL calls({})",
    "atomic procedure": "CALL calls_in_transaction({})",
    "script and procedure": "BEGIN CALL calls({}); END",
}


def _create_procedures(spark: SparkSession, begin: str) -> None:
    spark.sql(f"""CREATE PROCEDURE p(fails BOOLEAN, OUT n INT DEFAULT 0) MODIFIES SQL DATA AS
        {begin}
          INSERT INTO a VALUES (3, 30);
          DELETE FROM b;
          IF fails THEN
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no more';
          END IF;
          SET n = (SELECT count(*) FROM a);
        END""")
    spark.sql("CREATE PROCEDURE calls(fails BOOLEAN) AS BEGIN CALL p(fails); END")
    spark.sql("CREATE PROCEDURE calls_in_transaction(fails BOOLEAN) AS BEGIN ATOMIC CALL p(fails); END")


@pytest.mark.parametrize("begin", ["BEGIN ATOMIC", "work: begin atomic"])
@pytest.mark.parametrize("call", _CALLS.values(), ids=_CALLS)
def test_a_procedure_whose_body_is_a_transaction_changes_all_tables_or_none(
    spark: SparkSession, schema: str, call: str, begin: str
) -> None:
    """Its call was a syntax error, although CREATE PROCEDURE took the body."""
    _create_procedures(spark, begin)
    with pytest.raises(PySparkException, match="no more"):
        spark.sql(call.format("true"))
    assert [_rows(spark, table) for table in ("a", "b")] == [_UNTOUCHED] * 2
    spark.sql(call.format("false"))
    assert [_rows(spark, table) for table in ("a", "b")] == [[*_UNTOUCHED, (3, 30)], []]


@pytest.mark.parametrize(
    ("handler", "kept"),
    [
        ("", [(7, 70)]),
        ("DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END;", [(7, 70), (8, 80)]),
        (
            "DECLARE EXIT HANDLER FOR SQLSTATE '45000' BEGIN INSERT INTO a VALUES (9, 90); END;",
            [(7, 70), (9, 90)],
        ),
    ],
)
@pytest.mark.parametrize("procedure", ["p", "calls"])
def test_a_failed_procedure_undoes_its_own_changes_alone(
    spark: SparkSession, schema: str, procedure: str, handler: str, kept: list[tuple[int, int]]
) -> None:
    _create_procedures(spark, "BEGIN ATOMIC")
    insert = "INSERT INTO a VALUES"
    text = f"BEGIN {handler} {insert} (7, 70); CALL {procedure}(true); {insert} (8, 80); END"
    if handler:
        spark.sql(text)
    else:
        with pytest.raises(PySparkException, match="no more"):
            spark.sql(text)
    assert [_rows(spark, table) for table in ("a", "b")] == [[*_UNTOUCHED, *kept], _UNTOUCHED]


@pytest.mark.parametrize("call", ["call", "script", "procedure"])
def test_a_procedure_is_a_part_of_the_session_transaction(
    spark: SparkSession, schema: str, call: str
) -> None:
    _create_procedures(spark, "BEGIN ATOMIC")
    spark.sql("BEGIN TRANSACTION")
    spark.sql(_CALLS[call].format("false"))
    assert _rows(spark, "b") == []
    spark.sql("ROLLBACK")
    assert [_rows(spark, table) for table in ("a", "b")] == [_UNTOUCHED] * 2


def test_results_of_a_procedure_whose_body_is_a_transaction(spark: SparkSession, schema: str) -> None:
    _create_procedures(spark, "BEGIN ATOMIC")
    spark.sql("DECLARE OR REPLACE VARIABLE n INT")
    spark.sql("CALL p(false, n)")
    assert spark.sql("SELECT n").first() == (3,)
    block = "{} DECLARE m INT; CALL p(false, m); SELECT m; END"
    assert spark.sql(block.format("BEGIN ATOMIC")).first() == (4,)
    with pytest.raises(PySparkException) as caught:
        spark.sql(block.format("BEGIN"))
    assert condition_of(caught.value) == "UNSUPPORTED_SQL"
    spark.sql("DROP TEMPORARY VARIABLE n")
