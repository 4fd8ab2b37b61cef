"""Modules, free names and magics that the platform gives to code."""

from __future__ import annotations

from lakeward.check.knowledge.words import NOTHING, SERVED
from lakeward.check.model import Fact, Use
from lakeward.pipelines import MODULES

__all__ = ["builtin", "magic", "module"]

# No room serves these yet; each is answered with what really happens.
_NOT_SERVED = {
    "databricks.connect": "Nothing stands in for it yet: SparkSession.builder gives lakeward's session.",
    "databricks.sdk.runtime": "Nothing stands in for it yet: elsewhere it starts Databricks Connect.",
    "dbruntime": "Nothing stands in for it yet.",
    "pyspark.databricks": "Nothing stands in for it yet.",
    "pyspark.dbutils": "Nothing stands in for it yet: the import fails.",
}
_WORKSPACE = "It talks to a real workspace: it needs credentials, and nothing stands in for it yet."
_OWN = "A package of its own: it runs where it is installed, and lakeward changes nothing about it."


def module(use: Use) -> Fact | None:
    """The verdict on an imported module."""
    name = use.name
    if name in MODULES:
        return Fact(f"module {name}", "runs_with_lakeward", SERVED)
    if name.partition(".")[0] == "delta":
        return Fact("module delta", "runs_as_is", NOTHING)
    for known, cure in _NOT_SERVED.items():
        if name == known or name.startswith(f"{known}."):
            return Fact(f"module {known}", "refused", cure)
    if name == "databricks.sdk" or name.startswith("databricks.sdk."):
        return Fact("module databricks.sdk", "differs", _WORKSPACE)
    if name.startswith("databricks."):
        return Fact(f"module {'.'.join(name.split('.')[:2])}", "runs_as_is", _OWN)
    return None


def builtin(use: Use) -> Fact | None:
    """The verdict on a name that notebooks have without an import; `detail` is where it was imported from."""
    if use.detail is not None:
        return None
    return Fact(
        f"name {use.name}", "refused", "Files that lakeward runs do not have this name yet: import it."
    )


def magic(use: Use) -> Fact | None:
    """The verdict on a magic of a notebook."""
    if use.name in ("md", "md-sandbox", "python"):
        return None
    return Fact(f"magic %{use.name}", "refused", "Notebooks with magics cannot be run here yet.")
