"""Settings of the platform, by runtime profile."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.check import check
from lakeward.databricks_shims.defaults import DEFAULTS, defaults
from lakeward.session.runtimes.profiles import PROFILES

VERSION = "spark.databricks.clusterUsageTags.sparkVersion"


@pytest.mark.parametrize("profile", PROFILES)
def test_every_mark_in_a_value_is_filled_in(profile: str) -> None:
    for key, value in defaults(profile, "ada").items():
        if not key.endswith("clusterAllTags"):
            assert "{" not in value, key


def test_the_version_is_that_of_the_profile() -> None:
    assert defaults("15.4", "ada")[VERSION] == "15.4.x-scala2.12"
    assert defaults("17.3", "ada")[VERSION] == "17.3.x-scala2.13"


def test_serverless_has_no_cluster_to_tell_of() -> None:
    assert defaults("serverless", "ada") == {
        "spark.databricks.workspaceUrl": "lakeward.localhost",
        "spark.databricks.unityCatalog.enabled": "true",
    }


def test_a_key_is_declared_once() -> None:
    keys = [row.key for row in DEFAULTS]
    assert len(set(keys)) == len(keys)


TOKENS = "com.databricks.backend.daemon.data.client.adl."
READ_WITHOUT_A_DEFAULT = {
    "spark.databricks.service.client.enabled": "false",
    "spark.databricks.passthrough.adls.tokenProviderClassName": TOKENS + "AdlCredentialContextTokenProvider",
    "spark.databricks.passthrough.adls.gen2.tokenProviderClassName": TOKENS
    + "AdlGen2CredentialContextTokenProvider",
}


@pytest.mark.parametrize("profile", [profile for profile in PROFILES if profile != "serverless"])
def test_helpers_of_the_guides_read_settings_that_have_a_value(profile: str) -> None:
    found = defaults(profile, "ada")
    assert {key: found.get(key) for key in READ_WITHOUT_A_DEFAULT} == READ_WITHOUT_A_DEFAULT


def test_check_accepts_them(tmp_path: Path) -> None:
    lines = [f'spark.conf.get("{key}")\n' for key in READ_WITHOUT_A_DEFAULT]
    (tmp_path / "mounts.py").write_text("# Databricks notebook source\n" + "".join(lines))
    assert check(tmp_path, profile="16.4", environ={}).of("refused") == ()
