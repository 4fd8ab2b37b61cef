"""Packages that lakeward replaces, so they must not be installed next to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from packaging.utils import NormalizedName, canonicalize_name

_SPARK = "lakeward brings Spark 4.2, which has this API"
_DELTA = "lakeward brings the Delta Lake that belongs to its Spark"
_CONNECT = "it brings a pyspark of its own; lakeward answers `databricks.connect` with its session"

# Code that imports `pyspark.sql.connect` needs these; Databricks Connect and the Connect client bring them.
_GRPC = ("grpcio", "grpcio-status", "googleapis-common-protos", "zstandard")


@dataclass(frozen=True)
class StandIn:
    """A package that is left out, why, and what is installed instead because it would have come with it."""

    name: str
    why: str
    instead: tuple[str, ...] = ()


SETUPTOOLS = "setuptools<81"
"""Installed in every environment. The newest ones have no `pkg_resources`; those of the runtimes have it."""

OWN_PYSPARK = ("pyspark", "delta-spark", "py4j")
"""Stand-ins that are installed all the same, in lakeward's own version."""

STAND_INS: Mapping[NormalizedName, StandIn] = {
    canonicalize_name(each.name): each
    for each in (
        StandIn("pyspark", _SPARK),
        StandIn("pyspark-client", _SPARK, _GRPC),
        StandIn("pyspark-connect", _SPARK, _GRPC),
        StandIn("pyspark-stubs", "Spark has types of its own"),
        StandIn("py4j", "it comes with lakeward's Spark, in the version that fits"),
        StandIn("delta-spark", _DELTA),
        StandIn("databricks-connect", _CONNECT, ("databricks-sdk", *_GRPC)),
        StandIn("databricks-dlt", "it holds the names of `dlt` alone; lakeward runs what they mean"),
        StandIn("databricks-stubs", "it holds the names of `dbutils` and `spark` alone; lakeward runs them"),
        StandIn("lakeward", "the lakeward that runs this is used"),
    )
}
"""The documentation's table is made from this one."""


def find_stand_in(name: str) -> StandIn | None:
    """Return the entry of the package `name`; None for one that is installed."""
    return STAND_INS.get(canonicalize_name(name))
