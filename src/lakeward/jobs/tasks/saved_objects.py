"""Alerts and dashboards that tasks name by their ids: those of the bundle, or of the workspace."""

from __future__ import annotations

from typing import Any

from lakeward.bundle import definition_of
from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks.user_code import Context

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
