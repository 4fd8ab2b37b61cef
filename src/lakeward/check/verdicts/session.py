"""Sessions and DataFrames: what serverless compute refuses, settings, and where data is read from."""

from __future__ import annotations

from lakeward.check.model import STREAM_STARTS, WITHOUT_TRIGGER, Fact, Use
from lakeward.check.verdicts.words import NOTHING, SERVED
from lakeward.databricks_shims import DEFAULTS
from lakeward.session import (
    CONNECTORS,
    SERVERLESS_LIMITS,
    SERVERLESS_SETTINGS,
    SERVERLESS_TRIGGERS,
    refused_statement,
)

_OWNERS = {
    "spark": "SparkSession",
    "frame": "DataFrame",
    "catalog": "Catalog",
    "context_class": "SparkContext",
}
_LIMITS = {(limit.owner, limit.name): limit for limit in SERVERLESS_LIMITS}
_DEFAULTS = {row.key: row for row in DEFAULTS}
_TRIGGER = "INFINITE_STREAMING_TRIGGER_NOT_SUPPORTED there: use trigger(availableNow=True)."


def attribute(use: Use) -> Fact | None:
    """Return the verdict on an attribute of a session, DataFrame or catalog; None if it runs everywhere."""
    owner, _, name = use.name.partition(".")
    if owner == "builder" and name == "getOrCreate":
        return Fact(
            "SparkSession.builder", "runs_with_lakeward", "Nothing to do: it gives lakeward's session."
        )
    if owner == "stream_writer":
        return _trigger(name, use.detail)
    limit = _LIMITS.get((_OWNERS.get(owner, ""), name))
    if limit is None:
        return None
    return Fact(f"{limit.owner}.{name}", "fails_on_serverless", f"{limit.condition} there: {limit.instead}.")


def _trigger(step: str, detail: str | None) -> Fact | None:
    given = (detail or "").split(",")
    if step == "trigger" and detail is not None and not any(each in SERVERLESS_TRIGGERS for each in given):
        return Fact(f"trigger({given[0]}=…)", "fails_on_serverless", _TRIGGER)
    if step in STREAM_STARTS and detail == WITHOUT_TRIGGER:
        return Fact("a stream without a trigger", "fails_on_serverless", _TRIGGER)
    return None


def statement(use: Use) -> Fact | None:
    """Return the verdict on a whole statement of SQL, None for one that serverless compute runs, too."""
    limit = refused_statement(use.name)
    if limit is None:
        return None
    name = f"setting {limit.subject}" if limit.subject.startswith("spark.") else f"SQL {limit.subject}"
    return Fact(name, "fails_on_serverless", f"{limit.condition} there: {limit.instead}.")


def judge_setting(use: Use) -> Fact | None:
    """Return the verdict on a Spark setting that is set or read."""
    if use.detail == "set":
        if not use.name.startswith("spark.") or use.name in SERVERLESS_SETTINGS or "{…}" in use.name:
            return None
        cure = "CONFIG_NOT_AVAILABLE there: leave it out, or set it only where compute is classic."
        return Fact(f"setting {use.name}", "fails_on_serverless", cure)
    served = _DEFAULTS.get(use.name)
    if served is not None:
        value = "made up" if "{" in served.value else served.value
        return Fact(f"setting {use.name}", "differs", f"It is {value} here ({served.about}).")
    if not use.name.startswith("spark.databricks.") or use.name.startswith("spark.databricks.delta"):
        return None
    if use.detail == "default":
        return Fact(f"setting {use.name}", "differs", "It is not set here: the code's own default is given.")
    cure = "It is not set here: give it a value with spark.conf.set, or a default in spark.conf.get."
    return Fact(f"setting {use.name}", "refused", cure)


def data_format(use: Use) -> Fact | None:
    """Return the verdict on a format of `read`, `write` and their streams; None for Spark's own."""
    name = use.name.lower()
    if name == "cloudfiles":
        return Fact("Auto Loader (cloudFiles)", "runs_with_lakeward", SERVED)
    if name == "delta":
        return Fact("format delta", "runs_as_is", NOTHING)
    if name in CONNECTORS:
        package = CONNECTORS[name]
        cure = "Spark has no such connector of its own: name its package in spark.jars.packages"
        return Fact(f"format {use.name}", "refused", f"{cure}{f' ({package})' if package else ''}.")
    return None
