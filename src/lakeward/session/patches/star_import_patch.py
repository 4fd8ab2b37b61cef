"""`from pyspark.sql.functions import *` gives the names that it gives on Databricks.

Spark 4 has a list of the names of a star import, without the older spellings of functions (`countDistinct`)
and without the types and classes that the module uses (`StringType`, `DataFrame`). The platform's PySpark has
them in its list on all runtimes, so code there uses them without another import.
Source: `__all__` of `pyspark.sql.functions` in databricks-connect 16.4, 17.3 and 18.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakeward.patching import PatchSpec

if TYPE_CHECKING:
    from pyspark.sql.dataframe import DataFrame

PLATFORM_NAMES = (
    "ArrayType",
    "DataType",
    "StringType",
    "StructType",
    "DataFrame",
    "Column",
    "approxCountDistinct",
    "countDistinct",
    "sumDistinct",
    "bitwiseNOT",
    "shiftLeft",
    "shiftRight",
    "shiftRightUnsigned",
    "toDegrees",
    "toRadians",
)
"""The names that the platform's star import has and that of Spark lacks."""


def _names(before: list[str]) -> list[str]:
    return [*before, *(name for name in PLATFORM_NAMES if name not in before)]


def _data_frame(before: type[DataFrame] | None) -> type[DataFrame]:
    from pyspark.sql.dataframe import DataFrame

    return before or DataFrame


_MODULE = "pyspark.sql.functions"
_REASON = "from pyspark.sql.functions import * has the platform's names, such as countDistinct and StringType"
PATCHES = (
    # The one listed class that Spark's module does not import.
    PatchSpec(_MODULE, "DataFrame", "session", _REASON, _data_frame),
    PatchSpec(_MODULE, "__all__", "session", _REASON, _names),
)
