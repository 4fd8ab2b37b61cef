"""SET and RESET of the parameters of Databricks SQL: in a session of a warehouse alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from lakeward.errors import LakewardError, SqlError
from lakeward.session import condition_of, temporary_conf
from lakeward.sql import SQL_PARAMETERS, WAREHOUSE_SESSION, set_timeout, time_limit
from tests.conditions import failing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARSED = "try_to_timestamp('2021-01-01 12:34:56', 'yyyy-MM-dd')"
# A value, and a query with its result while the parameter has it.
EFFECTS = {
    "ansi_mode": ("false", "SELECT typeof(1 + '1')", "double"),
    "timezone": ("'America/Los_Angeles'", "SELECT current_timezone()", "America/Los_Angeles"),
    "legacy_time_parser_policy": ("legacy", f"SELECT {PARSED} IS NULL", "False"),
    "max_file_partition_bytes": ("64mb", "SET spark.sql.files.maxPartitionBytes", "64mb"),
}
SPELLINGS = ("SET {name} = {value}", "set {upper}={value};", "SET /* all */ `{name}` = {value}")


@pytest.fixture
def warehouse(spark: SparkSession) -> Iterator[SparkSession]:
    before = {key: str(spark.conf.get(key)) for key in SQL_PARAMETERS.values()}
    with temporary_conf(spark, {WAREHOUSE_SESSION: "true", **before}):
        yield spark


def result(spark: SparkSession, query: str) -> str:
    return str(spark.sql(query).collect()[0][-1])


def test_each_parameter_has_a_case() -> None:
    assert EFFECTS.keys() == SQL_PARAMETERS.keys()


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_parameter_has_its_effect_until_it_is_reset(
    warehouse: SparkSession, name: str, spelling: str
) -> None:
    value, query, expected = EFFECTS[name]
    before = result(warehouse, query)
    assert before != expected
    shown = warehouse.sql(spelling.format(name=name, upper=name.upper(), value=value)).collect()
    assert [row.asDict() for row in shown] == [
        {"key": shown[0]["key"], "value": expected_value(warehouse, name)}
    ]
    assert shown[0]["key"].lower() == name
    assert result(warehouse, query) == expected
    assert result(warehouse, f"SET {name}") == expected_value(warehouse, name)
    warehouse.sql(f"RESET {name}")
    assert result(warehouse, query) != expected


def expected_value(spark: SparkSession, name: str) -> str:
    return str(spark.conf.get(SQL_PARAMETERS[name]))


@pytest.mark.parametrize("name", EFFECTS)
def test_on_a_cluster_the_names_are_settings_without_an_effect(spark: SparkSession, name: str) -> None:
    value, query, _ = EFFECTS[name]
    before = result(spark, query)
    spark.sql(f"SET {name} = {value}")
    assert result(spark, query) == before
    assert result(spark, f"SET {name}") == value
    spark.sql(f"RESET {name}")
    assert result(spark, f"SET {name}") == "<undefined>"


@pytest.mark.parametrize(("name", "value"), [("ansi_mode", "perhaps"), ("timezone", "'Nowhere'")])
def test_a_value_that_is_not_valid_is_refused(warehouse: SparkSession, name: str, value: str) -> None:
    with pytest.raises(Exception, match="INVALID_CONF_VALUE") as raised:
        warehouse.sql(f"SET {name} = {value}").collect()
    assert not isinstance(raised.value, LakewardError)
    assert warehouse.conf.get(SQL_PARAMETERS[name]) not in (value, value.strip("'"))


@pytest.fixture
def limited(warehouse: SparkSession) -> Iterator[SparkSession]:
    yield warehouse
    set_timeout(warehouse, None)


@pytest.mark.parametrize("spelling", [*SPELLINGS, "SET {name} = '{value}'"])
def test_the_timeout_of_statements_is_shown_until_it_is_reset(limited: SparkSession, spelling: str) -> None:
    name = "statement_timeout"
    shown = limited.sql(spelling.format(name=name, upper=name.upper(), value=86400)).collect()
    assert [row.value for row in shown] == ["86400"]
    assert result(limited, "SET STATEMENT_TIMEOUT") == "86400"
    limited.sql("RESET STATEMENT_TIMEOUT")
    assert result(limited, "SET statement_timeout") == "172800"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("soon", "NOT_AN_INTEGER"),
        ("1.5", "NOT_AN_INTEGER"),
        ("'1 hour'", "NOT_AN_INTEGER"),
        ("-1", "BELOW_MINIMUM"),
        ("172801", "ABOVE_MAXIMUM"),
    ],
)
def test_a_timeout_that_is_not_valid_is_refused(limited: SparkSession, value: str, reason: str) -> None:
    limited.sql("SET statement_timeout = 60")
    with failing(f"INVALID_STATEMENT_TIMEOUT.{reason}"):
        limited.sql(f"SET statement_timeout = {value}").collect()
    assert result(limited, "SET statement_timeout") == "60"


ENDLESS = "SELECT count(*) FROM range(0, 1000000000000, 1, 1)"


def test_a_statement_is_halted_after_the_timeout_and_the_next_one_runs(limited: SparkSession) -> None:
    limited.sql("SET statement_timeout = 1")
    for _ in range(2):
        began = time.monotonic()
        with pytest.raises(SqlError) as halted, time_limit(limited):
            limited.sql(ENDLESS).collect()
        assert time.monotonic() - began < 30
        assert halted.value.condition == "QUERY_EXECUTION_TIMEOUT_EXCEEDED"
        with time_limit(limited):
            assert limited.sql("SELECT 1").collect() == [(1,)]


@pytest.mark.parametrize("value", [None, "0", "60"])
def test_an_error_before_the_timeout_is_the_statements_own(limited: SparkSession, value: str | None) -> None:
    set_timeout(limited, value)
    with pytest.raises(PySparkException) as failed, time_limit(limited):
        limited.sql("SELECT 1 / 0").collect()
    assert condition_of(failed.value) == "DIVIDE_BY_ZERO"


PARTITIONS = "spark.sql.shuffle.partitions"
AUTOMATIC = {
    "SET": lambda spark: spark.sql(f"SET {PARTITIONS} = auto"),
    "set;": lambda spark: spark.sql(f"set {PARTITIONS}=AUTO;"),
    "conf.set": lambda spark: spark.conf.set(PARTITIONS, "auto"),
    "conf.set Auto": lambda spark: spark.conf.set(PARTITIONS, " Auto"),
    "newSession": lambda spark: spark.newSession().conf.set(PARTITIONS, "auto"),
}


@pytest.mark.parametrize("way", AUTOMATIC)
def test_shuffle_partitions_may_be_automatic(spark: SparkSession, way: str) -> None:
    """The number with which the session began; Spark itself takes numbers alone."""
    first = spark.sparkContext.getConf().get(PARTITIONS)
    with temporary_conf(spark, {PARTITIONS: "77"}):
        AUTOMATIC[way](spark)
        assert spark.conf.get(PARTITIONS) == ("77" if way == "newSession" else first)
        assert spark.range(9).groupBy("id").count().count() == 9


COMPACTION = "spark.databricks.delta.autoCompact.enabled"
COMPACTION_WAYS = {
    "SET": lambda spark, word: spark.sql(f"SET {COMPACTION} = {word}"),
    "conf.set": lambda spark, word: spark.conf.set(COMPACTION, word),
}


@pytest.mark.parametrize("way", COMPACTION_WAYS)
def test_automatic_compaction_takes_the_words_of_the_platform(spark: SparkSession, way: str) -> None:
    for word, stored in {"auto": "true", "LEGACY": "true", "true": "true", "false": "false"}.items():
        with temporary_conf(spark, {COMPACTION: "false"}):
            COMPACTION_WAYS[way](spark, word)
            assert spark.conf.get(COMPACTION) == stored


def test_automatic_shuffle_partitions_hold_for_a_block(spark: SparkSession) -> None:
    """As in the configuration of pipelines and the spark_conf of their datasets."""
    first = spark.sparkContext.getConf().get(PARTITIONS)
    with temporary_conf(spark, {PARTITIONS: "77"}):
        with temporary_conf(spark, {PARTITIONS: "auto"}):
            assert spark.conf.get(PARTITIONS) == first
        assert spark.conf.get(PARTITIONS) == "77"


def test_no_other_setting_and_no_other_word_is_automatic(spark: SparkSession) -> None:
    for key, value in ((PARTITIONS, "automatic"), ("spark.sql.autoBroadcastJoinThreshold", "auto")):
        with pytest.raises(Exception, match="INVALID_CONF_VALUE"):
            spark.conf.set(key, value)
        with pytest.raises(Exception, match="INVALID_CONF_VALUE"):
            spark.sql(f"SET {key} = {value}")
