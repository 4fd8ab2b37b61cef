"""The list of functions: what is said to be missing is missing, what is said to be added is there."""

from __future__ import annotations

import shutil
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from lakeward.errors import SqlError
from lakeward.session import condition_of, current_settings
from lakeward.sql import register_function
from lakeward.sql.platform_functions import ADDED, MISSING


def test_the_current_metastore_is_that_of_the_local_workspace(spark: SparkSession) -> None:
    from lakeward.workspace.api.workspace_info import METASTORE_ID

    assert spark.sql("SELECT current_metastore()").first() == (f"local:local:{METASTORE_ID}",)


def test_the_list_agrees_with_the_session(spark: SparkSession) -> None:
    there = {row[0].rpartition(".")[2] for row in spark.sql("SHOW ALL FUNCTIONS").collect()}
    assert set(ADDED) <= there
    assert not there & {name for group in MISSING for name in group.names}
    assert {name for name in there if name.startswith("lakeward_")} <= {
        "lakeward_extract",
        "lakeward_copied",
        *(
            f"lakeward_stream_{name}"
            for name in (
                *("read_files", "cloud_files", "cloud_files_state", "event_log", "list_secrets"),
                *("read_kafka", "read_statestore", "read_state_metadata"),
            )
        ),
    }


CALLS = (
    "SELECT {}('x')",
    "SELECT * FROM {}('x')",
    "SELECT * FROM STREAM {}(a => 'x')",
    "SELECT * FROM STREAM({}())",
)


@pytest.mark.parametrize("call", CALLS)
def test_a_function_of_a_service_is_refused_with_what_it_needs(spark: SparkSession, call: str) -> None:
    for name in (name for group in MISSING if group.unsupported for name in group.names):
        with pytest.raises(AnalysisException, match=f"The function {name} needs .*Register a") as raised:
            spark.sql(call.format(name.upper())).collect()
        assert condition_of(raised.value) == "UNSUPPORTED_SQL", name


def test_secrets_are_listed_without_their_values(spark: SparkSession) -> None:
    settings = current_settings()
    assert settings is not None
    for scope, key in (("listed", "token"), ("listed", "a"), ("listed_too", "k")):
        folder = settings.secrets / scope
        folder.mkdir(parents=True, exist_ok=True)
        (folder / key).write_text("hidden")
    try:
        rows = {tuple(row) for row in spark.sql("SELECT scope, key FROM list_secrets()").collect()}
        assert rows >= {("listed", "token"), ("listed", "a"), ("listed_too", "k")}
        for call in ("list_secrets('listed')", "LIST_SECRETS(scope => 'listed')"):
            expected = [("listed", "a"), ("listed", "token")]
            assert sorted(spark.sql(f"SELECT * FROM {call}").collect()) == expected
        for call in ("list_secrets('a', 'b')", "list_secrets(nope => 'a')"):
            with pytest.raises(AnalysisException, match="WRONG_NUM_ARGS"):
                spark.sql(f"SELECT * FROM {call}")
        with pytest.raises(AnalysisException, match="SECRET_NOT_FOUND"):
            spark.sql("SELECT * FROM list_secrets('nothing')")
    finally:
        for scope in ("listed", "listed_too"):
            shutil.rmtree(settings.secrets / scope)


def test_a_function_is_served_by_the_module_that_knows_it(spark: SparkSession) -> None:
    def secret(session: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> dict[str, Any]:
        assert isinstance(session, SparkSession)
        scope, key = positional
        return {"rows": [[f"{scope}/{key}/{named}"]]}

    with pytest.raises(AnalysisException, match=r"EVENT_LOG_UNAVAILABLE.*`t`"):
        spark.sql("SELECT * FROM event_log('t')")
    with register_function("try_secret", secret):
        assert spark.sql("SELECT try_secret('s', concat('k', 1)) AS v").collect() == [("s/k1/{}",)]


def test_a_conflict_of_deltas_keeps_its_condition_and_state(spark: SparkSession) -> None:
    from delta.exceptions.captured import ConcurrentAppendException

    def conflict(_: SparkSession, **__: Any) -> dict[str, Any]:
        text = "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Files were added. SQLSTATE: 2D521"
        raise ConcurrentAppendException(text, "", None)

    with register_function("try_secret", conflict), pytest.raises(AnalysisException) as caught:
        spark.sql("SELECT try_secret('s', 'k')")
    assert (condition_of(caught.value), caught.value.getSqlState()) == (
        "DELTA_CONCURRENT_APPEND.WITHOUT_HINT",
        "2D521",
    )
    assert str(caught.value).count("Files were added.") == 1


def test_a_condition_of_sparks_without_its_parameters_keeps_its_text(spark: SparkSession) -> None:
    def refuse(_: SparkSession, **__: Any) -> dict[str, Any]:
        raise SqlError("CONSTRAINT_DOES_NOT_EXIST", "There is no such key.")

    with register_function("try_secret", refuse), pytest.raises(AnalysisException) as caught:
        spark.sql("SELECT try_secret('s', 'k')")
    assert "[CONSTRAINT_DOES_NOT_EXIST] There is no such key." in str(caught.value)


def test_a_relation_is_served_by_the_module_that_knows_it(spark: SparkSession) -> None:
    calls: list[Any] = []

    def relation(session: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Any:
        calls.append((positional, named))
        return session.range(3).selectExpr("id", "id * 2 AS twice")._jdf

    with register_function("event_log", relation):
        rows = spark.sql(
            "SELECT e.twice FROM event_log('t', n => 1 + 1, m => map('a', 'b')) AS e WHERE e.id = 2"
        ).collect()
    assert rows == [(4,)]
    assert calls[-1] == (["t"], {"n": "2", "m": {"a": "b"}})
