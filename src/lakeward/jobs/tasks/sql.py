"""`sql_task`: the statements of a file of the bundle, or of a saved query, in order.

Source: https://docs.databricks.com/aws/en/jobs/sql
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.errors import ConfigurationError, JobError
from lakeward.jobs.definition import SQL_OUTPUT, Task
from lakeward.jobs.tasks.git_checkout import folder_of_files
from lakeward.jobs.tasks.user_code import Action, Context, file_advice, local_file
from lakeward.suggestions import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from lakeward.session import Settings

_SHOWN = 1000


def prepare(context: Context, task: Task) -> Action | None:
    """Return the run of the statements; None in a dry run.

    Parameters of the job override those of the task and replace `:name` in the statements. Raises
    ConfigurationError for a missing file or query (FILE_NOT_FOUND), and for alerts and dashboards, which only
    a workspace supports (TASK_NOT_SUPPORTED).
    """
    text = _text(context, task)
    given = {**(task.spec.get("parameters") or {}), **context.parameters}
    arguments = {str(name): str(value) for name, value in given.items()}
    if context.selection.dry_run:
        return None

    def action() -> None:
        from lakeward.sql import split, time_limit

        last_rows: list[str] = []
        with warehouse_session(context.settings) as spark:
            for statement in split(text):
                named = {name: value for name, value in arguments.items() if f":{name}" in statement}
                with time_limit(spark), named_parameters(statement, task, arguments):
                    frame = spark.sql(statement, named) if named else spark.sql(statement)
                    if frame.columns:
                        last_rows = _rows_as_json(frame)
                        print(*last_rows, sep="\n")
        context.task_values[task.key, SQL_OUTPUT] = json.dumps([json.loads(row) for row in last_rows])

    return action


def _rows_as_json(frame: DataFrame) -> list[str]:
    """Return the first rows of a result, each as a JSON object with all columns."""
    from pyspark.sql.functions import struct, to_json

    as_json = to_json(struct("*"), {"ignoreNullFields": "false"})
    return [str(row[0]) for row in frame.limit(_SHOWN).select(as_json).collect()]


@contextmanager
def named_parameters(statement: str, task: Task, arguments: Mapping[str, str]) -> Iterator[None]:
    """Raise JobError with the names of the parameters for Spark's error about one without a value."""
    from lakeward.session import message_of
    from lakeward.sql import unbound_parameters

    try:
        yield
    except Exception as error:
        lacking = [name for name in unbound_parameters(statement, message_of(error)) if name not in arguments]
        if not lacking:
            raise
        names = ", ".join(f":{name}" for name in lacking)
        near = did_you_mean(lacking[0], arguments)
        raise JobError(
            "UNBOUND_SQL_PARAMETER",
            f"A statement of the task `{task.key}` reads {names}, which its `parameters` lack.",
            next_step=near or f"They have: {', '.join(sorted(arguments)) or 'none'}.",
        ) from None


@contextmanager
def warehouse_session(settings: Settings) -> Iterator[SparkSession]:
    """Yield the session in which statements have the effect that they have in a SQL warehouse.

    What the block sets ends with it, also where tasks share a session.
    """
    from lakeward.session import session, temporary_conf
    from lakeward.sql import SQL_PARAMETERS, WAREHOUSE_SESSION, set_timeout

    spark = session(settings)
    parameters = {key: str(spark.conf.get(key)) for key in SQL_PARAMETERS.values()}
    with temporary_conf(spark, {WAREHOUSE_SESSION: "true", **parameters}):
        try:
            yield spark
        finally:
            set_timeout(spark, None)


def _text(context: Context, task: Task) -> str:
    file, query = task.spec.get("file"), task.spec.get("query")
    if isinstance(file, Mapping):
        root = folder_of_files(context.bundle.root, context.job, task, file)
        name = str(file.get("path") or "")
        return _read(local_file(context, name, root, extension=".sql"), task, file_advice(name))
    if isinstance(query, Mapping):
        saved = _saved(context.bundle.root, str(query.get("query_id") or ""), task)
        return _read(saved, task, "It is the text of the query that the task names.")
    found = ", ".join(name for name in task.spec if name not in ("warehouse_id", "parameters")) or "nothing"
    message = f"The task `{task.key}` runs {found} on a warehouse, which cannot be run here."
    next_step = f"A file of the bundle can, or a saved query. `--exclude {task.key}` runs the other tasks."
    raise ConfigurationError("TASK_NOT_SUPPORTED", message, next_step=next_step)


def _saved(root: Path, identifier: str, task: Task) -> Path:
    # A saved query is written as `query:<name>`; in the bundle it is a file of that name.
    name = identifier.removeprefix("query:")
    found = sorted(path for path in root.rglob(f"{name}.sql") if ".lakeward" not in path.parts)
    if identifier.startswith("query:") and len(found) == 1:
        return found[0]
    message = f"The task `{task.key}` runs the query `{identifier}`, which only a workspace has."
    next_step = (
        "Look it up by its name (`lookup: {query: name}`), and keep its text in the bundle as name.sql."
    )
    raise ConfigurationError("FILE_NOT_FOUND", message, next_step=next_step)


def _read(file: Path, task: Task, advice: str) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        message = f"The task `{task.key}` runs the file {file}, which cannot be read: {reason}."
        raise ConfigurationError("FILE_NOT_FOUND", message, next_step=advice) from None
