"""`spark`, `sc` and `sqlContext` as module attributes that start nothing before their first use.

Modules import `spark` from `databricks.sdk.runtime` at their top, and collecting tests must not start a JVM.
The proxy always refers to the active session, so it remains valid after a change of lakehouse.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

# Private names that PySpark and Delta read from a session or context.
_ASKED = {"_sc", "_jsc", "_jvm", "_gateway", "_jsparkSession", "_jconf", "_ssql_ctx", "_conf", "_inferSchema"}


class Lazy:
    """Proxy for the result of `make()`, which is called at each use; an instance of the class `of`.

    Test collectors and IDEs look up marks such as `__wrapped__` or `_pytestfixturefunction` on every object:
    a private name that the class lacks does not call `make`.
    """

    def __init__(self, of: str, make: Callable[[], Any]) -> None:
        object.__setattr__(self, "_lakeward_of", of)
        object.__setattr__(self, "_lakeward_make", make)

    def _lakeward_class(self) -> type:
        module, _, name = object.__getattribute__(self, "_lakeward_of").rpartition(".")
        found: type = getattr(importlib.import_module(module), name)
        return found

    def _lakeward_has(self, name: str) -> bool:
        # Not hasattr(): it finds `__bases__` and other attributes of the class itself.
        return any(name in vars(base) for base in self._lakeward_class().__mro__[:-1])

    @property  # type: ignore[misc]  # what isinstance() asks for, as in unittest.mock
    def __class__(self) -> type:
        return self._lakeward_class()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name not in _ASKED and not self._lakeward_has(name):
            raise AttributeError(f"{self._lakeward_class().__name__!r} object has no attribute {name!r}")
        return getattr(object.__getattribute__(self, "_lakeward_make")(), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_lakeward_make")(), name, value)

    def __dir__(self) -> list[str]:
        return dir(self._lakeward_class())

    def __repr__(self) -> str:
        return f"<{object.__getattribute__(self, '_lakeward_of')} of lakeward>"


def _session() -> Any:
    from lakeward.session import session

    return session()


def _sql_context() -> Any:
    import warnings

    from pyspark.sql import SQLContext

    with warnings.catch_warnings():
        # The platform provides it too; the user did not call the deprecated constructor.
        warnings.simplefilter("ignore", FutureWarning)
        return SQLContext(_session().sparkContext, _session())


def lazy_names() -> dict[str, Lazy]:
    """Return new proxies for the three names."""
    return {
        "spark": Lazy("pyspark.sql.SparkSession", _session),
        "sc": Lazy("pyspark.SparkContext", lambda: _session().sparkContext),
        "sqlContext": Lazy("pyspark.sql.SQLContext", _sql_context),
    }
