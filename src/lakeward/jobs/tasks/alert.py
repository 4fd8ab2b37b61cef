"""`alert_task`: the query of an alert, and its condition. No notification is sent.

Source: https://docs.databricks.com/aws/en/jobs/tasks/alert
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakeward.bundle import definition_of
from lakeward.errors import ConfigurationError, JobError
from lakeward.jobs.alert_condition import ALERT_ERROR, alert_state
from lakeward.jobs.definition import ALERT_OUTPUT, Task
from lakeward.jobs.tasks.sql import warehouse_session
from lakeward.jobs.tasks.user_code import Action, Context

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CONDITIONS = {"alerts": "ALERT_UNKNOWN", "dashboards": "DASHBOARD_UNKNOWN"}


def saved_object(context: Context, task: Task, kind: str, field: str) -> dict[str, Any]:
    """Return the definition of the object of `kind` whose id is `field` of the task.

    Raises ConfigurationError(ALERT_UNKNOWN, DASHBOARD_UNKNOWN).
    """
    identifier = task.spec.get(field)
    key = context.bundle.key_of(kind, identifier) if identifier else None
    if key is None:
        what = kind.removesuffix("s")
        found = f"`{identifier}`" if identifier else "nothing"
        message = f"The task `{task.key}` names {found} as its {what}, which is not known here."
        next_step = f"Declare the {what} as a resource, and refer to it: ${{resources.{kind}.KEY.id}}."
        raise ConfigurationError(_CONDITIONS[kind], message, next_step=next_step)
    return definition_of(context.bundle, kind, key)


# Names of types in the manifest of a statement, where they differ from Spark's.
_TYPES = {"INTEGER": "INT"}


def prepare(context: Context, task: Task) -> Action | None:
    """Return the evaluation of the alert; None in a dry run.

    The task succeeds whatever state the alert has, and fails if the alert cannot be evaluated. Raises
    ConfigurationError(ALERT_UNKNOWN, ALERT_INVALID).
    """
    alert = saved_object(context, task, "alerts", "alert_id")
    if not alert.get("query_text") or not (alert.get("evaluation") or {}).get("comparison_operator"):
        message = f"The alert of the task `{task.key}` needs query_text and evaluation."
        raise ConfigurationError("ALERT_INVALID", message)
    if context.selection.dry_run:
        return None

    def action() -> None:
        given = task.spec.get("parameters") or {}
        with warehouse_session(context.settings) as spark:
            arguments = _arguments(spark, alert.get("parameters") or (), given)
            frame = spark.sql(str(alert["query_text"]).rstrip().rstrip(";"), arguments)
            columns = [_column(field.name, field.dataType.typeName()) for field in frame.schema.fields]
            rows = _as_text(frame)
        state = alert_state(alert["evaluation"], columns, rows)
        if state == ALERT_ERROR:
            source = (alert["evaluation"].get("source") or {}).get("name")
            message = (
                f"The column `{source}` of the alert's query does not exist, or does not fit the condition."
            )
            raise JobError("ALERT_EVALUATION_FAILED", message)
        print(f"{alert.get('display_name') or 'The alert'}: {state}")
        context.task_values[task.key, ALERT_OUTPUT] = json.dumps(state)

    return action


def _arguments(spark: SparkSession, declared: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an alert's parameters; those of the task come first."""
    values = {}
    for each in declared:
        name, kind = str(each["name"]), str(each.get("type") or "STRING")
        text = given.get(name, each.get("value"))
        values[name] = text
        if text is not None and kind.upper() != "STRING":
            values[name] = spark.sql(f"SELECT CAST(:value AS {kind})", {"value": str(text)}).collect()[0][0]
    return {**given, **values}


def _column(name: str, kind: str) -> dict[str, str]:
    return {"name": name, "type_name": _TYPES.get(kind.upper(), kind.upper())}


def _as_text(frame: DataFrame) -> list[tuple[str | None, ...]]:
    # By position: two columns may have the same name.
    names = [f"c{number}" for number in range(len(frame.columns))]
    renamed = frame.toDF(*names)
    return [tuple(row) for row in renamed.select(*(renamed[name].cast("string") for name in names)).collect()]
