"""Settings of the platform, by runtime profile."""

from __future__ import annotations

import pytest

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
