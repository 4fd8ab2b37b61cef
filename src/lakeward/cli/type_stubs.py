"""What an editor must read to complete the names that Databricks files have without an import, and pipelines.

Pylance and Pyright take names from `__builtins__.pyi` in a project's root, and modules that are not
installed from its folder `typings`. There the partial package `pyspark-stubs` adds what `pyspark.pipelines`
has on Databricks alone; the rest of PySpark keeps its own types. The texts are made from the tables that the
runtime serves by.
"""

from __future__ import annotations

from collections.abc import Iterator

_HEAD = "# For the editor: what Databricks has and no package declares. Nothing reads this at run time.\n"
# https://peps.python.org/pep-0561/#partial-stub-packages
_PARTIAL = "partial\n"
_IMPORTS = """\
from typing import Any

from lakeward.dbutils import DBUtils
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession, SQLContext
from pyspark.sql.functions import udf as udf
"""
# How each free name is declared; `udf` is PySpark's own, with all of its overloads.
_DECLARED = {
    "spark": "spark: SparkSession",
    "dbutils": "dbutils: DBUtils",
    "sc": "sc: SparkContext",
    "sqlContext": "sqlContext: SQLContext",
    "display": "def display(value: Any = ..., *args: Any, **kwargs: Any) -> None: ...",
    "displayHTML": "def displayHTML(html: str, *args: Any, **kwargs: Any) -> None: ...",
    "sql": "def sql(sqlQuery: str, *args: Any, **kwargs: Any) -> DataFrame: ...",
    "table": "def table(tableName: str) -> DataFrame: ...",
    "getArgument": "def getArgument(name: str, defaultValue: str | None = ...) -> str: ...",
    "udf": "",
}


def editor_files() -> dict[str, str]:
    """Return the files that an editor wants, by their path in the project."""
    return {
        "__builtins__.pyi": builtins_text(),
        "typings/dlt.pyi": pipelines_text(),
        "typings/pyspark-stubs/py.typed": _PARTIAL,
        "typings/pyspark-stubs/pipelines/__init__.pyi": pipelines_text(),
    }


def is_generated(text: str) -> bool:
    """Return whether a file's text is one of lakeward's, of this version or another."""
    return text.startswith(_HEAD) or text == _PARTIAL


def builtins_text() -> str:
    """Return the declarations of all free names. Raises KeyError for an undeclared one."""
    from lakeward.databricks_shims import NAMES

    lines = [_DECLARED[name] for name in NAMES]
    return f"{_HEAD}{_IMPORTS}\n" + "".join(f"{line}\n" for line in lines if line)


def pipelines_text() -> str:
    """Return the declarations of the pipelines' API, under every name that a function has."""
    return f"{_HEAD}from typing import Any\n\n" + "".join(f"{line}\n" for line in _functions())


def _functions() -> Iterator[str]:
    from lakeward.pipelines import FUNCTIONS

    for function in FUNCTIONS:
        given = []
        for index, parameter in enumerate(function.parameters):
            if index == function.positional:
                given.append("*")
            given.append(f"{parameter.name}: Any{'' if parameter.required else ' = ...'}")
        # Several return a decorator or what they decorate, by how they are called.
        yield from (f"def {name}({', '.join(given)}) -> Any: ..." for name in function.names)
