"""The table function event_log: a pipeline's events, by its name or by one of its tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.session import current_settings
from lakeward.sql.construct import register_function, wrong_argument_count
from lakeward.sql.session_context import table_properties

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PIPELINE = "pipelines.pipelineId"
"""The table property that names the pipeline which manages the table."""
NAME_FILE = "name.txt"
"""The file in a pipeline's storage folder with its name: the folder can be called differently."""
_EVENT_LOG = "event_log"


def _event_log(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> DataFrame:
    arguments = [*positional, *named.values()]
    if len(arguments) != 1:
        raise wrong_argument_count("`event_log`", 1, len(arguments))
    if arguments[0] is None:
        raise _unavailable("The function event_log takes a constant or TABLE(t), not NULL.")
    name = _pipeline_of(spark, arguments[0]) if isinstance(arguments[0], dict) else arguments[0]
    return spark.read.format("delta").load(str(_find_event_log(name)))


register_function("event_log", _event_log)


def _pipeline_of(spark: SparkSession, argument: dict[str, str]) -> str:
    """Return the pipeline that manages the table of `TABLE(t)`."""
    if "table" not in argument:
        raise _unavailable(f"The function event_log takes a constant or TABLE(t), not {argument}.")
    table = argument["table"]
    pipeline = managing_pipeline(spark, table)
    if pipeline is None:
        raise _unavailable(f"The table {table} is not managed by a pipeline.")
    return pipeline


def managing_pipeline(spark: SparkSession, table: str) -> str | None:
    """Return the name of the pipeline that manages a table; None without one."""
    return table_properties(spark, table).get(PIPELINE)


def pipeline_storage(pipeline: str) -> Path | None:
    """Return the storage folder of a pipeline of this lakehouse, by its name or id; None without one."""
    for folder in _storage_folders():
        name_file = folder / NAME_FILE
        name = name_file.read_text() if name_file.is_file() else None
        if pipeline in (folder.name, name) and (folder / _EVENT_LOG).is_dir():
            return folder
    return None


def _storage_folders() -> list[Path]:
    settings = current_settings()
    return sorted(settings.pipelines.glob("*/")) if settings else []


def _find_event_log(pipeline: str) -> Path:
    storage = pipeline_storage(pipeline)
    if storage is not None:
        return storage / _EVENT_LOG
    known = ", ".join(folder.name for folder in _storage_folders()) or "none"
    raise _unavailable(f"This lakehouse has no event log of a pipeline `{pipeline}`. Pipelines: {known}.")


def _unavailable(message: str) -> SqlError:
    return SqlError("EVENT_LOG_UNAVAILABLE", message, sql_state="42000")
