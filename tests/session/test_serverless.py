"""The profile `serverless`: what fails on serverless compute fails here, and nothing of ours does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from delta.tables import DeltaTable
from pyspark.errors import AnalysisException, PySparkAttributeError, PySparkNotImplementedError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from lakeward.session import SERVERLESS_LIMITS, Settings, allow_settings, refused_statement, session
from lakeward.session.patches import serverless_enforcement
from tests.processes import environ_without, outcome


@pytest.fixture
def serverless(spark: SparkSession, suite_settings: Settings) -> Iterator[SparkSession]:
    yield session(suite_settings.with_(profile="serverless"))
    session(suite_settings)


def refused(call: Any) -> Any:
    with pytest.raises(Exception) as caught:  # noqa: PT011  # the test looks at the exception's condition
        call()
    return caught.value


def test_every_limit_of_the_table_is_met_by_users_code(serverless: SparkSession) -> None:
    from pyspark import SparkContext

    frame = serverless.range(3)
    owners = {
        "SparkSession": serverless,
        "DataFrame": frame,
        "Catalog": serverless.catalog,
        "SparkContext": SparkContext,
    }
    given = {"createGlobalTempView": ["v"], "createOrReplaceGlobalTempView": ["v"]}
    given |= {name: ["t"] for name in ("cacheTable", "uncacheTable", "isCached", "refreshTable")}
    for limit in SERVERLESS_LIMITS:

        def use(limit: Any = limit) -> None:
            found = getattr(owners[limit.owner], limit.name)
            if callable(found):
                found(*given.get(limit.name, []))

        error = refused(use)
        assert error.getCondition() == limit.condition, (limit, error)
        assert str(error).startswith(f"[{limit.condition}] "), error


def test_the_messages_are_the_platforms(serverless: SparkSession) -> None:
    error = refused(serverless.range(1).cache)
    assert isinstance(error, AnalysisException)
    assert error.getSqlState() == "0A000"
    unsupported = "[NOT_SUPPORTED_WITH_SERVERLESS] PERSIST TABLE is not supported on serverless compute."
    assert str(error) == f"{unsupported} SQLSTATE: 0A000"
    error = refused(lambda: serverless.conf.set("spark.sql.adaptive.enabled", "false"))
    assert str(error) == (
        "[CONFIG_NOT_AVAILABLE] Configuration spark.sql.adaptive.enabled is not available. SQLSTATE: 42K0I"
    )
    assert refused(lambda: serverless.conf.get("spark.databricks.clusterUsageTags.clusterId", "none"))
    assert isinstance(refused(lambda: serverless.sparkContext), PySparkAttributeError)
    assert isinstance(refused(lambda: serverless.range(1).rdd), PySparkNotImplementedError)
    assert not hasattr(serverless, "_jvm")


@pytest.mark.parametrize("key", ["team.version", "spark.team.version"])
def test_pipelines_alone_set_other_settings(serverless: SparkSession, key: str) -> None:
    assert refused(lambda: serverless.conf.set(key, "1")).getCondition() == "CONFIG_NOT_AVAILABLE"
    with allow_settings():
        serverless.conf.set(key, "1")
    serverless.conf.unset(key)
    assert refused(lambda: serverless.conf.set(key, "1"))


@pytest.mark.parametrize(
    "statement",
    [
        "CACHE TABLE t",
        " -- why\n/* and how */ cache lazy table t",
        "REFRESH TABLE main.default.t",
        "CREATE OR REPLACE GLOBAL TEMP VIEW v AS SELECT 1",
        "SET spark.sql.adaptive.enabled = false",
    ],
)
def test_statements_are_refused_before_they_run(serverless: SparkSession, statement: str) -> None:
    assert refused(lambda: serverless.sql(statement)).getCondition() in (
        "NOT_SUPPORTED_WITH_SERVERLESS",
        "CONFIG_NOT_AVAILABLE",
    )


@pytest.mark.parametrize(
    "statement",
    ["SELECT 'CACHE TABLE t'", "SET spark.sql.ansi.enabled = false", "SET", "REFRESH MATERIALIZED VIEW v"],
)
def test_other_statements_are_let_through(statement: str) -> None:
    assert refused_statement(statement) is None


def test_streams_must_come_to_an_end(serverless: SparkSession, tmp_path: Path) -> None:
    serverless.range(3).write.save(str(tmp_path / "source"))
    stream = serverless.readStream.load(str(tmp_path / "source"))

    def writer(name: str) -> Any:
        return stream.writeStream.option("checkpointLocation", str(tmp_path / name))

    for unending in (writer("a"), writer("b").trigger(processingTime="1 second")):
        error = refused(lambda w=unending: w.start(str(tmp_path / "target")))
        assert error.getCondition() == "INFINITE_STREAMING_TRIGGER_NOT_SUPPORTED"
    writer("c").trigger(availableNow=True).start(str(tmp_path / "target")).awaitTermination()
    assert serverless.read.load(str(tmp_path / "target")).count() == 3


def test_what_spark_connect_can_do_works_for_users_as_ever(serverless: SparkSession, tmp_path: Path) -> None:
    """PySpark and Delta reach the JVM on the way; that is theirs to do."""
    double = F.udf(lambda n: n * 2, "long")
    frame = serverless.createDataFrame([(1,), (2,)], "id bigint").withColumn("twice", double("id"))
    frame.write.mode("overwrite").saveAsTable("main.default.on_serverless")
    table = DeltaTable.forName(serverless, "main.default.on_serverless")
    table.alias("t").merge(serverless.range(1, 4).alias("s"), "t.id = s.id").whenNotMatchedInsert(
        values={"id": "s.id", "twice": F.lit(0)}
    ).execute()
    assert serverless.table("main.default.on_serverless").agg(F.sum("twice")).first() == (6,)
    assert frame.toPandas().shape == (2, 2)
    serverless.conf.set("spark.sql.shuffle.partitions", "3")
    frame.createOrReplaceTempView("v")
    assert serverless.sql("SELECT count(*) FROM v").first() == (2,)


def test_other_runtimes_refuse_nothing(spark: SparkSession, suite_settings: Settings) -> None:
    session(suite_settings.with_(profile="serverless"))
    classic = session(suite_settings)
    assert classic.range(3).rdd.count() == 3
    assert classic.sparkContext is not None
    assert classic.range(1).cache().unpersist().count() == 1


def test_the_file_of_the_calling_code_decides_not_its_modules_name(serverless: SparkSession) -> None:
    def attribute_read(file: str, module: str) -> Callable[[SparkSession], object]:
        read: Callable[[SparkSession], object] = eval(
            compile("lambda spark: spark._jvm", file, "eval"), {"__name__": module}
        )
        return read

    folder = Path(str(pyspark.__file__)).parent
    assert attribute_read(f"{folder}/sql/new_module.py", "pyspark.sql.new_module")(serverless) is not None
    for file, module in (
        ("/repo/delta/merge.py", "delta.merge"),
        (f"{folder}_helpers/mine.py", "pyspark_helpers.mine"),
        ("<stdin>", "__main__"),
    ):
        read = attribute_read(file, module)
        assert refused(lambda read=read: read(serverless)).getCondition() == "JVM_ATTRIBUTE_NOT_SUPPORTED"
    assert serverless_enforcement._on


AFTER_STOP = """
import lakeward
lakeward.session()
from databricks.connect import DatabricksSession
from pyspark.sql import SparkSession

def is_refused(spark):
    try:
        spark.range(1).cache().unpersist()
    except Exception as error:
        assert "NOT_SUPPORTED_WITH_SERVERLESS" in str(error), error
        return True
    return False

CLASSIC = {
    "builder": lambda: SparkSession.builder.getOrCreate(),
    "with a master": lambda: SparkSession.builder.master("local[1]").getOrCreate(),
    "connect": lambda: DatabricksSession.builder.getOrCreate(),
    "cluster": lambda: DatabricksSession.builder.clusterId("1-2").getOrCreate(),
}
SERVERLESS = {
    "serverless": lambda: DatabricksSession.builder.serverless(True).getOrCreate(),
    "remote": lambda: DatabricksSession.builder.remote(serverless=True).getOrCreate(),
}
for number, (name, classic) in enumerate(CLASSIC.items()):
    first = list(SERVERLESS.values())[number % 2]()
    assert is_refused(first) and is_refused(SparkSession.builder.getOrCreate()), name
    first.stop()
    again = classic()
    assert not is_refused(again), name
    again.stop()
"""


@pytest.mark.process
@pytest.mark.spark
def test_the_choice_of_a_builder_ends_with_its_session(tmp_path: Path) -> None:
    """A fixture that stops a serverless session leaves the next builder the compute of the project."""
    env = environ_without("LAKEWARD_", "DATABRICKS_")
    ran = outcome([sys.executable, "-c", AFTER_STOP], cwd=tmp_path, env=env, timeout=240)
    assert ran.returncode == 0, ran.stderr[-2000:]
