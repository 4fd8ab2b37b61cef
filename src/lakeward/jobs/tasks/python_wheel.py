"""`python_wheel_task`: an entry point of a wheel, as it was built or from the sources that it is built of.

Source: https://docs.databricks.com/aws/en/jobs/python-wheel and …/jobs/task-parameters
"""

from __future__ import annotations

import importlib
from functools import reduce
from pathlib import Path

from lakeward.errors import ConfigurationError, JobError
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks.context import Action, Context
from lakeward.jobs.tasks.python_code import bundle_distributions, run_user_code, wheels


def prepare(context: Context, task: Task) -> Action | None:
    """Return the call of the entry point; None in a dry run.

    Raises ConfigurationError when the settings are incomplete or no artifact has the entry point.
    """
    package, name = (str(task.spec.get(field) or "") for field in ("package_name", "entry_point"))
    if not package or not name:
        message = f"The task `{task.key}` needs package_name and entry_point."
        raise ConfigurationError("TASK_INVALID", message)
    argv = [package, *arguments(context, task)]
    wheel = next((each for each in wheels(context, task) if each.is_package(package)), None)
    if wheel is not None:
        target = wheel.entry_points.get(name, f"{package}:{name}")
        return _prepared(context, task, target, argv, list(wheel.source_folders))
    target = context.bundle.entry_point(package, name)
    distributions = (context.bundle.distribution(package), *bundle_distributions(context, task))
    paths = list(dict.fromkeys(folder for found in distributions for folder in context.folders_of(found)))
    return _prepared(context, task, target, argv, paths)


def _prepared(context: Context, task: Task, target: str, argv: list[str], paths: list[Path]) -> Action | None:
    if context.selection.dry_run:
        return None

    def action() -> None:
        run_user_code(context, task, lambda: _call(target), argv=argv, paths=paths)

    return action


def arguments(context: Context, task: Task) -> list[str]:
    """Return the arguments of `task`: its parameters, or its named parameters as `--name=value`.

    A task with named parameters is also given every parameter of the job, which wins over its own.
    """
    positional, named = task.spec.get("parameters"), task.spec.get("named_parameters")
    if positional and named:
        message = f"The task `{task.key}` has both parameters and named_parameters."
        raise ConfigurationError("TASK_INVALID", message, next_step="Keep one of them.")
    if named:
        return [f"--{name}={value}" for name, value in {**named, **context.parameters}.items()]
    return [str(value) for value in positional or ()]


def _call(target: str) -> object:
    module_name, _, attribute = target.partition(":")
    module = importlib.import_module(module_name.strip())
    try:
        function = reduce(getattr, attribute.split("[")[0].strip().split("."), module)
    except AttributeError:
        message = f"The entry point leads to `{target}`, and {module_name} has no `{attribute}`."
        raise JobError("ENTRY_POINT_UNKNOWN", message) from None
    return function()  # type: ignore[operator]
