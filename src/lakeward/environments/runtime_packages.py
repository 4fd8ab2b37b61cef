"""The packages that Databricks runtimes bring, by the list in `runtime_packages.txt`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lakeward.environments.distributions import distribution_of

_FILE = Path(__file__).with_name("runtime_packages.txt")
# Modules whose package has another name in runtimes than the one that is installed elsewhere.
_IN_RUNTIMES = {"psycopg2": "psycopg2", "mlflow": "mlflow-skinny", "attr": "attrs"}
_NUMBER = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True)
class RuntimePackage:
    """A package of a runtime: its name there, its version, and the `package` that is installed elsewhere.

    >>> print(find_runtime_package("psycopg2.extras", "16.4"))
    Runtime 16.4 brings psycopg2 2.9.3
    >>> find_runtime_package("psycopg2.extras", "16.4").package
    'psycopg2-binary'
    >>> find_runtime_package("tweepy", "16.4")
    """

    runtime: str
    name: str
    version: str
    package: str

    def __str__(self) -> str:
        return f"Runtime {self.runtime} brings {self.name} {self.version}"


def find_runtime_package(module: str, runtime: str | None) -> RuntimePackage | None:
    """Return the package of `runtime` that has `module`, None if the runtime has none.

    A runtime without a list is taken for the nearest one that has one, and None for the newest.
    """
    package = distribution_of(module)
    listed = _nearest(runtime)
    name = _IN_RUNTIMES.get(module.partition(".")[0], package).lower()
    version = packages_of_runtimes()[listed].get(name)
    return RuntimePackage(listed, name, version, package) if version else None


@cache
def packages_of_runtimes() -> Mapping[str, Mapping[str, str]]:
    """Return the version of each package, by runtime: `{"17.3": {"boto3": "1.36.2"}}`."""
    rows = [line.split() for line in _FILE.read_text("utf-8").splitlines() if not line.startswith("#")]
    header, *packages = rows
    return {
        runtime: {row[0]: row[column] for row in packages if row[column] != "-"}
        for column, runtime in enumerate(header[1:], start=1)
    }


def _nearest(runtime: str | None) -> str:
    known = list(packages_of_runtimes())
    match = _NUMBER.match(runtime or "")
    if match is None:
        return known[-1]
    wanted = (int(match[1]), int(match[2]))
    fitting = [each for each in known if tuple(map(int, each.split("."))) <= wanted]
    return fitting[-1] if fitting else known[0]
