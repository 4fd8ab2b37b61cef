"""The Python packages of Databricks runtimes, by version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from packaging.utils import canonicalize_name

__all__ = ["brought_by_runtime", "packages_of_runtimes"]

_FILE = Path(__file__).with_name("runtime_packages.txt")
# Modules whose package has another name in runtimes than the one that is installed elsewhere.
_IN_RUNTIMES = {"psycopg2": "psycopg2", "mlflow": "mlflow-skinny", "attr": "attrs"}
_NUMBER = re.compile(r"(\d+)\.(\d+)")


@cache
def packages_of_runtimes() -> Mapping[str, Mapping[str, str]]:
    """Return the version of each package, by runtime: `{"17.3": {"boto3": "1.36.2"}}`."""
    rows = [line.split() for line in _FILE.read_text("utf-8").splitlines() if not line.startswith("#")]
    header, *packages = rows
    return {
        runtime: {row[0]: row[column] for row in packages if row[column] != "-"}
        for column, runtime in enumerate(header[1:], start=1)
    }


def brought_by_runtime(module: str, package: str, runtime: str | None) -> str | None:
    """Return a sentence on the runtime that brings the package of `module`; None if it does not.

    A runtime without a list is taken for the nearest one that has one.

    >>> brought_by_runtime("psycopg2", "psycopg2-binary", "16.4")
    'Runtime 16.4 brings psycopg2 2.9.3'
    >>> brought_by_runtime("tweepy", "tweepy", "16.4")
    """
    listed = _nearest(runtime)
    name = str(canonicalize_name(_IN_RUNTIMES.get(module, package)))
    version = packages_of_runtimes()[listed].get(name)
    return version and f"Runtime {listed} brings {name} {version}"


def _nearest(runtime: str | None) -> str:
    known = list(packages_of_runtimes())
    match = _NUMBER.match(runtime or "")
    if match is None:
        return known[-1]
    wanted = (int(match[1]), int(match[2]))
    fitting = [each for each in known if tuple(map(int, each.split("."))) <= wanted]
    return fitting[-1] if fitting else known[0]
