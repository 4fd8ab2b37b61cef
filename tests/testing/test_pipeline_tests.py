"""`pyspark.pipelines.testing`: unit tests of pipelines run as on Databricks.

The rules are those of "Unit testing for pipelines" (docs.databricks.com/ldp/unit-testing): names are isolated
per test, and `run` refreshes exactly the named tables, with the views that they read.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from lakeward.bundle import load
from lakeward.errors import ConfigurationError, PipelineError
from lakeward.testing.pipeline_tests import TestPipeline, fill, pipeline_of, test_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["test_spark"]  # the fixture

PYTHON = """
from pyspark.sql import functions as F

@{table}
@{module}.expect_or_drop("named", "name IS NOT NULL")
@{module}.expect_or_fail("has id", "user_id IS NOT NULL")
def users():
    return {stream}("acme.crm.source_users")

@{table}
def counts():
    return {batch}("users").groupBy("kind").agg(F.count("*").alias("n"))

@{module}.view
def feed():
    return {stream}("acme.other.changes")

@{module}.view
def unused():
    return {batch}("nowhere.at.all")

{module}.create_streaming_table("latest")
{module}.create_auto_cdc_flow(target="latest", source="feed", keys=["id"], sequence_by="ts")

@{table}
def missing():
    return {batch}("prod.raw.not_mocked")
"""
SOURCES = {
    "dp": (
        "a.py",
        "from pyspark import pipelines as dp\n"
        + PYTHON.format(
            module="dp", table="dp.table", stream="spark.readStream.table", batch="spark.read.table"
        ),
    ),
    "dlt": (
        "a.py",
        "import dlt\n"
        + PYTHON.format(
            module="dlt", table="dlt.table()", stream="spark.readStream.table", batch="dlt.read"
        ).replace('dlt.read("nowhere.at.all")', 'spark.read.table("nowhere.at.all")'),
    ),
    "sql": (
        "a.sql",
        """
        CREATE OR REFRESH STREAMING TABLE users (
          CONSTRAINT named EXPECT (name IS NOT NULL) ON VIOLATION DROP ROW,
          CONSTRAINT has_id EXPECT (user_id IS NOT NULL) ON VIOLATION FAIL UPDATE
        ) AS SELECT * FROM STREAM acme.crm.source_users;
        CREATE OR REFRESH MATERIALIZED VIEW counts AS SELECT kind, count(*) AS n FROM users GROUP BY kind;
        CREATE TEMPORARY VIEW feed AS SELECT * FROM STREAM acme.other.changes;
        CREATE TEMPORARY VIEW unused AS SELECT * FROM nowhere.at.all;
        CREATE OR REFRESH STREAMING TABLE latest;
        CREATE FLOW f AS AUTO CDC INTO latest FROM STREAM feed KEYS (id) SEQUENCE BY ts;
        CREATE OR REFRESH MATERIALIZED VIEW missing AS SELECT * FROM prod.raw.not_mocked;
        """,
    ),
}
BUNDLE = """
bundle: {name: b}
resources:
  pipelines:
    p:
      name: p
      catalog: acme
      schema: crm
      libraries: [{glob: {include: transformations/**}}]
"""


@pytest.fixture(params=["bundle", "sources"])
def place(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=SOURCES)
def pipeline(request: pytest.FixtureRequest, place: str, tmp_path: Path) -> TestPipeline:
    name, text = SOURCES[request.param]
    (tmp_path / "transformations").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "transformations" / name).write_text(text)
    (tmp_path / ".git").mkdir()
    if place == "bundle":
        (tmp_path / "databricks.yml").write_text(BUNDLE)
    return TestPipeline(tmp_path / "tests" / "test_users.py")


def mock_users(spark: SparkSession) -> None:
    spark.sql(
        "CREATE TABLE acme.crm.source_users AS SELECT * FROM VALUES "
        "(1, 'Alice', 'admin'), (2, NULL, 'user'), (3, 'Carol', 'user') AS t(user_id, name, kind)"
    )


def test_exactly_the_named_tables_are_refreshed(pipeline: TestPipeline, test_spark: SparkSession) -> None:
    mock_users(test_spark)
    status = pipeline.run(test_spark, {"acme.crm.users"})
    assert [row.name for row in test_spark.table("acme.crm.users").orderBy("user_id").collect()] == [
        "Alice",
        "Carol",
    ]
    assert not test_spark.catalog.tableExists("acme.crm.counts")
    assert {name: flow.records_written for name, flow in status.flow_info.items()}["acme.crm.users"] == 2
    assert (status.is_success, status.error_class, status.error_message) == (True, None, None)
    events = test_spark.table(status.event_log_table_name)
    counted = "details:flow_progress.data_quality.dropped_records"
    assert events.where(f"{counted} IS NOT NULL").selectExpr(f"int({counted})").collect() == [(1,)]
    pipeline.run(test_spark, {"acme.crm.counts", "acme.crm.users"})
    assert {row.kind: row.n for row in test_spark.table("acme.crm.counts").collect()} == {
        "admin": 1,
        "user": 1,
    }


def test_a_dataset_of_the_pipeline_can_be_mocked(pipeline: TestPipeline, test_spark: SparkSession) -> None:
    rows = test_spark.createDataFrame([(1, "a", "x"), (2, "b", "x")], "user_id int, name string, kind string")
    rows.write.saveAsTable("acme.crm.users")
    pipeline.run(test_spark, {"acme.crm.counts"})
    assert test_spark.table("acme.crm.counts").collect() == [("x", 2)]


def test_a_second_run_continues_the_first(pipeline: TestPipeline, test_spark: SparkSession) -> None:
    test_spark.sql(
        "CREATE TABLE acme.other.changes AS SELECT * FROM VALUES (1, 'Alice', 1000), (2, 'Bob', 1001) "
        "AS t(id, name, ts)"
    )
    pipeline.run(test_spark, {"acme.crm.latest"})
    test_spark.sql("INSERT INTO acme.other.changes VALUES (1, 'Alicia', 1003), (2, 'late', 999)")
    pipeline.run(test_spark, {"acme.crm.latest"})
    rows = test_spark.table("acme.crm.latest").collect()
    assert {row.id: (row.name, row.ts) for row in rows} == {1: ("Alicia", 1003), 2: ("Bob", 1001)}


def test_a_failed_update_raises(pipeline: TestPipeline, test_spark: SparkSession) -> None:
    mock_users(test_spark)
    test_spark.sql("INSERT INTO acme.crm.source_users VALUES (NULL, 'x', 'x')")
    with pytest.raises(PipelineError, match="EXPECT"):
        pipeline.run(test_spark, {"acme.crm.users"})
    with pytest.raises(PipelineError, match=r"prod.raw.not_mocked"):
        pipeline.run(test_spark, {"acme.crm.missing"})
    with pytest.raises(TypeError, match="set of names"):
        pipeline.run(test_spark, "acme.crm.users")


def test_tables_of_a_test_are_gone_in_the_next(spark: SparkSession, test_spark: SparkSession) -> None:
    assert not test_spark.catalog.tableExists("acme.crm.source_users")
    test_spark.range(3).write.saveAsTable("main.default.of_a_pipeline_test")
    assert test_spark.table("main.default.of_a_pipeline_test").count() == 3


def test_the_suites_own_tables_are_back(spark: SparkSession) -> None:
    assert not spark.catalog.tableExists("main.default.of_a_pipeline_test")


def test_the_module_has_what_tests_import() -> None:
    module = ModuleType("pyspark.pipelines.testing")
    fill(module)
    assert sorted(module.__all__) == ["TestPipeline", "test_spark"]
    # pytest collects no class of the platform.
    assert not TestPipeline.__test__
    assert TestPipeline.active()._file == Path(__file__)


TWO = f"""{BUNDLE}
    q:
      name: q
      catalog: c
      schema: s
      libraries: [{{glob: {{include: other/**}}}}]
"""


@pytest.mark.parametrize(
    ("text", "file", "key"),
    [
        (BUNDLE, "tests/test_a.py", "p"),
        (TWO, "transformations/tests/test_a.py", "p"),
        (TWO, "other/tests/test_a.py", "q"),
        (TWO, "tests/test_a.py", "TEST_PIPELINE_AMBIGUOUS"),
        (TWO.replace("name: q", "name: q\n      root_path: ."), "tests/test_a.py", "TEST_PIPELINE_AMBIGUOUS"),
        (TWO.replace("name: q", "name: q\n      root_path: tests"), "tests/test_a.py", "q"),
        ("bundle: {name: b}\n", "tests/test_a.py", "TEST_PIPELINE_UNKNOWN"),
    ],
)
def test_the_pipeline_of_a_test_is_the_one_around_it(tmp_path: Path, text: str, file: str, key: str) -> None:
    for name in ("transformations", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("")
    (tmp_path / "databricks.yml").write_text(text)
    if key in ("p", "q"):
        assert pipeline_of(load(tmp_path), tmp_path / file) == key
    else:
        with pytest.raises(ConfigurationError) as caught:
            pipeline_of(load(tmp_path), tmp_path / file)
        assert caught.value.condition == key
