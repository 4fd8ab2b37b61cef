"""Start a JVM although packages of `spark.jars.packages` cannot be fetched, by leaving them out.

On the platform, libraries belong to the cluster, and the setting has no effect on a running session. Here
Spark resolves the packages before the JVM listens, and a missing package ends the JVM.
"""

from __future__ import annotations

import http.client
import logging
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any

from lakeward.errors import SessionError
from lakeward.session.jvm.maven import CENTRAL

_PACKAGES = "spark.jars.packages"
_SPARK_PACKAGES = "https://repos.spark-packages.org"
_TIMEOUT = 10
log = logging.getLogger("lakeward.session")


def start_with_packages(
    conf: MutableMapping[str, str], start: Callable[[Mapping[str, str]], Any], *, home: Path | None = None
) -> Any:
    """Call `start(conf)`; if packages cannot be fetched, remove them from `conf` and call it again.

    If only dependencies of the packages are missing, all packages are removed. Raises the errors of `start`
    without packages.
    """
    try:
        return start(conf)
    except SessionError:
        packages = [each.strip() for each in conf.get(_PACKAGES, "").split(",") if each.strip()]
        if not packages:
            raise
    missing = [each for each in packages if not _is_available(each, conf, home or Path.home())]
    if missing and len(missing) < len(packages):
        _leave_out(conf, packages, missing)
        try:
            return start(conf)
        except SessionError:
            packages = [each for each in packages if each not in missing]
    _leave_out(conf, packages, packages)
    return start(conf)


def _leave_out(conf: MutableMapping[str, str], packages: list[str], missing: list[str]) -> None:
    rest = [each for each in packages if each not in missing]
    if rest:
        conf[_PACKAGES] = ",".join(rest)
    else:
        del conf[_PACKAGES]
    log.warning(
        "The session starts without the packages %s, which cannot be fetched. Code that needs them fails "
        "where it uses them. spark.jars.repositories or spark.jars.ivySettings names where they are.",
        ", ".join(missing),
    )


def _is_available(package: str, conf: Mapping[str, str], home: Path) -> bool:
    """Return whether a cache or repository has the package; True for coordinates that are not understood."""
    parts = package.split(":")
    if len(parts) != 3 or conf.get("spark.jars.ivySettings"):
        return True
    group, artifact, version = parts
    jar = f"{artifact}-{version}.jar"
    ivy = Path(conf.get("spark.jars.ivy") or home / ".ivy2.5.2")
    folder = f"{group.replace('.', '/')}/{artifact}/{version}"
    if (home / ".m2" / "repository" / folder / jar).exists() or (ivy / "jars" / f"{group}_{jar}").exists():
        return True
    given = [each.strip() for each in conf.get("spark.jars.repositories", "").split(",") if each.strip()]
    return any(
        _answers(f"{place.rstrip('/')}/{folder}/{artifact}-{version}.pom")
        for place in [*given, os.environ.get("DEFAULT_ARTIFACT_REPOSITORY") or CENTRAL, _SPARK_PACKAGES]
    )


def _answers(url: str) -> bool:
    if not url.startswith(("http://", "https://")):
        return Path(url.removeprefix("file://")).exists()
    try:
        request = urllib.request.Request(url, method="HEAD")  # noqa: S310  # http(s) alone
        with urllib.request.build_opener().open(request, timeout=_TIMEOUT) as answer:
            return bool(answer.status < 400)
    except (OSError, http.client.HTTPException, ValueError):
        return False
