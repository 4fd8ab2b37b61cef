"""The packages of a repository that lakeward stands in for, and so must not be installed beside it."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.utils import NormalizedName, canonicalize_name

__all__ = ["OWN_PYSPARK", "STAND_INS", "stands_in"]

_SPARK = "lakeward brings Spark 4.2, which has this API"
_DELTA = "lakeward brings the Delta Lake that belongs to its Spark"
_CONNECT = "it brings a pyspark of its own; lakeward answers `databricks.connect` with its session"

OWN_PYSPARK = ("pyspark", "delta-spark", "py4j")
"""Stand-ins that are installed all the same, in lakeward's own version."""

STAND_INS: Mapping[NormalizedName, str] = {
    canonicalize_name(name): why
    for name, why in (
        ("pyspark", _SPARK),
        ("pyspark-client", _SPARK),
        ("pyspark-connect", _SPARK),
        ("pyspark-stubs", "Spark has types of its own"),
        ("py4j", "it comes with lakeward's Spark, in the version that fits"),
        ("delta-spark", _DELTA),
        ("databricks-connect", _CONNECT),
        ("databricks-dlt", "it holds the names of `dlt` alone; lakeward runs what they mean"),
        ("databricks-stubs", "it holds the names of `dbutils` and `spark` alone; lakeward runs them"),
        ("lakeward", "the lakeward that runs this is used"),
    )
}
"""Package and why it is left out. The documentation's table is made from this one."""


def stands_in(name: str) -> str | None:
    """Why the package `name` is left out; None for one that is not."""
    return STAND_INS.get(canonicalize_name(name))
