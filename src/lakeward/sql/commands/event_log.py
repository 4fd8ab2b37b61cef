"""The function event_log: a pipeline's events by its name, or by a table that it keeps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.session import current_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["NAME_FILE", "PIPELINE", "event_log"]

PIPELINE = "pipelines.pipelineId"
"""The property of a table that names the pipeline which keeps it."""
NAME_FILE = "name.txt"
"""Stands in a pipeline's storage with its name: the folder may have another one."""


def event_log(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Any:
    """The rows of the event log that the one argument names. Raises SqlError."""
    given = [*positional, *named.values()]
    if len(given) != 1 or given[0] is None:
        raise SqlError(
            "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
            "The function event_log takes one argument: event_log('<pipeline>') or event_log(TABLE(t)).",
            sql_state="42605",
        )
    name = _keeper(spark, given[0]) if isinstance(given[0], dict) else given[0]
    return spark.read.format("delta").load(str(_find(name)))._jdf


def _keeper(spark: SparkSession, argument: dict[str, str]) -> str:
    if "table" not in argument:
        raise _unavailable(f"The function event_log takes a constant or TABLE(t), not {argument}.")
    table = argument["table"]
    properties = {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}
    if PIPELINE not in properties:
        raise _unavailable(f"The table {table} is kept by no pipeline.")
    return str(properties[PIPELINE])


def _find(name: str) -> Path:
    settings = current_settings()
    folders = sorted(settings.pipelines.glob("*/")) if settings else []
    for folder in folders:
        told, log = folder / NAME_FILE, folder / "event_log"
        if name in (folder.name, told.read_text() if told.is_file() else None) and log.is_dir():
            return log
    known = ", ".join(folder.name for folder in folders) or "none"
    raise _unavailable(f"There is no event log of a pipeline `{name}` in this lakehouse; it has: {known}.")


def _unavailable(message: str) -> SqlError:
    return SqlError("EVENT_LOG_UNAVAILABLE", message, sql_state="42000")
