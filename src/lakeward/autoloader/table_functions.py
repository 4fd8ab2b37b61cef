"""`read_files`, `STREAM read_files`, `cloud_files` and `cloud_files_state` as relations (§6.7, §9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakeward.autoloader.batch import FileSource, Rescue, detected_format
from lakeward.autoloader.options.declared import PREFIX, declared
from lakeward.errors import CloudFilesError, SqlError
from lakeward.sql import serve

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["read_files", "serve_functions"]

_RESCUED = "_rescued_data"


def serve_functions() -> None:
    """Answer these functions in SQL from here on."""
    for name, function in (
        ("read_files", read_files),
        ("stream_read_files", stream_read_files),
        ("cloud_files", cloud_files),
        ("stream_cloud_files", cloud_files),
        ("cloud_files_state", state),
    ):
        serve(f"function.{name}", _plan_of(function))


def _plan_of(function: Any) -> Any:
    def serving(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Any:
        return function(spark, positional, named)._jdf

    return serving


def read_files(spark: SparkSession, positional: list[Any], named: Mapping[str, Any]) -> DataFrame:
    """The files as they are now, read anew at every query. Raises CloudFilesError and SqlError."""
    path, given = _arguments("read_files", positional, named)
    schema = _schema(given)
    source = FileSource.of(path, given)
    try:
        files = source.files()
    except FileNotFoundError:
        raise CloudFilesError(
            "CF_PATH_DOES_NOT_EXIST_FOR_READ_FILES",
            f"The path {source.shown} of read_files does not exist.",
            next_step="Correct the path, or put the files there.",
        ) from None
    if not source.options.is_set(PREFIX + "format"):
        source = source.having(**{PREFIX + "format": detected_format(files, source.shown)})
    rescue = Rescue(_rescued(given, has_schema=schema is not None))
    if schema is not None:
        columns = source.given(files, schema, rescue)
        return source.frame(spark, files, columns, rescue=rescue, given=schema)
    return source.frame(spark, files, source.columns(files), rescue=rescue)


def stream_read_files(spark: SparkSession, positional: list[Any], named: Mapping[str, Any]) -> DataFrame:
    """Auto Loader under the options of read_files. Raises CloudFilesError and SqlError."""
    path, given = _arguments("read_files", positional, named)
    schema = _schema(given)
    source = FileSource.of(path, given)
    if PREFIX + "format" not in given:
        try:
            given[PREFIX + "format"] = detected_format(source.files(), source.shown)
        except FileNotFoundError:
            given[PREFIX + "format"] = detected_format([], source.shown)
    return _stream(spark, path, given, schema)


def cloud_files(spark: SparkSession, positional: list[Any], named: Mapping[str, Any]) -> DataFrame:
    """The older form: a path, a format, and a map of options. Raises CloudFilesError and SqlError."""
    given = dict(positional[2]) if len(positional) > 2 and isinstance(positional[2], dict) else {}
    if len(positional) not in (2, 3) or named or (len(positional) == 3 and not given and positional[2] != {}):
        raise _wrong_count("cloud_files", "2, 3", len(positional) + len(named))
    path, name = (_constant("cloud_files", "argument", value) for value in positional[:2])
    given = {key: str(value) for key, value in given.items()}
    schema = _schema(given)
    return _stream(spark, path, {**given, PREFIX + "format": name}, schema)


def state(spark: SparkSession, positional: list[Any], named: Mapping[str, Any]) -> DataFrame:
    """What a checkpoint knows of each file (§6.7). Raises CloudFilesError and SqlError."""
    from lakeward.autoloader.checkpoints import cloud_files_state

    if len(positional) != 1 or named:
        raise _wrong_count("cloud_files_state", "1", len(positional) + len(named))
    checkpoint = positional[0]
    if isinstance(checkpoint, dict) and "table" in checkpoint:
        raise CloudFilesError(
            "CF_STATE_PATH_DOES_NOT_EXIST",
            f"The state of the table {checkpoint['table']} was asked for; it is found by a checkpoint alone.",
            next_step="Name the checkpoint: cloud_files_state('<checkpointLocation>'); flows of a pipeline "
            "have theirs in its storage, checkpoints/<table>/<flow>/<number>.",
        )
    return cloud_files_state(spark, _constant("cloud_files_state", "checkpoint", checkpoint))


def _stream(spark: SparkSession, path: str, given: Mapping[str, str], schema: StructType | None) -> DataFrame:
    reader: Any = spark.readStream.format("cloudFiles").options(**given)
    if schema is not None:
        reader = reader.schema(schema)
    frame: DataFrame = reader.load(path)
    return frame


def _arguments(function: str, positional: list[Any], named: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """The path, and the options with Auto Loader's keys and the function's own defaults."""
    given = {key: _constant(function, key, value) for key, value in named.items()}
    path = _constant(function, "path", positional[0]) if positional else given.pop("path", None)
    if path is None or len(positional) > 1:
        raise _wrong_count(function, "1", len(positional))
    options = {PREFIX + "inferColumnTypes": "true", PREFIX + "useStrictGlobber": "true"}
    for key, value in given.items():
        row = declared(PREFIX + key)
        options[key if row is None else row.key] = value
    return path, options


def _wrong_count(function: str, expected: str, actual: int) -> SqlError:
    parameters = {"functionName": f"`{function}`", "expectedNum": expected, "actualNum": str(actual)}
    return SqlError(
        "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
        f"{function} takes {expected} arguments without a name, not {actual}.",
        parameters={**parameters, "docroot": "https://spark.apache.org/docs/latest"},
    )


def _constant(function: str, key: str, value: Any) -> str:
    if isinstance(value, dict) and "not_constant" in value:
        parameters = {"funcName": f"`{function}`", "paramName": f"`{key}`", "paramType": '"STRING"'}
        raise SqlError("NON_FOLDABLE_ARGUMENT", f"{key} is no constant.", parameters=parameters)
    return str(value)


def _schema(given: dict[str, str]) -> StructType | None:
    """`schema => '…'`, taken out of the options."""
    from pyspark.sql.types import StructType, _parse_datatype_string

    text = next((given.pop(key) for key in list(given) if key.lower() == "schema"), None)
    if text is None:
        return None
    parsed = _parse_datatype_string(text)
    assert isinstance(parsed, StructType)
    return parsed


def _rescued(given: Mapping[str, str], *, has_schema: bool) -> str | None:
    """§9 rule 4: there when the schema is inferred, unless the mode is `none`; else when it is named."""
    options = {key.lower(): value for key, value in given.items()}
    named = options.get("cloudfiles.rescueddatacolumn") or options.get("rescueddatacolumn")
    mode = options.get("cloudfiles.schemaevolutionmode", "none" if has_schema else "").lower()
    return named or (None if mode == "none" else _RESCUED)
