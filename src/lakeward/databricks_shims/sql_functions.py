"""`pyspark.databricks.sql.functions`: geospatial functions of Databricks SQL as functions of columns.

Their signatures are those of docs.databricks.com/pyspark/reference/functions: `col`, or `col1`, `col2`, …. An
argument is a column or a column's name; numbers and booleans, and the byte order of WKB, are literals.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from lakeward.session import GeospatialFunction, geospatial_functions

if TYPE_CHECKING:
    from pyspark.sql import Column

# Those that Spark itself has.
_SPARK = (
    GeospatialFunction("st_asbinary", ("geo", "string"), 1, "binary"),
    GeospatialFunction("st_geogfromwkb", ("binary",), 1, "geography(4326)"),
    GeospatialFunction("st_geomfromwkb", ("binary", "srid"), 1, "geometry(srid)"),
    GeospatialFunction("st_setsrid", ("geo", "srid"), 2, "same"),
    GeospatialFunction("st_srid", ("geo",), 1, "int"),
)
# Their second argument is a word, not the name of a column.
_WITH_BYTE_ORDER = frozenset(("st_asbinary", "st_asewkb", "st_aswkb"))


def column_functions() -> dict[str, Callable[..., Column]]:
    """Return the functions of the module by their names. Imports PySpark and starts no JVM."""
    rows = sorted((*geospatial_functions(), *_SPARK), key=lambda row: row.name)
    return {row.name: _column_function(row) for row in rows}


def _signature(row: GeospatialFunction) -> Signature:
    count = len(row.arguments)
    names = ["col"] if count == 1 else [f"col{at + 1}" for at in range(count)]
    return Signature(
        [
            Parameter(
                name,
                Parameter.POSITIONAL_OR_KEYWORD,
                default=Parameter.empty if at < row.required else None,
            )
            for at, name in enumerate(names)
        ]
    )


def _column_function(row: GeospatialFunction) -> Callable[..., Column]:
    signature = _signature(row)

    def function(*args: Any, **kwargs: Any) -> Column:
        from pyspark.sql import functions

        given = [value for value in signature.bind(*args, **kwargs).arguments.values() if value is not None]
        return functions.call_function(row.name, *(_column(row, at, value) for at, value in enumerate(given)))

    function.__name__ = function.__qualname__ = row.name
    function.__doc__ = f"Return the column `{row.signature}` of Databricks SQL."
    function.__module__ = "pyspark.databricks.sql.functions"
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def _column(row: GeospatialFunction, at: int, value: Any) -> Any:
    from pyspark.sql import functions

    is_word = isinstance(value, str) and at == 1 and row.name in _WITH_BYTE_ORDER
    return functions.lit(value) if is_word or isinstance(value, int | float) else value
