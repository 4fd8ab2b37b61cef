"""Users' own Spark settings: what is kept, what is left out, and what is said when it is too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.session import DEFAULT_PROFILE, Settings, active_session
from lakeward.session.configuration.session_conf import merge_conf
from lakeward.session.configuration.user_conf import (
    contradictions,
    from_submit_args,
    late_settings_warning,
    usable_settings,
)
from lakeward.session.entry_points.session_builder_patch import settings_for, wants_connect


@pytest.mark.parametrize(
    "included",
    [
        "org.apache.spark:spark-avro_2.12:3.5.0",
        "/opt/jars/spark-avro_2.13-4.2.0.jar",
        "io.delta:delta-core_2.12:2.4.0",
        "io.delta:delta-spark_4.2_2.13:4.4.0",
        "io.delta:delta-storage:3.0.0",
        "/opt/jars/delta-spark_2.12-3.1.0.jar",
        "file:///jars/delta-storage-3.1.0.jar",
    ],
)
def test_what_every_session_has_is_never_there_twice(included: str) -> None:
    assert usable_settings({"spark.jars.packages": included, "spark.jars": included}) == {}
    assert usable_settings({"spark.jars.packages": f"org.x:y:1,{included}"}) == {
        "spark.jars.packages": "org.x:y:1"
    }


@pytest.mark.parametrize("value", ["auto", "AUTO", " auto "])
def test_automatic_shuffle_partitions_are_those_of_the_session(value: str) -> None:
    """Clusters of bundles and builders of sessions name it; Spark refuses the word."""
    wanted = {"spark.sql.shuffle.partitions": value, "spark.x": "auto"}
    assert usable_settings(wanted) == {"spark.x": "auto"}
    assert merge_conf({"spark.sql.shuffle.partitions": "4"}, wanted)["spark.sql.shuffle.partitions"] == "4"


@pytest.mark.parametrize("value", ["auto", "Legacy", True])
def test_automatic_compaction_of_a_cluster_is_on(value: object) -> None:
    key = "spark.databricks.delta.autoCompact.enabled"
    assert usable_settings({key: value}) == {key: "true"}


def test_other_packages_of_the_same_house_are_kept() -> None:
    sharing = {"spark.jars.packages": "io.delta:delta-sharing-spark_2.13:3.1.0"}
    assert usable_settings(sharing) == sharing


def test_packages_do_not_bring_delta_along() -> None:
    out = merge_conf({}, {"spark.jars.packages": "org.x:y:1", "spark.jars.excludes": "org.x:z"})
    assert out["spark.jars.excludes"].split(",") == [
        "org.x:z",
        "io.delta:delta-spark*",
        "io.delta:delta-storage*",
        "io.delta:delta-kernel*",
        "org.apache.spark:spark-avro*",
    ]


@pytest.mark.parametrize(
    ("user", "is_another_name"),
    [
        ({"spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog"}, True),
        ({"spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog"}, False),
        (
            {
                "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
                "spark.sql.defaultCatalog": "dev",
            },
            False,
        ),
        ({}, False),
    ],
)
def test_who_sets_up_delta_as_open_source_has_it_begins_in_spark_catalog(
    user: dict[str, str], is_another_name: bool
) -> None:
    assert ("spark.sql.lakeward.sparkCatalogIsDefault" in usable_settings(user)) is is_another_name


def test_values_are_text_as_spark_has_it() -> None:
    assert usable_settings({"a": True, "b": 3, "c": None}) == {"a": "true", "b": "3"}


def test_only_what_a_session_cannot_change_contradicts_it() -> None:
    running = {
        "spark.master": "local[2]",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,lakeward.Extension",
        "spark.sql.warehouse.dir": "file:/w",
    }
    harmless = {
        "spark.master": "local[2]",
        "spark.app.name": "other",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.warehouse.dir": "/w",
        "spark.sql.shuffle.partitions": "9",
        "spark.databricks.delta.retentionDurationCheck.enabled": "false",
        "my.own": "1",
    }
    assert contradictions(harmless, running) == {}
    late = {"spark.master": "local[4]", "spark.sql.extensions": "my.Ext", "spark.jars.packages": "org.x:y:1"}
    assert contradictions(late, running).keys() == late.keys()
    assert "spark.jars.packages=org.x:y:1 take no effect" in late_settings_warning(
        contradictions(late, running)
    )


def test_options_for_spark_submit_are_settings_like_others() -> None:
    conf, rest = from_submit_args("--master local[3] --packages=a:b:1 --conf spark.x=y=z -v pyspark-shell")
    assert conf == {"spark.master": "local[3]", "spark.jars.packages": "a:b:1", "spark.x": "y=z"}
    assert rest == "-v pyspark-shell"


def test_spark_connect_is_pysparks_own_business(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_API_MODE"):
        monkeypatch.delenv(name, raising=False)
    assert not wants_connect({"spark.master": "local[2]"})
    assert wants_connect({"spark.remote": "sc://example:15002"})
    assert wants_connect({"spark.api.mode": "connect"})
    monkeypatch.setenv("SPARK_REMOTE", "sc://example:15002")
    assert wants_connect({})


@pytest.fixture
def nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LAKEWARD_PROFILE", raising=False)
    monkeypatch.setattr(active_session, "_settings", None)
    monkeypatch.setattr(
        active_session, "_default", lambda: Settings.here(tmp_path, environ={}, profile="serverless")
    )
    monkeypatch.setattr(active_session, "is_running", lambda: False)


@pytest.mark.usefixtures("nothing_runs")
def test_a_builder_decides_where_tables_are_and_which_runtime_it_is(tmp_path: Path) -> None:
    def made(options: dict[str, str], profile: str | None = None) -> Settings:
        return settings_for(options, profile) or active_session.default_settings()

    assert made({}).profile == "serverless"
    assert made({"spark.master": "local[2]"}).profile == DEFAULT_PROFILE, "serverless compute has no master"
    assert made({"spark.master": "local[2]"}, "serverless").profile == "serverless", "it was requested"
    assert made({"spark.sql.warehouse.dir": f"file:{tmp_path}/w"}).warehouse == tmp_path / "w"
    assert made({"spark.sql.warehouse.dir": "s3a://b/w"}).warehouse_dir is None
    assert made({"spark.sql.defaultCatalog": "dev"}).catalog == "dev"


@pytest.mark.usefixtures("nothing_runs")
def test_a_runtime_that_was_set_on_purpose_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAKEWARD_PROFILE", "serverless")
    kept = settings_for({"spark.master": "local[2]"}, "15.4")
    assert kept is not None and kept.profile == "serverless"


def test_modules_of_spark_and_hadoop_come_as_this_spark_has_them() -> None:
    packages = (
        "org.apache.spark:spark-protobuf_2.12:3.5.4, org.apache.hadoop:hadoop-azure:3.3.2,"
        "org.apache.hadoop:hadoop-common:3.3.2,io.delta:delta-spark_2.12:3.1.0,org.xerial:sqlite-jdbc:3.50.3.0"
    )
    assert usable_settings({"spark.jars.packages": packages})["spark.jars.packages"].split(",") == [
        "org.apache.spark:spark-protobuf_2.13:4.2.0",
        "org.apache.hadoop:hadoop-azure:3.5.0",
        "org.xerial:sqlite-jdbc:3.50.3.0",
    ]
    assert usable_settings({"spark.jars.packages": "org.apache.hadoop:hadoop-common:3.3.2"}) == {}


def test_the_versions_of_modules_are_those_of_the_jars_that_are_installed() -> None:
    import pyspark

    jars = {jar.name for jar in (Path(pyspark.__file__).parent / "jars").iterdir()}
    said = usable_settings(
        {"spark.jars.packages": "org.apache.spark:spark-x_2.12:1,org.apache.hadoop:hadoop-x:1"}
    )
    spark, hadoop = (each.rpartition(":")[2] for each in said["spark.jars.packages"].split(","))
    assert {f"spark-sql_2.13-{spark}.jar", f"hadoop-client-api-{hadoop}.jar"} <= jars
