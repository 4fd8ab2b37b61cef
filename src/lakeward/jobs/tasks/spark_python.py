"""`spark_python_task`: a Python file of the bundle, run as a script."""

from __future__ import annotations

import runpy
from pathlib import Path

from lakeward.databricks_shims import free_names
from lakeward.errors import ConfigurationError
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks.context import Action, Context
from lakeward.jobs.tasks.python_code import bundle_distributions, run_user_code
from lakeward.session import MOUNT_ADVICE, find_platform_file, is_platform_path


def prepare(context: Context, task: Task) -> Action | None:
    """Return the run of the file as `__main__`; None in a dry run.

    Its folder is first on `sys.path` and the working directory; `spark`, `dbutils` … are defined without an
    import. Raises ConfigurationError if the file does not exist or comes from a Git source.
    """
    name = str(task.spec.get("python_file") or "")
    if task.spec.get("source") == "GIT":
        message = f"The task `{task.key}` takes its file from a Git source, which cannot be run here yet."
        raise ConfigurationError("TASK_NOT_SUPPORTED", message)
    file = _local(context, name)
    if not name or not file.is_file():
        message = f"The task `{task.key}` runs the file `{name}`, and there is no {file}."
        advice = MOUNT_ADVICE if is_platform_path(name) else "Paths are relative to the file that names them."
        raise ConfigurationError("FILE_NOT_FOUND", message, next_step=advice)
    argv = [str(file), *(str(value) for value in task.spec.get("parameters") or ())]
    folders = [
        folder for found in bundle_distributions(context, task) for folder in context.folders_of(found)
    ]
    if context.selection.dry_run:
        return None

    def action() -> None:
        def code() -> object:
            # Only in the file, as on the platform: modules that it imports do not have them.
            return runpy.run_path(str(file), init_globals=free_names(), run_name="__main__")

        run_user_code(context, task, code, argv=argv, paths=[file.parent, *folders], folder=file.parent)

    return action


def _local(context: Context, name: str) -> Path:
    if not name.startswith(("/", "dbfs:", "file:")):
        return context.bundle.root / name
    if is_platform_path(name):
        root = context.bundle.root
        found = find_platform_file(name, root, settings=context.settings, extensions=(".py",))
        if found is not None:
            return found
    from lakeward.session.paths import PathMap

    return Path(PathMap.of(context.settings).local(name))
