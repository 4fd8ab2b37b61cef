"""Names that notebooks and Python files have without an import, and that `databricks.sdk.runtime` exports.

Source: https://docs.databricks.com/dev-tools/sdk-python (databricks.sdk.runtime)
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable
from typing import Any

from lakeward.databricks_shims.display import display, displayHTML

NAMES = (
    "display",
    "displayHTML",
    "dbutils",
    "table",
    "sql",
    "udf",
    "getArgument",
    "sc",
    "sqlContext",
    "spark",
)
# Private names that PySpark and Delta read from a session or context.
_PROBED = {
    "_sc",
    "_jsc",
    "_jvm",
    "_gateway",
    "_jsparkSession",
    "_jconf",
    "_ssql_ctx",
    "_conf",
    "_inferSchema",
}


def free_names() -> dict[str, Any]:
    """Return each of NAMES; nothing is started or imported before one is used."""
    from lakeward.dbutils import dbutils

    spark = _lazy_names()

    def sql(sqlQuery: str, *args: Any, **kwargs: Any) -> Any:
        return spark["spark"].sql(sqlQuery, *args, **kwargs)

    def table(tableName: str) -> Any:
        return spark["spark"].table(tableName)

    def udf(*args: Any, **kwargs: Any) -> Any:
        from pyspark.sql import functions

        return functions.udf(*args, **kwargs)

    def getArgument(name: str, defaultValue: str | None = None) -> str:  # noqa: N802
        return dbutils().widgets.getArgument(name, defaultValue)

    return {
        **spark,
        "display": display,
        "displayHTML": displayHTML,
        "dbutils": dbutils(),
        "table": table,
        "sql": sql,
        "udf": udf,
        "getArgument": getArgument,
    }


def main_names() -> dict[str, Any]:
    """Return the names of a file or notebook that runs as `__main__`.

    Its `__builtins__` is the module, for `__builtins__.sum(…)` after a star import of functions. Without
    it, `exec` adds the module's dictionary.
    """
    return {**free_names(), "__builtins__": builtins}


class _Lazy:
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
        if name.startswith("_") and name not in _PROBED and not self._lakeward_has(name):
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


def _lazy_names() -> dict[str, _Lazy]:
    """Return new proxies for the three names."""
    return {
        "spark": _Lazy("pyspark.sql.SparkSession", _session),
        "sc": _Lazy("pyspark.SparkContext", lambda: _session().sparkContext),
        "sqlContext": _Lazy("pyspark.sql.SQLContext", _sql_context),
    }
