"""One session a process, on the requested lakehouse."""

from __future__ import annotations

import importlib.metadata
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import pyspark
import pyspark.version
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from lakeward.session import (
    Settings,
    install_builder_hook,
    schema_only_tables,
    session,
    uninstall_builder_hook,
)
from lakeward.session.patches.spark_version import use_profile
from lakeward.spark_internals import jvm_view


def test_the_same_settings_give_the_same_session(spark: SparkSession, suite_settings: Settings) -> None:
    assert session(suite_settings) is spark
    assert session() is spark


def test_other_settings_give_another_lakehouse_in_the_same_jvm(
    spark: SparkSession, suite_settings: Settings, tmp_path: Path
) -> None:
    spark.sql("CREATE OR REPLACE TABLE main.default.here AS SELECT 1 AS id")
    other = session(Settings.here(tmp_path, environ={}, target="dev", catalog="dev", schema="bronze"))
    assert other.sql("SELECT current_catalog(), current_schema()").first() == ("dev", "bronze")
    assert not other.catalog.tableExists("main.default.here")
    other.sql("CREATE TABLE t AS SELECT 2 AS id")
    assert (tmp_path / ".lakeward/dev/warehouse/dev/bronze/t/_delta_log").is_dir()
    assert session(suite_settings).table("main.default.here").count() == 1


def test_the_builder_gives_lakewards_session_with_the_users_settings(spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.shuffle.partitions")
    built = SparkSession.builder.appName("mine").config("spark.sql.shuffle.partitions", "7").getOrCreate()
    assert built is spark
    assert built.conf.get("spark.sql.shuffle.partitions") == "7"
    # Unset, it would be Spark's 200 for all tests that follow.
    spark.conf.set("spark.sql.shuffle.partitions", before)


@pytest.mark.usefixtures("spark")
def test_the_hook_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_hooked() -> bool:
        return SparkSession.Builder.getOrCreate.__qualname__.startswith("_get_or_create")

    assert is_hooked()
    uninstall_builder_hook()
    try:
        with monkeypatch.context() as patch:
            patch.setenv("LAKEWARD_DISABLE", "1")
            install_builder_hook()
            assert not is_hooked()
    finally:
        install_builder_hook()
    assert is_hooked()


def test_session_follows_the_runtime_profile(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    assert spark.sql("SELECT current_timezone()").first()[0] == "Etc/UTC"


def test_the_version_of_spark_is_the_runtimes(spark: SparkSession) -> None:
    own = spark.version
    try:
        for runtime, version in (("16.4", "3.5.2"), ("17.3.x-scala2.13", "4.0.0"), ("serverless", own)):
            use_profile(runtime)
            assert spark.version == version
    finally:
        use_profile("19.3")
    assert spark.version == own


def test_the_version_of_the_package_is_the_runtimes_if_its_classes_are(spark: SparkSession) -> None:
    own = importlib.metadata.version("pyspark")
    versions = {"17.3": "4.0.0", "16.4": own, "18.3": "4.1.0", "serverless": own, "13.3": own, "19.3": own}
    try:
        for runtime, version in versions.items():
            use_profile(runtime)
            assert (runtime, pyspark.__version__, pyspark.version.__version__) == (runtime, version, version)
    finally:
        use_profile("19.3")


def test_volumes_dbfs_and_files_are_one_disk_under_the_users_names(
    spark: SparkSession, suite_settings: Settings, tmp_path: Path
) -> None:
    spark.sql("CREATE VOLUME IF NOT EXISTS main.default.landing")
    spark.range(3).write.mode("overwrite").json("/Volumes/main/default/landing/x")
    rows = spark.read.json("/Volumes/main/default/landing/x").select("id", "_metadata.file_path").collect()
    assert sorted(r.id for r in rows) == [0, 1, 2]
    assert all(r.file_path.startswith("file:/Volumes/main/default/landing/x/") for r in rows)
    assert spark.read.json("dbfs:/Volumes/main/default/landing/x").count() == 3
    assert spark.read.json("/Volumes/main/*/landing/x/*.json").count() == 3
    assert list((suite_settings.volumes / "main/default/landing/x").glob("*.json"))
    spark.range(2).write.mode("overwrite").save("dbfs:/tmp/d")
    assert (
        spark.read.load("/dbfs/tmp/d").count() == spark.sql("SELECT * FROM delta.`dbfs:/tmp/d`").count() == 2
    )
    spark.range(4).write.save(str(tmp_path / "plain"))
    assert spark.read.load((tmp_path / "plain").as_uri()).count() == 4


def test_a_condition_of_500_columns_is_analyzed(spark: SparkSession) -> None:
    """Spark's analysis is as deep as the condition."""
    conditions = [F.col("id") == number for number in range(500)]
    assert spark.range(3).where(reduce(or_, conditions)).columns == ["id"]


def test_planned_datasets_read_as_empty_tables_until_the_block_ends(spark: SparkSession) -> None:
    with schema_only_tables(spark) as planning:
        planning.add("main.nowhere.raw", StructType.fromDDL("id BIGINT, at TIMESTAMP"))
        assert spark.table("main.nowhere.RAW").columns == ["id", "at"]
        assert spark.readStream.table("main.nowhere.raw").isStreaming
        assert spark.sql("SELECT * FROM STREAM(main.nowhere.raw)").isStreaming
        assert spark.table("main.nowhere.raw").count() == 0
    assert not spark.catalog.tableExists("main.nowhere.raw")


def test_a_python_function_over_the_rows_of_a_file_comes_to_an_end(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Columnar batches handed to a Python worker hang in Spark 4.2; they must not be on by default."""
    spark.range(100).write.parquet(str(tmp_path / "rows"))
    double = F.udf(lambda n: n * 2, "long")
    assert spark.read.parquet(str(tmp_path / "rows")).select(F.sum(double("id"))).first() == (9900,)


def test_the_jvm_compiles_only_what_runs_long(spark: SparkSession) -> None:
    """The JVM itself tells which options it has taken; a user's option after ours would win."""
    bean: Any = jvm_view(spark).java.lang.management.ManagementFactory.getPlatformMXBean(
        jvm_view(spark).java.lang.Class.forName("com.sun.management.HotSpotDiagnosticMXBean")
    )
    taken = {
        name: int(bean.getVMOption(name).getValue())
        for name in ("Tier4InvocationThreshold", "Tier4CompileThreshold", "Tier4BackEdgeThreshold")
    }
    assert taken == {
        "Tier4InvocationThreshold": 10 * 5_000,
        "Tier4CompileThreshold": 10 * 15_000,
        "Tier4BackEdgeThreshold": 10 * 40_000,
    }
