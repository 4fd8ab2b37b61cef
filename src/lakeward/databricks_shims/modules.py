"""The modules that exist only on Databricks: what each of them contains here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType

from lakeward.databricks_shims.display import display, displayHTML
from lakeward.databricks_shims.names import NAMES, free_names


def _runtime(module: ModuleType) -> None:
    vars(module).update(free_names(), __all__=list(NAMES), is_local_implementation=False)
    # databricks-sdk calls this module for the authentication of notebooks, which do not authenticate here.
    vars(module).update(init_runtime_native_auth=None, init_runtime_native_unified=None)
    vars(module).update(init_runtime_repl_auth=_no_host, init_runtime_legacy_auth=_no_host)
    vars(module).update(dbruntime_objects=list(NAMES))


def _no_host() -> tuple[None, None]:
    return None, None


def _pyspark_dbutils(module: ModuleType) -> None:
    from lakeward.dbutils import DBUtils, FileInfo

    vars(module).update(DBUtils=DBUtils, FileInfo=FileInfo, __all__=["DBUtils"])


def _dbruntime_display(module: ModuleType) -> None:
    vars(module).update(display=display, displayHTML=displayHTML)


def _repl_context(module: ModuleType) -> None:
    from lakeward.dbutils import ReplContext, environment

    get: Callable[[], ReplContext] = lambda: ReplContext(environment().facts)  # noqa: E731
    vars(module).update(get_context=get)


def _sql_functions(module: ModuleType) -> None:
    from lakeward.databricks_shims.sql_functions import column_functions

    functions = column_functions()
    vars(module).update(functions, __all__=list(functions))


SERVED: Mapping[str, Callable[[ModuleType], None]] = {
    "databricks.sdk.runtime": _runtime,
    "pyspark.dbutils": _pyspark_dbutils,
    "dbruntime.dbutils": _pyspark_dbutils,
    "dbruntime.display": _dbruntime_display,
    "dbruntime.databricks_repl_context": _repl_context,
    "pyspark.databricks.sql.functions": _sql_functions,
}
"""Served in place of any other module of the name; what is given is executed as the module's body."""

PLATFORM_PACKAGES = ("dbruntime", "pyspark.databricks", "pyspark.databricks.sql")
"""Packages that only the platform has."""

PACKAGES = ("databricks", "databricks.sdk", *PLATFORM_PACKAGES)
"""Packages that lead to those, served empty where they are not installed."""
