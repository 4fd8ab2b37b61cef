"""Databricks runtimes that clusters can be created with."""

from __future__ import annotations

from typing import Any

from lakeward.databricks_shims.local_workspace.api_request import ApiRequest
from lakeward.session import PROFILES


def spark_versions(_: ApiRequest) -> dict[str, Any]:
    """List the runtimes that lakeward has a profile for."""
    versions = []
    for profile in PROFILES.values():
        if not profile.spark:
            continue
        scala = profile.spark_version.rpartition("scala")[2]
        name = f"{profile.name} LTS (includes Apache Spark {profile.spark}, Scala {scala})"
        versions.append({"key": profile.spark_version, "name": name})
    return {"versions": versions}
