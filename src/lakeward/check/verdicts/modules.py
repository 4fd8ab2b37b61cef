"""Modules, free names and magics that the platform gives to code."""

from __future__ import annotations

import importlib.util
from functools import cache

from lakeward.check.model import Fact, Use
from lakeward.check.verdicts.words import NOTHING, SERVED, sentence
from lakeward.databricks_shims import NAMES, PLATFORM_PACKAGES
from lakeward.databricks_shims import SERVED as STAND_INS
from lakeward.notebooks import MAGICS, WITHOUT_EFFECT
from lakeward.pipelines import MODULES, TEST_MODULE
from lakeward.session import CONNECT_MODULES, SERVERLESS_NAMES

_WORKSPACE = (
    "A client without credentials is answered here: secrets, files, volumes, workspace files and the current "
    "user; other requests say what is missing."
)
_SERVED = frozenset((*MODULES, TEST_MODULE, *CONNECT_MODULES, *STAND_INS, *PLATFORM_PACKAGES))
_OWN = "A package of its own: it runs where it is installed, and lakeward changes nothing about it."
_UNKNOWN = "No package that lakeward knows has this module: the import fails here unless the code is yours."
OF_DATABRICKS = {
    "agents": "databricks-agents",
    "automl_runtime": "databricks-automl-runtime",
    "feature_engineering": "databricks-feature-engineering",
    "feature_store": "databricks-feature-engineering",
    "ml_features": "databricks-feature-engineering",
    "rag_eval": "databricks-agents",
    "sql": "databricks-sql-connector",
    "sqlalchemy": "databricks-sqlalchemy",
    "vector_search": "databricks-vectorsearch",
}
"""Packages below `databricks`, which lakeward's modules share. Each of `databricks.labs` has its own name."""
_PACKAGES = frozenset(f"databricks.{each}" for each in (*OF_DATABRICKS, "bundles", "labs"))
_PLATFORM = "The module exists on the platform only; lakeward has no replacement for it."

_MAGICS = ", ".join(f"%{name}" for name in MAGICS if name not in WITHOUT_EFFECT)


def module(use: Use) -> Fact | None:
    """Return the verdict on an imported module."""
    name = use.name
    if name in _SERVED:
        return Fact(f"module {name}", "runs_with_lakeward", SERVED)
    if name.partition(".")[0] == "delta":
        return Fact("module delta", "runs_as_is", NOTHING)
    package = ".".join(name.split(".")[:2])
    if package == "databricks.sdk":
        return Fact(f"module {package}", "differs", _WORKSPACE)
    if name.startswith("databricks."):
        if package in _PACKAGES or is_installed(package):
            return Fact(f"module {package}", "runs_as_is", _OWN)
        return Fact(f"module {package}", "differs", _UNKNOWN)
    if name.startswith(("dbruntime", "pyspark.")):
        return Fact(f"module {name}", "refused", _PLATFORM)
    return None


@cache
def is_installed(name: str) -> bool:
    """Return whether this environment has the module."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def builtin(use: Use) -> Fact | None:
    """Return the verdict on a name that needs no import; `detail` is where it was imported from."""
    limit = SERVERLESS_NAMES.get(use.name)
    if limit is not None:
        return Fact(f"name {use.name}", "fails_on_serverless", sentence(limit))
    if use.detail is not None or use.name not in NAMES:
        return None
    return Fact(f"name {use.name}", "runs_with_lakeward", SERVED)


def magic(use: Use) -> Fact | None:
    """Return the verdict on a magic of a notebook."""
    if use.name in WITHOUT_EFFECT or use.name == "python":
        return None
    name = f"magic %{use.name}"
    if use.name in ("sh", "sx"):
        return Fact("magic %sh", "differs", "Shell cells are off unless `--allow-sh` lets them run.")
    if use.name in MAGICS:
        return Fact(name, "runs_with_lakeward", SERVED)
    return Fact(name, "refused", f"Cells of this language cannot be run here; magics that can: {_MAGICS}.")
