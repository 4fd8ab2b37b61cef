"""A seed as a DataFrame that has been read to its end without an error, before any table is touched."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SeedError
from lakeward.nested_types import cast_by_name
from lakeward.quoting import quote_identifier
from lakeward.seeds.files import is_one_document, kind_of
from lakeward.session import message_of
from lakeward.spark_internals import sql_parser

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

MISMATCH = "SEED_SCHEMA_MISMATCH"


def frame_of_files(spark: SparkSession, path: Path, ddl: Path | None) -> DataFrame:
    """Return the rows of a file or folder, with the schema that `ddl` declares if it is given.

    A file of DDL alone gives no rows. Raises SeedError: nothing there, no such format, a schema that does
    not fit.
    """
    kind = kind_of(path)
    if kind == "ddl":
        return spark.createDataFrame([], schema_of_ddl(spark, path))
    schema = schema_of_ddl(spark, ddl) if ddl is not None else None
    try:
        plain = _read(spark, path, kind, None)
        if schema is None:
            return read_whole(_with_columns(plain, f"The seed {path}"))
        _compare(plain.columns, schema.names, f"The file {path}", f"the schema in {ddl}")
        frame = _read(spark, path, kind, schema) if kind in ("csv", "tsv", "json") else _cast(plain, schema)
        return read_whole(frame)
    except Exception as error:
        if isinstance(error, SeedError) or not _is_sparks(error):
            raise
        fits = "does not fit its schema" if schema is not None else "cannot be read"
        raise SeedError(MISMATCH, f"The seed {path} {fits}: {message_of(error)}") from None


def _with_columns(frame: DataFrame, what: str) -> DataFrame:
    """Return the frame; Delta refuses a table without columns only when it is written."""
    if not frame.columns:
        raise SeedError(
            "SEED_SCHEMA_MISSING",
            f"{what} has no columns: it is empty.",
            next_step="Fill it, or declare the columns in a file for --ddl (`id bigint, name string`).",
        )
    return frame


def _read(spark: SparkSession, path: Path, kind: str, schema: StructType | None) -> DataFrame:
    reader = spark.read.option("mode", "FAILFAST")
    if kind in ("csv", "tsv"):
        reader = reader.option("header", True).option("sep", "\t" if kind == "tsv" else ",")
        reader = reader.option("enforceSchema", False).option("inferSchema", schema is None)
    if kind == "json":
        reader = reader.option("multiLine", is_one_document(path))
    if schema is not None:
        reader = reader.schema(schema)
    return reader.format("csv" if kind == "tsv" else kind).load(str(path.absolute()))


def _cast(frame: DataFrame, schema: StructType) -> DataFrame:
    from pyspark.sql import functions as F

    types = {field.name.lower(): field.dataType for field in frame.schema.fields}
    columns = [(F.col(quote_identifier(f.name)), types[f.name.lower()], f) for f in schema.fields]
    return frame.select(
        *(cast_by_name(column, given, f.dataType).alias(f.name) for column, given, f in columns)
    )


def read_whole(frame: DataFrame) -> DataFrame:
    """Return the frame after reading every row of it: errors must come before the table is touched."""
    frame.write.format("noop").mode("overwrite").save()
    return frame


def frame_of_rows(
    spark: SparkSession,
    rows: Iterable[Mapping[str, Any] | Sequence[Any]],
    schema: StructType | str | None,
) -> DataFrame:
    """Return a frame of dicts, or of tuples with a schema (DDL such as `"id bigint, name string"` will do).

    Raises SeedError for rows that do not fit: a key or a value too many, or a value of another type.
    """
    from pyspark.sql.types import StructType, _parse_datatype_string

    listed = list(rows)
    if schema is None:
        if not listed or not isinstance(listed[0], Mapping):
            what = "Rows that are not dicts were given" if listed else "No rows were given, and"
            raise SeedError(
                "SEED_SCHEMA_MISSING",
                f"{what} without a schema.",
                next_step='Give one, such as schema="id bigint, name string".',
            )
        return spark.createDataFrame(listed)
    try:
        declared: Any = _parse_datatype_string(schema) if isinstance(schema, str) else schema
    except Exception as error:
        if not _is_sparks(error):
            raise
        raise SeedError(MISMATCH, f"`{schema}` is not a schema: {message_of(error)}") from None
    assert isinstance(declared, StructType)
    for number, row in enumerate(listed, start=1):
        if isinstance(row, Mapping):
            _compare([*row], declared.names, f"Row {number}", "the schema", missing=False)
    try:
        return spark.createDataFrame(listed, declared)
    except Exception as error:
        if not _is_sparks(error):
            raise
        raise SeedError(MISMATCH, f"The rows do not fit the schema: {message_of(error)}") from None


def schema_of_ddl(spark: SparkSession, file: Path) -> StructType:
    """Return the schema that a file declares: columns (`id bigint, name string`) or a CREATE TABLE statement.

    Of a statement only the columns count: rows are what a seed gives.
    """
    from pyspark.sql.types import StructType

    try:
        text = file.read_text(encoding="utf-8-sig").strip().rstrip(";").strip()
    except OSError as error:
        raise SeedError("SEED_FILE_NOT_FOUND", f"The DDL {file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SeedError(
            MISMATCH, f"The DDL {file} cannot be read: it is not UTF-8 text.", next_step="Save it as UTF-8."
        ) from None
    if not text:
        raise SeedError(
            "SEED_SCHEMA_MISSING",
            f"The DDL {file} is empty.",
            next_step="Declare the columns in it: `id bigint, name string`, or a CREATE TABLE statement.",
        )
    try:
        if text[:6].upper() != "CREATE":
            found = StructType.fromDDL(text)
        else:
            plan = sql_parser(spark).parsePlan(text)
            if not hasattr(plan, "tableSchema") or "CreateTable" not in plan.getClass().getSimpleName():
                raise SeedError(
                    MISMATCH,
                    f"The statement in {file} creates no table of its own columns.",
                    next_step="Write a CREATE TABLE statement with columns.",
                )
            found = StructType.fromJson(json.loads(plan.tableSchema().json()))
    except Exception as error:
        if isinstance(error, SeedError) or not _is_sparks(error):
            raise
        raise SeedError(MISMATCH, f"The DDL in {file} declares no schema: {message_of(error)}") from None
    assert isinstance(found, StructType)
    return found


def _compare(
    given: Sequence[str], declared: Sequence[str], what: str, against: str, *, missing: bool = True
) -> None:
    theirs, ours = {name.lower() for name in given}, {name.lower() for name in declared}
    extra = [name for name in given if name.lower() not in ours]
    lacking = [name for name in declared if name.lower() not in theirs] if missing else []
    if extra or lacking:
        differences = [f"has {_list(extra)}, which {against} lacks"] if extra else []
        differences += [f"lacks {_list(lacking)}"] if lacking else []
        raise SeedError(MISMATCH, f"{what} {' and '.join(differences)}.")


def _list(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _is_sparks(error: Exception) -> bool:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return isinstance(error, (PySparkException, Py4JJavaError))
