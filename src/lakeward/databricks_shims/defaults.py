"""Spark settings of the platform that code reads, with their local values. The user's own values win."""

from __future__ import annotations

import json
from dataclasses import dataclass

_TAGS = "spark.databricks.clusterUsageTags."
_LOCAL = "lakeward-local"
_TOKENS = "com.databricks.backend.daemon.data.client.adl."


@dataclass(frozen=True)
class Default:
    """One setting: its local value (`{release}` and `{user}` are replaced) and its use on the platform.

    `serverless` is whether serverless compute has it too.
    """

    key: str
    value: str
    about: str
    serverless: bool = False


DEFAULTS: tuple[Default, ...] = (
    Default("spark.databricks.workspaceUrl", "lakeward.localhost", "host of the workspace", serverless=True),
    Default("spark.databricks.cloudProvider", "AWS", "AWS, Azure or GCP"),
    Default("spark.databricks.cluster.profile", "singleNode", "singleNode or serverless"),
    Default("spark.databricks.clusterSource", "JOB", "UI, API or JOB"),
    # Frameworks for serverless pipelines (dlt-meta, lakeflow_framework) read tables by name where it is true.
    Default(
        *("spark.databricks.unityCatalog.enabled", "true", "whether the compute uses Unity Catalog"),
        serverless=True,
    ),
    Default("spark.databricks.passthrough.enabled", "false", "credential passthrough"),
    # Mounts with credential passthrough read these, which every cluster of Azure has:
    # https://learn.microsoft.com/azure/databricks/archive/credential-passthrough/adls-passthrough
    Default(
        "spark.databricks.passthrough.adls.tokenProviderClassName",
        _TOKENS + "AdlCredentialContextTokenProvider",
        "token provider of mounts with credential passthrough",
    ),
    Default(
        "spark.databricks.passthrough.adls.gen2.tokenProviderClassName",
        _TOKENS + "AdlGen2CredentialContextTokenProvider",
        "token provider of mounts with credential passthrough",
    ),
    # Code for old versions of Databricks Connect takes dbutils from `DBUtils(spark)` if it is true, else
    # from IPython: https://docs.databricks.com/aws/en/archive/dev-tools/dbconnect-legacy
    Default("spark.databricks.service.client.enabled", "false", "true outside of the cluster"),
    Default("spark.databricks.io.cache.enabled", "false", "the disk cache"),
    Default("spark.databricks.delta.preview.enabled", "true", "Delta Lake"),
    Default(_TAGS + "clusterId", _LOCAL, "id of the cluster"),
    Default(_TAGS + "clusterName", "lakeward", "name of the cluster"),
    Default(_TAGS + "clusterAllTags", "{tags}", "its tags, as a JSON list of key and value"),
    Default(_TAGS + "clusterCreator", "JobLauncher", "what has started it"),
    Default(_TAGS + "clusterOwnerOrgId", "0", "id of the workspace"),
    Default(_TAGS + "orgId", "0", "id of the workspace"),
    Default(_TAGS + "clusterState", "Running", "state of the cluster"),
    Default(_TAGS + "clusterScalingType", "fixed_size", "fixed_size or autoscaling"),
    Default(_TAGS + "clusterWorkers", "0", "number of workers"),
    Default(_TAGS + "clusterTargetWorkers", "0", "requested number of workers"),
    Default(_TAGS + "clusterMinWorkers", "0", "autoscaling's lower end"),
    Default(_TAGS + "clusterMaxWorkers", "0", "autoscaling's upper end"),
    Default(_TAGS + "clusterNodeType", _LOCAL, "node type of the workers"),
    Default(_TAGS + "driverNodeType", _LOCAL, "node type of the driver"),
    Default(_TAGS + "containerType", "LXC", "kind of container"),
    Default(_TAGS + "cloudProvider", "AWS", "AWS, Azure or GCP"),
    Default(_TAGS + "dataPlaneRegion", "local", "region of the cluster"),
    Default(_TAGS + "region", "local", "region of the cluster"),
    Default(_TAGS + "isSingleUserCluster", "true", "access mode"),
    Default(_TAGS + "sparkVersion", "{release}.x-scala{scala}", "the runtime"),
    Default(_TAGS + "effectiveSparkVersion", "{release}.x-scala{scala}", "the runtime"),
    Default(_TAGS + "runtimeEngine", "STANDARD", "STANDARD or PHOTON"),
    Default(_TAGS + "userId", "{user}", "who has started it"),
)


def release(profile: str) -> str:
    """Return the release of a runtime profile: `15.4` of `15.4.x-scala2.12`."""
    return profile.split(".x-", 1)[0]


def defaults(profile: str, user: str) -> dict[str, str]:
    """Return the settings of a runtime profile for a user."""
    serverless = profile == "serverless"
    number = release(profile)
    scala = "2.13" if serverless or int(number.split(".", 1)[0]) >= 17 else "2.12"
    tags = {"Vendor": "Databricks", "Creator": user, "ClusterName": "lakeward", "ClusterId": _LOCAL}
    listed = json.dumps([{"key": key, "value": value} for key, value in tags.items()])
    filled = {"{release}": number, "{scala}": scala, "{user}": user, "{tags}": listed}
    out = {}
    for row in DEFAULTS:
        if serverless and not row.serverless:
            continue
        value = row.value
        for mark, text in filled.items():
            value = value.replace(mark, text)
        out[row.key] = value
    return out
