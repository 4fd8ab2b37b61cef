"""The jars that the PySpark distribution lacks, and where they are found.

Those of Delta Lake, `spark-avro`, and the libraries of the geospatial functions.

In this order: the folder LAKEWARD_JARS, the package lakeward-jars, the cache, a download from the Maven
repository. Delta's own helper resolves 33 jars at every start; Spark's distribution contains all but these.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from lakeward.errors import SetupError
from lakeward.session.cache import cache_dir
from lakeward.session.jvm.jar_download import fetch
from lakeward.session.jvm.maven import Jar

__all__ = ["JARS", "Jar", "cache_dir", "locate_jars", "pinned_jars"]


def _delta(artifact: str, size: int, sha256: str) -> Jar:
    return Jar("io.delta", artifact, "4.4.0", size, sha256)


JARS = (
    _delta(
        "delta-spark_4.2_2.13", 9515916, "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead"
    ),
    _delta("delta-storage", 113863, "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc"),
    _delta("delta-kernel-api", 2838619, "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11"),
    _delta(
        "delta-kernel-defaults", 227185, "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b"
    ),
    _delta(
        "delta-kernel-unitycatalog", 43048, "cea22dfb4ac562b3cd27bf652697750e8336009d73fb06631363aaaad5345ffa"
    ),
    Jar(
        "org.apache.spark",
        "spark-avro_2.13",
        "4.2.0",
        92286,
        "4c186cedc03cbe4ee356a94b32232b347ef48611c3209400b3a77e4fe4abff4f",
    ),
    Jar(
        "net.sf.geographiclib",
        "GeographicLib-Java",
        "2.1",
        37692,
        "1e85feac761b436309a8d3d2ece07162129fd5670afbf1d2d435e38006da00dd",
    ),
    Jar(
        "com.uber",
        "h3",
        "4.3.1",
        2406275,
        "3e2dfc095eee30c802a4c50cc2750e89c97148e6643b07c7ab77acff562cb180",
    ),
)


def pinned_jars(environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Return local files of `JARS`; download missing ones. Raises SetupError."""
    return locate_jars(JARS, environ)


def locate_jars(jars: Iterable[Jar], environ: Mapping[str, str] = os.environ) -> list[Path]:
    """Return local files of `jars`, in their order.

    Raises SetupError, which names the missing file and the setting to change.
    """
    wanted = list(jars)
    if environ.get("LAKEWARD_JARS"):
        return _require_jars(wanted, Path(environ["LAKEWARD_JARS"]).expanduser().absolute())
    cache = cache_dir(environ) / "jars"
    folders = [*packaged_folders(), cache]
    found = {
        jar: next((folder / jar.name for folder in folders if jar.is_in(folder)), None) for jar in wanted
    }
    missing = [jar for jar, file in found.items() if file is None]
    if missing:
        fetch(missing, cache, environ)
    return [file or cache / jar.name for jar, file in found.items()]


def packaged_folders() -> list[Path]:
    """Return the folder of the package lakeward-jars, if it is installed."""
    spec = importlib.util.find_spec("lakeward_jars")
    return [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []


def _require_jars(jars: list[Jar], folder: Path) -> list[Path]:
    missing = [jar.name for jar in jars if not (folder / jar.name).is_file()]
    if missing:
        there = "which does not hold" if folder.is_dir() else "which is not a folder; it must hold"
        raise SetupError(
            "JARS_NOT_FOUND",
            f"LAKEWARD_JARS names {folder}, {there} {', '.join(missing)}.",
            next_step="Put the files there, or unset LAKEWARD_JARS to have them fetched.",
        )
    return [folder / jar.name for jar in jars]


def jars_summary(environ: Mapping[str, str]) -> str:
    """Return where the jars are: LAKEWARD_JARS, the package lakeward-jars, the cache, or not yet here."""
    if environ.get("LAKEWARD_JARS"):
        return "LAKEWARD_JARS"
    places = {"the package lakeward-jars": packaged_folders(), "the cache": [cache_dir(environ) / "jars"]}
    for name, folders in places.items():
        if any(all((folder / jar.name).is_file() for jar in JARS) for folder in folders):
            return name
    return "not yet fetched"
