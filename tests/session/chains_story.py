"""Ways to a session that users' code takes, each in turn in one process; prints what came of them as JSON."""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

heard: list[str] = []


class Hearing(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        heard.append(record.getMessage())


def facts(spark: Any) -> dict[str, Any]:
    """What tells our session from PySpark's, and what it kept of the user's."""
    return {
        "catalog": spark.catalog.currentCatalog(),
        "format": spark.conf.get("spark.sql.sources.default"),
        "jars": spark._sc.getConf().get("spark.jars").count("delta-spark"),
        "packages": spark._sc.getConf().get("spark.jars.packages", None),
        "extensions": spark._sc.getConf().get("spark.sql.extensions"),
    }


def works(spark: Any) -> int:
    """A Delta table by its bare name, in the session's catalog."""
    spark.sql("CREATE OR REPLACE TABLE chain AS SELECT 1 AS id")
    return int(spark.table("main.default.chain").count())


def main() -> None:
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--packages io.delta:delta-spark_2.12:3.0.0 pyspark-shell"
    from lakeward.session import install_builder_hook

    install_builder_hook()
    logging.getLogger("lakeward").addHandler(Hearing())
    from delta import configure_spark_with_delta_pip
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    out: dict[str, Any] = {}
    warehouse = Path(tempfile.mkdtemp())
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("tests")
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.shuffle.partitions", 3)
        .config("spark.sql.warehouse.dir", str(warehouse))
        .config("my.own", "kept")
        .enableHiveSupport()
    )
    spark = configure_spark_with_delta_pip(builder).getOrCreate()
    out["delta_pip"] = facts(spark) | {"count": works(spark), "app": spark._sc.appName}
    out["delta_pip"]["partitions"] = spark.conf.get("spark.sql.shuffle.partitions")
    out["delta_pip"]["own"] = spark.conf.get("my.own")
    out["warehouse"] = sorted(str(p.relative_to(warehouse)) for p in warehouse.glob("*/*/*"))
    out["hive"] = spark.conf.get("spark.sql.catalogImplementation", "in-memory")

    again = SparkSession.builder.config(map={"spark.sql.shuffle.partitions": 5, "mine": True}).getOrCreate()
    out["same"] = again is spark
    out["applied"] = [again.conf.get("spark.sql.shuffle.partitions"), again.conf.get("mine")]
    for _ in range(2):
        SparkSession.builder.master("local[1]").config("spark.driver.memory", "9g").getOrCreate()
    out["heard"] = list(heard)
    out["active"] = SparkSession.getActiveSession() is spark and SparkSession.active() is spark

    fresh = spark.newSession()
    out["new_session"] = facts(fresh) | {"count": fresh.table("chain").count(), "other": fresh is not spark}
    made = SparkSession.builder.config("spark.sql.shuffle.partitions", 7).create()
    out["created"] = facts(made) | {
        "count": made.table("chain").count(),
        "partitions": [s.conf.get("spark.sql.shuffle.partitions") for s in (made, spark)],
    }

    spark.stop()
    out["stopped"] = SparkSession.getActiveSession() is None
    conf = SparkConf().setMaster("local[1]").setAppName("second").set("spark.sql.shuffle.partitions", "2")
    second = SparkSession.builder.config(conf=conf).getOrCreate()
    out["second"] = facts(second) | {"count": works(second), "master": second._sc.master}
    second.stop()

    context = SparkContext(conf=SparkConf().setMaster("local[2]").setAppName("rdd").set("spark.own", "1"))
    third = SparkSession.builder.getOrCreate()
    out["context"] = facts(third) | {
        "count": works(third),
        "same": third._sc is context,
        "sum": context.parallelize([1, 2, 3]).sum(),
        "own": context.getConf().get("spark.own"),
        "wrapped": SparkSession(context).catalog.currentCatalog(),
    }
    third.stop()
    context = SparkContext.getOrCreate()
    out["get_or_create"] = facts(SparkSession.builder.getOrCreate()) | {"cores": context.defaultParallelism}
    SparkSession.builder.getOrCreate().stop()

    with SparkSession.builder.getOrCreate() as managed:
        out["with"] = works(managed)

    from databricks.connect import DatabricksSession
    from databricks.connect.session import DatabricksSession as Same

    remote = (
        DatabricksSession.builder.remote(host="https://example.cloud", token="t", cluster_id="1-2-3")
        .profile("DEFAULT")
        .validateSession(False)
        .userAgent("tests")
        .config("spark.sql.shuffle.partitions", 4)
        .appName("tests")
        .getOrCreate()
    )
    out["connect"] = facts(remote) | {
        "count": works(remote),
        "partitions": remote.conf.get("spark.sql.shuffle.partitions"),
        "same": DatabricksSession.builder.clusterId("1-2-3").getOrCreate() is remote,
        "other": DatabricksSession.builder.create() is not remote,
        "one_class": Same is DatabricksSession,
    }
    out["submit_args"] = os.environ["PYSPARK_SUBMIT_ARGS"]
    remote.stop()
    json.dump(out, sys.__stdout__)


main()
