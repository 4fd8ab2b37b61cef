"""Settings: what a session gets, and that the user's own always win."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import ConfigurationError
from lakeward.session import Settings, get_profile
from lakeward.session.configuration.session_conf import base_conf, merge_conf


def conf(tmp_path: Path, **changes: object) -> dict[str, str]:
    settings = Settings.here(tmp_path, environ={}).with_(**changes)
    return base_conf(
        settings, jars=[Path("/jars/a.jar")], paths=[("/Volumes", "/v")], catalogs=["main", "dev"], cores=2
    )


def test_a_catalog_is_one_setting_and_the_default_is_the_sessions(tmp_path: Path) -> None:
    out = conf(tmp_path, catalog="dev")
    assert out["spark.sql.catalog.dev"] == out["spark.sql.catalog.main"] == "lakeward.Catalog"
    assert out["spark.sql.defaultCatalog"] == "dev"


@pytest.mark.parametrize(
    ("name", "ansi"), [("serverless", "true"), ("17.3", "true"), ("15.4.x-scala2.12", "false")]
)
def test_a_profile_sets_ansi_as_its_runtime_has_it_and_utc(tmp_path: Path, name: str, ansi: str) -> None:
    out = conf(tmp_path, profile=name)
    assert (out["spark.sql.ansi.enabled"], out["spark.sql.session.timeZone"]) == (ansi, "Etc/UTC")


def test_an_unknown_profile_names_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"9\.9.*17\.3"):
        get_profile("9.9")


def test_mounted_schemes_get_the_mapped_file_system_and_safe_commits(tmp_path: Path) -> None:
    settings = Settings.here(tmp_path, environ={})
    out = base_conf(settings, jars=[], paths=[("s3://bucket/", "/b")], catalogs=[], cores=1)
    for scheme in ("file", "dbfs", "s3"):
        assert out[f"spark.hadoop.fs.{scheme}.impl"] == "lakeward.MappedFileSystem"
        assert out[f"spark.delta.logStore.{scheme}.impl"] == "lakeward.LinkLogStore"
    assert out["spark.hadoop.fs.gs.impl"] == "lakeward.UnmappedFileSystem"
    assert "spark.delta.logStore.gs.impl" not in out


@given(
    st.dictionaries(
        st.sampled_from(["spark.master", "spark.sql.ansi.enabled", "spark.x", "spark.ui.enabled"]), st.text()
    )
)
def test_the_users_settings_win(user: dict[str, str]) -> None:
    base = {"spark.master": "local[2]", "spark.sql.ansi.enabled": "true", "spark.ui.enabled": "false"}
    assert merge_conf(base, user) == {**base, **user}


@pytest.mark.parametrize("reader", ["spark.ui.enabled", "spark.eventLog.enabled"])
def test_plans_are_written_in_full_for_those_who_read_them(reader: str) -> None:
    key = "spark.sql.ui.explainMode"
    base = {key: "simple"}
    assert merge_conf(base, {reader: "false"})[key] == "simple"
    assert merge_conf(base, {reader: "true"}) == {reader: "true"}
    assert merge_conf(base, {reader: "true", key: "cost"})[key] == "cost"


def test_extensions_and_jars_of_the_user_are_added_to_ours() -> None:
    base = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,lakeward.Extension",
        "spark.jars": "/a.jar",
    }
    user = {"spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,my.Ext", "spark.jars": "/b.jar"}
    assert merge_conf(base, user) == {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,lakeward.Extension,my.Ext",
        "spark.jars": "/a.jar,/b.jar",
    }


def test_deltas_package_is_not_resolved_a_second_time() -> None:
    assert merge_conf({}, {"spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0"}) == {}
    both = {"spark.jars.packages": "io.delta:delta-spark_2.13:4.0.0,org.x:y:1"}
    assert merge_conf({}, both)["spark.jars.packages"] == "org.x:y:1"


def test_a_folder_is_reported_as_hadoop_reads_it(tmp_path: Path) -> None:
    settings = Settings.here(tmp_path / "my project", environ={})
    out = base_conf(settings, jars=[], paths=[], catalogs=[], cores=1)
    assert out["spark.sql.warehouse.dir"] == f"file://{settings.warehouse}"
