"""`notebook_task`: a notebook of the bundle, run cell by cell.

Source: https://docs.databricks.com/aws/en/jobs/notebook and …/jobs/task-parameters
"""

from __future__ import annotations

import json
from contextlib import nullcontext, redirect_stdout
from pathlib import Path

from lakeward.errors import ConfigurationError, JobError
from lakeward.jobs.definition import NOTEBOOK_EXIT, Task
from lakeward.jobs.tasks.git_checkout import folder_of_files
from lakeward.jobs.tasks.user_code import Action, Context, distribution_folders, environment_of
from lakeward.session import MOUNT_ADVICE, find_platform_file, is_platform_path


def prepare(context: Context, task: Task) -> Action | None:
    """Return the run of the notebook; None in a dry run.

    Its widgets get `base_parameters`, overridden by the job's parameters. The results of all cells are
    written to the target's state folder. Raises ConfigurationError if the notebook does not exist or comes
    from another Git repository.
    """
    from lakeward.notebooks import load_notebook, run, write

    name = str(task.spec.get("notebook_path") or "")
    if not name:
        raise ConfigurationError(
            "TASK_INVALID",
            f"The task `{task.key}` needs notebook_path.",
            next_step="Name the notebook: notebook_path: ./notebook.py",
        )
    root = folder_of_files(context.bundle.root, context.job, task, task.spec)
    path, _ = load_notebook(_file(context, name, root))
    parameters = {
        key: str(value)
        for key, value in {**(task.spec.get("base_parameters") or {}), **context.parameters}.items()
    }
    folders = distribution_folders(context, task)
    if context.selection.dry_run:
        return None

    def action() -> None:
        from lakeward.session import session

        with redirect_stdout(context.stdout) if context.stdout is not None else nullcontext():
            done = run(
                path,
                spark=session(context.settings),
                environment=environment_of(context, task),
                parameters=parameters,
                root=root,
                further=folders,
            )
        if done.exit_value is not None:
            context.task_values[task.key, NOTEBOOK_EXIT] = json.dumps(done.exit_value)
        if context.bundle.notebook_outcomes is not None:
            write(done, context.bundle.notebook_outcomes / task.key)
        done = write(done, context.settings.state / "notebooks")
        if done.error is not None:
            raise JobError(
                "NOTEBOOK_FAILED",
                f"{done.error}",
                next_step=f"Every cell's output is in {done.files['html']}.",
            )

    return action


def _file(context: Context, name: str, root: Path) -> Path:
    if is_platform_path(name) and not Path(name).is_relative_to(root):
        found = find_platform_file(name, root, settings=context.settings)
        if found is None:
            message = f"There is no notebook {name} in {root} or the repository that it is in."
            raise ConfigurationError("NOTEBOOK_NOT_FOUND", message, next_step=MOUNT_ADVICE)
        return found
    file = Path(name)
    return file if file.is_relative_to(root) or file.is_file() else root / name.lstrip("/")
