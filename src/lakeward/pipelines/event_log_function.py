"""The SQL function event_log: a pipeline's events by its name, or by a table that it keeps (spec §5.4)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.sql import serve

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["OWNER", "install", "remember_name"]

OWNER = "pipelines.pipelineId"
_NAME = "name.txt"


def install(spark: SparkSession) -> None:
    """Let SQL read event logs. Cheap and idempotent."""
    del spark
    serve("function.event_log", _event_log)


def remember_name(storage: Path, name: str) -> None:
    """Write down whose storage it is: its folder may have another name."""
    storage.mkdir(parents=True, exist_ok=True)
    (storage / _NAME).write_text(name)


def _event_log(spark: SparkSession, *, positional: list[Any], named: dict[str, Any]) -> Any:
    given = [*positional, *named.values()]
    if len(given) != 1 or given[0] is None:
        raise SqlError(
            "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
            "The function event_log takes one argument: event_log('<pipeline>') or event_log(TABLE(t)).",
            sql_state="42605",
        )
    name = _owner(spark, given[0]["table"]) if isinstance(given[0], dict) else given[0]
    log = _find(name)
    return spark.read.format("delta").load(str(log))._jdf


def _owner(spark: SparkSession, table: str) -> str:
    properties = {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}
    if OWNER not in properties:
        raise SqlError(
            "EVENT_LOG_UNAVAILABLE", f"The table {table} is kept by no pipeline.", sql_state="42000"
        )
    return str(properties[OWNER])


def _find(name: str) -> Path:
    """The event log of the pipeline `name`, in whatever folder its storage is."""
    from lakeward.session import current_settings

    settings = current_settings()
    folders = sorted(settings.pipelines.glob("*/")) if settings else []
    for folder in folders:
        told = folder / _NAME
        if name in (folder.name, told.read_text() if told.is_file() else None):
            log = folder / "event_log"
            if (log / "_delta_log").is_dir():
                return log
    known = ", ".join(folder.name for folder in folders) or "none"
    raise SqlError(
        "EVENT_LOG_UNAVAILABLE",
        f"There is no event log of a pipeline `{name}` in this lakehouse; there are: {known}.",
        sql_state="42000",
    )
