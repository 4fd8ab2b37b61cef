"""lakeward: the code you deploy to Databricks, unchanged, on open-source Spark and Delta.

`lakeward.session()` gives the Spark session with everything registered.
"""

from __future__ import annotations

import importlib
from types import ModuleType

__all__ = ["session"]
__version__ = "0.1.0"


def __getattr__(name: str) -> ModuleType:
    # `import lakeward` must be cheap: packages are imported on first access.
    if name in ("session", "pipelines", "bundle", "dbutils", "jobs", "testing"):
        return importlib.import_module(f"lakeward.{name}")
    raise AttributeError(f"module 'lakeward' has no attribute '{name}'")
