"""Which runtime a session is like, and what follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import ConfigurationError
from lakeward.session import Settings, find_profile, get_profile


@pytest.mark.parametrize(
    ("name", "short", "ansi", "key"),
    [
        ("17.3.x-scala2.13", "17.3", True, "17.3.x-scala2.13"),
        ("17.1.x-photon-scala2.13", "17.1", True, "17.1.x-scala2.13"),
        ("15.4.x-cpu-ml-scala2.12", "15.4", False, "15.4.x-scala2.12"),
        ("16.3", "16.3", False, "16.3.x-scala2.12"),
        ("auto:latest-lts", "19.3", True, "19.3.x-scala2.13"),
    ],
)
def test_runtimes_are_known_by_the_keys_that_clusters_are_made_with(
    name: str, short: str, ansi: bool, key: str
) -> None:
    found = get_profile(name)
    assert (found.name, found.ansi, found.spark_version) == (short, ansi, key)
    assert found.conf()["spark.databricks.clusterUsageTags.sparkVersion"] == key


@pytest.mark.parametrize("name", ["9.1", "latest", "", "17"])
def test_what_is_no_runtime_is_none(name: str) -> None:
    assert find_profile(name) is None


def test_the_projects_runtime_is_its_sessions(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.lakeward]\nruntime = "15.4"\n')
    (tmp_path / "src").mkdir()
    assert Settings.here(tmp_path / "src", environ={}).profile == "15.4"
    assert Settings.here(tmp_path, environ={}, profile="serverless").profile == "serverless"
    assert Settings.here(tmp_path, environ={"LAKEWARD_PROFILE": "16.4"}, profile="17.3").profile == "16.4"


def test_a_project_file_that_is_no_toml_is_said_to_be(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.lakeward\n")
    with pytest.raises(ConfigurationError, match=r"pyproject\.toml is not valid TOML"):
        Settings.here(tmp_path, environ={})
    (tmp_path / "pyproject.toml").write_text('[tool]\nlakeward = "15.4"\n')
    with pytest.raises(ConfigurationError, match=r"`tool\.lakeward` is not a table"):
        Settings.here(tmp_path, environ={})
