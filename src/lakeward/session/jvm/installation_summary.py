"""Which Java and jars a session would use, as short texts for bug reports; nothing is fetched."""

from __future__ import annotations

import os
from collections.abc import Mapping

from lakeward.session.cache import cache_dir
from lakeward.session.jvm.jars import DELTA, packaged_folders
from lakeward.session.jvm.java_runtime import OLDEST, Java, java_candidates


def java_summary(environ: Mapping[str, str] = os.environ) -> str:
    """Return version and origin of the first Java that fits, `21 (java on PATH)`, and what was skipped."""
    skipped: list[str] = []
    for source, java in java_candidates(environ):
        if isinstance(java, Java) and java.version >= OLDEST:
            return "; ".join([f"{java.version} ({source})", *skipped])
        skipped.append(f"{source}: {f'version {java.version}, too old' if java else 'does not run'}")
    return "; ".join(["none found", *skipped])


def jars_summary(environ: Mapping[str, str] = os.environ) -> str:
    """Return where Delta's jars are: LAKEWARD_JARS, the package lakeward-jars, the cache, or not yet here."""
    if environ.get("LAKEWARD_JARS"):
        return "LAKEWARD_JARS"
    places = {"the package lakeward-jars": packaged_folders(), "the cache": [cache_dir(environ) / "jars"]}
    for name, folders in places.items():
        if any(all((folder / jar.name).is_file() for jar in DELTA) for folder in folders):
            return name
    return "not yet fetched"
