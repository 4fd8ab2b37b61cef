"""STATEMENT_TIMEOUT in `lakeward sql`, and in the session of SQL tasks."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from lakeward.cli.output_streams import Streams
from lakeward.cli.spark_errors import error_message
from lakeward.cli.sql import run_one
from lakeward.errors import SqlError
from lakeward.jobs.tasks.sql import warehouse_session
from lakeward.session import Settings, temporary_conf
from lakeward.sql import WAREHOUSE_SESSION, set_timeout

ENDLESS = "SELECT count(*) FROM range(0, 1000000000000, 1, 1)"


@pytest.fixture
def warehouse(spark: SparkSession) -> Iterator[SparkSession]:
    with temporary_conf(spark, {WAREHOUSE_SESSION: "true"}):
        yield spark
    set_timeout(spark, None)


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_statement_of_the_command_is_halted(warehouse: SparkSession, form: str) -> None:
    streams = Streams(io.StringIO(), io.StringIO())
    run_one(warehouse, "SET statement_timeout = 1", form, streams, {})
    with pytest.raises(SqlError) as halted:
        run_one(warehouse, ENDLESS, form, streams, {})
    shown = error_message(halted.value, warehouse)
    assert shown is not None
    assert shown.startswith("[QUERY_EXECUTION_TIMEOUT_EXCEEDED] ")


def test_the_timeout_of_a_task_ends_with_it(spark: SparkSession, suite_settings: Settings) -> None:
    with warehouse_session(suite_settings) as session:
        session.sql("SET statement_timeout = 5")
    with warehouse_session(suite_settings) as session:
        assert session.sql("SET statement_timeout").collect()[0].value == "172800"
