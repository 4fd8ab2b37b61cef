"""Names that notebooks and Python files have without an import, and that `databricks.sdk.runtime` exports.

Source: https://docs.databricks.com/dev-tools/sdk-python (databricks.sdk.runtime)
"""

from __future__ import annotations

from typing import Any

from lakeward.databricks_shims.display import display, displayHTML
from lakeward.databricks_shims.lazy import lazy_names

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


def free_names() -> dict[str, Any]:
    """Each of NAMES; nothing is started or imported before one is used."""
    from lakeward.dbutils import dbutils

    spark = lazy_names()

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
