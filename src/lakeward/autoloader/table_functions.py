"""`read_files`, `STREAM read_files`, `cloud_files` and `cloud_files_state` as relations (AL-6.7, AL-9)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.file_source import FileSource, detect_format
from lakeward.autoloader.options.option_table import PREFIX, find_option
from lakeward.autoloader.options.schema_options import RESCUED_COLUMN, known_evolution_mode
from lakeward.autoloader.rescued_files import read_rescued_files
from lakeward.errors import CloudFilesError, SqlError
from lakeward.quoting import quote_name
from lakeward.spark_internals import java_frame
from lakeward.sql import register_function, wrong_argument_count

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


# What returns the checkpoints of the flows of a streaming table, by its name in SQL.
_finders: list[Callable[[SparkSession, str], Mapping[str, Path]]] = []


def register_flow_checkpoints(find: Callable[[SparkSession, str], Mapping[str, Path]]) -> None:
    """Register the function that finds the checkpoints of a streaming table: pipelines have them."""
    _finders[:] = [find]


def register_table_functions() -> None:
    """Register the table functions with SQL sessions of this process."""
    for name, function in (
        ("read_files", read_files),
        ("stream_read_files", stream_read_files),
        ("cloud_files", cloud_files),
        ("stream_cloud_files", cloud_files),
        ("cloud_files_state", read_state),
    ):
        register_function(name, _as_handler(function))
    register_function("rescued_files", _rescued_files)
    register_function("from_json", _without_inference)


def _without_inference(spark: SparkSession, **_: Any) -> dict[str, Any]:
    """Return no parser: outside of pipelines `from_json` needs a schema."""
    del spark
    return {}


def _rescued_files(spark: SparkSession, **source: Any) -> Any:
    return java_frame(read_rescued_files(spark, **source))


def _as_handler(function: Any) -> Any:
    def serving(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Any:
        return java_frame(function(spark, positional, named))

    return serving


def read_files(spark: SparkSession, positional: list[Any], named: Mapping[str, Any]) -> DataFrame:
    """Read the current files, again in every query; raise CloudFilesError or SqlError."""
    path, options = _arguments(positional, named)
    schema = _pop_schema(options)
    source = FileSource.of(path, options)
    mode = source.options.text(PREFIX + "schemaEvolutionMode")
    if mode is not None:
        known_evolution_mode(mode)
    source.require_other_than_delta()
    try:
        files = source.files()
    except FileNotFoundError:
        raise CloudFilesError(
            "CF_PATH_DOES_NOT_EXIST_FOR_READ_FILES",
            f"The path {source.display_path} of read_files does not exist.",
            next_step="Correct the path or create the files.",
        ) from None
    if not source.options.is_set(PREFIX + "format"):
        source = source.with_options(**{PREFIX + "format": detect_format(files, source.display_path)})
    rescued = _rescued_column(options, has_schema=schema is not None)
    if schema is not None:
        columns = source.match_columns(files, schema, rescued)
        return source.frame(spark, files, columns, rescued=rescued, user_schema=schema)
    columns = source.infer_columns(spark, files)
    if rescued is not None and rescued in columns.data.names:
        parameters = {"columnName": quote_name([rescued])}
        raise SqlError(
            "COLUMN_ALREADY_EXISTS", f"The column {rescued} already exists.", parameters=parameters
        )
    return source.frame(spark, files, columns, rescued=rescued)


def stream_read_files(spark: SparkSession, positional: list[Any], named: Mapping[str, Any]) -> DataFrame:
    """Start an Auto Loader source with the options of read_files; raise CloudFilesError or SqlError."""
    path, options = _arguments(positional, named)
    schema = _pop_schema(options)
    source = FileSource.of(path, options)
    if PREFIX + "format" not in options:
        # With a format, the definition of the stream requires it.
        source.require_other_than_delta()
        try:
            options[PREFIX + "format"] = detect_format(source.files(), source.display_path)
        except FileNotFoundError:
            options[PREFIX + "format"] = detect_format([], source.display_path)
    return _load_stream(spark, path, options, schema)


def cloud_files(spark: SparkSession, positional: list[Any], named: Mapping[str, Any]) -> DataFrame:
    """Start an Auto Loader source from path, format and a map of options (the older form).

    Raises CloudFilesError and SqlError.
    """
    options = dict(positional[2]) if len(positional) > 2 and isinstance(positional[2], dict) else {}
    if (
        len(positional) not in (2, 3)
        or named
        or (len(positional) == 3 and not options and positional[2] != {})
    ):
        raise CloudFilesError(
            "CF_INCORRECT_SQL_PARAMS",
            f"cloud_files was called with {len(positional) + len(named)} arguments, or with options that are "
            "no map.",
            next_step="Pass path, format and options: cloud_files('/path', 'json', map('header', 'true')).",
        )
    if spark.conf.get("pipelines.id", None) is None:
        raise CloudFilesError(
            "CF_UNSUPPORTED_CLOUD_FILES_SQL_FUNCTION",
            "cloud_files is a source of pipelines; it was called outside of one.",
            next_step="Use STREAM read_files(…), or define a streaming table in a pipeline.",
        )
    path, name = (_constant("cloud_files", "argument", value) for value in positional[:2])
    options = {key: str(value) for key, value in options.items()}
    schema = _pop_schema(options)
    return _load_stream(spark, path, {**options, PREFIX + "format": name}, schema)


def read_state(spark: SparkSession, positional: list[Any], named: Mapping[str, Any]) -> DataFrame:
    """Return the state of each file in a checkpoint (AL-6.7); raise CloudFilesError or SqlError."""
    from lakeward.autoloader.streams.checkpoint_state import cloud_files_state, table_states

    if len(positional) != 1 or named:
        raise CloudFilesError(
            "CF_STATE_INCORRECT_SQL_PARAMS",
            f"cloud_files_state was called with {len(positional) + len(named)} arguments; it takes one.",
            next_step="Pass a checkpoint or a streaming table: cloud_files_state('<checkpointLocation>'), "
            "cloud_files_state(TABLE(t)).",
        )
    checkpoint = positional[0]
    if isinstance(checkpoint, dict) and "table" in checkpoint:
        table = checkpoint["table"]
        flows = {flow: folder for find in _finders for flow, folder in find(spark, table).items()}
        return table_states(spark, table, flows)
    return cloud_files_state(spark, _constant("cloud_files_state", "checkpoint", checkpoint))


def _load_stream(
    spark: SparkSession, path: str, options: Mapping[str, str], schema: StructType | None
) -> DataFrame:
    reader: Any = spark.readStream.format("cloudFiles").options(**options)
    if schema is not None:
        reader = reader.schema(schema)
    frame: DataFrame = reader.load(path)
    return frame


def _arguments(positional: list[Any], named: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the path, and the options with Auto Loader's keys and the defaults of `read_files`."""
    arguments = {"path" if key.lower() == "path" else key: value for key, value in named.items()}
    if positional and "path" in arguments:
        raise SqlError(
            "DUPLICATE_ROUTINE_PARAMETER_ASSIGNMENT.BOTH_POSITIONAL_AND_NAMED",
            "The path of read_files is given twice.",
            parameters={"routineName": "`read_files`", "parameterName": "`path`"},
        )
    paths = [*positional, *([arguments.pop("path")] if "path" in arguments else [])]
    if len(paths) != 1:
        raise wrong_argument_count("`read_files`", "1", len(paths))
    if not paths[0]:
        raise CloudFilesError(
            "CF_SOURCE_DIRECTORY_PATH_REQUIRED",
            "The path of read_files is empty.",
            next_step="Name a directory or a file.",
        )
    path = _constant("read_files", "path", paths[0])
    options = {PREFIX + "inferColumnTypes": "true", PREFIX + "useStrictGlobber": "true"}
    for key, value in arguments.items():
        row = find_option(PREFIX + key)
        options[key if row is None else row.key] = _constant("read_files", key, value)
    return path, options


def _constant(function: str, key: str, value: object) -> str:
    if isinstance(value, dict) and "not_constant" in value:
        parameters = {"funcName": f"`{function}`", "paramName": f"`{key}`", "paramType": '"STRING"'}
        raise SqlError("NON_FOLDABLE_ARGUMENT", f"{key} must be a constant.", parameters=parameters)
    return str(value)


def _pop_schema(options: dict[str, str]) -> StructType | None:
    """Remove and parse `schema => '…'`."""
    from pyspark.sql.types import StructType, _parse_datatype_string

    text = next((options.pop(key) for key in list(options) if key.lower() == "schema"), None)
    if text is None:
        return None
    if not text.strip():
        raise SqlError("PARSE_EMPTY_STATEMENT", "The schema is empty.", parameters={})
    parsed = _parse_datatype_string(text)
    assert isinstance(parsed, StructType)
    return parsed


def _rescued_column(options: Mapping[str, str], *, has_schema: bool) -> str | None:
    """Return the name of the rescued data column, None for no column (AL-9.4)."""
    options = {key.lower(): value for key, value in options.items()}
    named = options.get("cloudfiles.rescueddatacolumn") or options.get("rescueddatacolumn")
    mode = options.get("cloudfiles.schemaevolutionmode", "none" if has_schema else "").lower()
    return named or (None if mode == "none" else RESCUED_COLUMN)
