"""`spark.read` of Excel files: `format("excel")`, and the reader's method `excel`.

Source: https://docs.databricks.com/aws/en/query/formats/excel and
https://docs.databricks.com/aws/en/pyspark/reference/classes/dataframereader/excel
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.file_source import FileSource
from lakeward.autoloader.options.option_table import PREFIX
from lakeward.errors import CloudFilesError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


def read_excel(
    spark: SparkSession, paths: Sequence[str], options: Mapping[str, str], schema: StructType | None
) -> DataFrame:
    """Return the rows of the files at `paths`; raise CloudFilesError.

    Args:
        spark: The session.
        paths: Files, folders and globs.
        options: The options of the reader.
        schema: The user's schema; None to infer the columns.
    """
    frames = [_read_path(spark, path, options, schema) for path in paths]
    return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)


def _read_path(
    spark: SparkSession, path: str, options: Mapping[str, str], schema: StructType | None
) -> DataFrame:
    source = FileSource.of(path, {PREFIX + "inferColumnTypes": "true", **options, PREFIX + "format": "excel"})
    try:
        files = source.files()
    except FileNotFoundError:
        shown = source.display_path
        raise CloudFilesError(
            "PATH_NOT_FOUND", f"Path does not exist: {shown}.", next_step="Correct the path."
        ) from None
    if not source.options.flag("recursiveFileLookup"):
        files = source.without_subfolders(files)
    if schema is None:
        columns = source.infer_columns(spark, files)
    else:
        columns = source.match_columns(files, schema, None)
    return source.frame(spark, files, columns, rescued=None, user_schema=schema)


def excel_arguments(
    dataAddress: str | None = None,
    headerRows: int | str | None = None,
    listSheets: bool | str | None = None,
    dateFormat: str | None = None,
    timestampFormat: str | None = None,
) -> dict[str, Any]:
    """Return the arguments of `spark.read.excel` as options of the reader, without those not given."""
    lists = listSheets is not None and str(listSheets).lower() == "true"
    given = {
        "dataAddress": dataAddress,
        "headerRows": headerRows,
        "operation": "listSheets" if lists else None,
        "dateFormat": dateFormat,
        "timestampFormat": timestampFormat,
    }
    return {key: value for key, value in given.items() if value is not None}
