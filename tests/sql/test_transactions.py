"""BEGIN ATOMIC: all statements take effect, or none of them."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from lakeward.session import condition_of
from lakeward.sql.constructs.transactions import AtomicBlock
from lakeward.sql.rewriter import rewrite

_KEY = "spark.databricks.delta.commitInfo.userMetadata"


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[str]:
    name = f"main.t_{uuid.uuid4().hex[:8]}"
    spark.sql(f"CREATE SCHEMA {name}")
    spark.sql(f"USE {name}")
    for table in ("a", "b"):
        spark.sql(f"CREATE TABLE {table} AS SELECT * FROM VALUES (1, 10), (2, 20) t(id, v)")
    yield name
    spark.sql("USE main.default")
    spark.sql(f"DROP SCHEMA {name} CASCADE")


def _rows(spark: SparkSession, table: str) -> list[tuple[int, int]]:
    return sorted(tuple(row) for row in spark.table(table).collect())


_UNTOUCHED = [(1, 10), (2, 20)]
_STATEMENTS = {
    "insert": "INSERT INTO {} VALUES (3, 30)",
    "insert table": "INSERT INTO TABLE {} VALUES (3, 30)",
    "overwrite": "INSERT OVERWRITE {} SELECT 9, 9",
    "overwrite table": "INSERT OVERWRITE TABLE {} SELECT 9, 9",
    "update": "UPDATE {} SET v = 0 WHERE id = 1",
    "delete": "DELETE FROM {} WHERE id = 1",
    "truncate": "TRUNCATE TABLE {}",
    "merge": "MERGE INTO {} t USING b s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v + 1",
    "evolution": "MERGE WITH SCHEMA EVOLUTION INTO {} t USING b s ON t.id = s.id WHEN MATCHED THEN DELETE",
}


@pytest.mark.parametrize("table", ["a", "c.s.a", "`a`"])
@pytest.mark.parametrize("statement", _STATEMENTS)
def test_the_tables_that_a_block_writes_are_known(statement: str, table: str) -> None:
    block = rewrite(f"BEGIN ATOMIC {_STATEMENTS[statement].format(table)}; SELECT * FROM a; END")
    assert isinstance(block, AtomicBlock)
    assert block.tables == [table.strip("`").split(".")]
    assert "ATOMIC" not in block.script


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
    # After an overwrite some statements find no row, and make no commit.
    assert commits[0]["operation"] == "RESTORE"
    assert len(commits) > 5
    assert commits[0]["userMetadata"].startswith("rollback of transaction")


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


def test_changes_of_another_writer_are_kept_and_named(spark: SparkSession, schema: str) -> None:
    other = spark.newSession()
    block = f"BEGIN ATOMIC INSERT INTO {schema}.a VALUES (3, 3); SELECT raise_error('x'); END"
    from lakeward.sql.constructs import transactions

    history = transactions._history
    calls = []

    def first_then_write(session: SparkSession, table: str, limit: str = "") -> list:  # type: ignore[type-arg]
        calls.append(table)
        if len(calls) == 2:  # after the block failed, before it is rolled back
            other.sql(f"INSERT INTO {schema}.a VALUES (4, 4)")
        return history(session, table, limit)

    transactions._history = first_then_write
    try:
        with pytest.raises(AnalysisException) as caught:
            spark.sql(block)
    finally:
        transactions._history = history
    assert condition_of(caught.value) == "ATOMIC_ROLLBACK_CONFLICT"
    assert _rows(spark, "a") == [*_UNTOUCHED, (3, 3), (4, 4)]


def test_a_missing_table_and_a_computed_name_are_errors(spark: SparkSession, schema: str) -> None:
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("BEGIN ATOMIC INSERT INTO missing VALUES (1); INSERT INTO a VALUES (3, 3); END")
    assert spark.conf.get(_KEY, None) is None
    assert _rows(spark, "a") == _UNTOUCHED
    with pytest.raises(PySparkException, match=r"UNSUPPORTED_SQL.*IDENTIFIER"):
        spark.sql("BEGIN ATOMIC INSERT INTO IDENTIFIER('a') VALUES (3, 3); END")
    with pytest.raises(PySparkException, match=r"UNSUPPORTED_SQL.*BEGIN ATOMIC"):
        spark.sql("BEGIN TRANSACTION")


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
