"""Users' own Spark settings: what is kept, what is left out, and what is said when it is too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.session.builders import wants_connect
from lakeward.session.conf import merged
from lakeward.session.user_conf import contradictions, from_submit_args, kept, local_folder, warning


@pytest.mark.parametrize(
    "delta",
    [
        "io.delta:delta-core_2.12:2.4.0",
        "io.delta:delta-spark_4.2_2.13:4.4.0",
        "io.delta:delta-storage:3.0.0",
        "/opt/jars/delta-spark_2.12-3.1.0.jar",
        "file:///jars/delta-storage-3.1.0.jar",
    ],
)
def test_delta_is_never_there_twice(delta: str) -> None:
    assert kept({"spark.jars.packages": delta, "spark.jars": delta}) == {}
    assert kept({"spark.jars.packages": f"org.x:y:1,{delta}"}) == {"spark.jars.packages": "org.x:y:1"}


def test_other_packages_of_the_same_house_are_kept() -> None:
    sharing = {"spark.jars.packages": "io.delta:delta-sharing-spark_2.13:3.1.0"}
    assert kept(sharing) == sharing


def test_packages_do_not_bring_delta_along() -> None:
    out = merged({}, {"spark.jars.packages": "org.x:y:1", "spark.jars.excludes": "org.x:z"})
    assert out["spark.jars.excludes"].split(",") == [
        "org.x:z",
        "io.delta:delta-spark*",
        "io.delta:delta-storage*",
        "io.delta:delta-kernel*",
    ]


def test_values_are_text_as_spark_has_it() -> None:
    assert kept({"a": True, "b": 3, "c": None}) == {"a": "true", "b": "3"}


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
    assert "spark.jars.packages=org.x:y:1 take no effect" in warning(contradictions(late, running))


def test_options_for_spark_submit_are_settings_like_others() -> None:
    conf, rest = from_submit_args("--master local[3] --packages=a:b:1 --conf spark.x=y=z -v pyspark-shell")
    assert conf == {"spark.master": "local[3]", "spark.jars.packages": "a:b:1", "spark.x": "y=z"}
    assert rest == "-v pyspark-shell"


def test_a_warehouse_elsewhere_is_no_folder() -> None:
    assert local_folder("s3a://bucket/w") is None
    assert local_folder("") is None
    assert local_folder("spark-warehouse") == Path("spark-warehouse").absolute()


def test_spark_connect_is_pysparks_own_business(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "SPARK_API_MODE"):
        monkeypatch.delenv(name, raising=False)
    assert not wants_connect({"spark.master": "local[2]"})
    assert wants_connect({"spark.remote": "sc://example:15002"})
    assert wants_connect({"spark.api.mode": "connect"})
    monkeypatch.setenv("SPARK_REMOTE", "sc://example:15002")
    assert wants_connect({})
