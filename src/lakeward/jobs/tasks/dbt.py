"""`dbt_task`: commands of dbt in a copy of the project, with the connection of the local workspace.

Source: https://docs.databricks.com/aws/en/jobs/dbt and https://docs.databricks.com/api/workspace/jobs/create
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from lakeward.dbt import (
    PROJECT_FILE,
    DbtProject,
    connection_variables,
    dbt_process,
    has_dbt,
    warehouse_profile,
    write_profiles,
)
from lakeward.dbutils import redact
from lakeward.errors import ConfigurationError, JobError
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks.git_checkout import folder_of_files
from lakeward.jobs.tasks.user_code import Action, Context
from lakeward.run_files import dbt_artifacts_file
from lakeward.session import find_platform_folder, is_platform_path

_MOST_COMMANDS = 10
_DEFAULT_SCHEMA = "default"
# Of a working tree, what no project reads: state, environments, and what dbt itself writes.
_LEFT_OUT = (".git", ".lakeward", ".databricks", ".venv", "node_modules", "target", "logs", "dbt_packages")


def prepare(context: Context, task: Task) -> Action | None:
    """Return the run of the commands, one after the other until one fails; None in a dry run.

    Raises ConfigurationError: TASK_INVALID for missing commands, and commands that are not dbt's;
    FILE_NOT_FOUND for a folder without a project.
    """
    commands = _commands(task)
    project = _project(context, task)
    warehouse, profiles = (str(task.spec.get(name) or "") for name in ("warehouse_id", "profiles_directory"))
    if warehouse and profiles:
        message = f"The task `{task.key}` has warehouse_id and profiles_directory."
        raise ConfigurationError(
            "TASK_INVALID", message, next_step="Keep one of them: a warehouse has a profile of its own."
        )
    if context.selection.dry_run:
        return None

    def action() -> None:
        if not has_dbt():
            message = f"The task `{task.key}` runs dbt, which its environment does not have."
            next_step = "Add dbt-databricks to the dependencies of its environment, or to its libraries."
            raise ConfigurationError("DBT_NOT_INSTALLED", message, next_step=next_step)
        with _copied(project) as folder:
            variables = _variables(task.spec, folder, project)
            try:
                for command in commands:
                    _run(command, folder, variables, context.stdout)
            finally:
                _keep_artifacts(context, task, folder)

    return action


def _commands(task: Task) -> list[list[str]]:
    texts = [str(each) for each in task.spec.get("commands") or ()]
    if not 0 < len(texts) <= _MOST_COMMANDS:
        message = f"The task `{task.key}` has {len(texts)} commands."
        raise ConfigurationError("TASK_INVALID", message, next_step="dbt_task takes 1 to 10 commands.")
    commands = []
    for text in texts:
        try:
            words = shlex.split(text)
        except ValueError as error:
            words, reason = [], f": {error}"
        else:
            reason = ""
        if words[:1] != ["dbt"]:
            message = f"The task `{task.key}` has the command `{text}`, which is not one of dbt{reason}."
            raise ConfigurationError("TASK_INVALID", message, next_step="Each command begins with `dbt`.")
        commands.append(words)
    return commands


def _project(context: Context, task: Task) -> Path:
    """Return the project's folder. Raises ConfigurationError for one without a project."""
    name = str(task.spec.get("project_directory") or "")
    root = folder_of_files(context.bundle.root, context.job, task, task.spec)
    folder = root / name
    if is_platform_path(name):
        folder = find_platform_folder(name, root, settings=context.settings) or folder
    if not (folder / PROJECT_FILE).is_file():
        message = f"The task `{task.key}` runs dbt in {folder}, which has no {PROJECT_FILE}."
        raise ConfigurationError(
            "FILE_NOT_FOUND", message, next_step="project_directory names the folder of the project."
        )
    return folder


@contextmanager
def _copied(project: Path) -> Iterator[Path]:
    """Yield a copy of the project: dbt writes packages, logs and artifacts next to its files."""
    with tempfile.TemporaryDirectory(prefix="dbt-run-") as temporary:
        folder = Path(temporary) / "project"
        ignore = shutil.ignore_patterns(*_LEFT_OUT)
        shutil.copytree(project, folder, symlinks=True, ignore=ignore)
        yield folder


def _variables(spec: Mapping[str, Any], folder: Path, project: Path) -> dict[str, str]:
    """Return the variables of the commands: the connection, and where the profiles are."""
    warehouse, catalog, schema = (str(spec.get(name) or "") for name in ("warehouse_id", "catalog", "schema"))
    variables = connection_variables(warehouse=warehouse, catalog=catalog, schema=schema or _DEFAULT_SCHEMA)
    profiles = folder / str(spec.get("profiles_directory") or "")
    if warehouse:
        profiles = folder.parent / "profiles"
        write_profiles(profiles, warehouse_profile(DbtProject.of(project).profile, variables))
    return {**variables, "DBT_USE_COLORS": "false", "DBT_PROFILES_DIR": str(profiles)}


def _run(command: list[str], folder: Path, variables: Mapping[str, str], output: TextIO | None) -> None:
    """Run one command. Raises JobError for one that fails."""
    print(f"+ {shlex.join(command)}", file=output, flush=True)
    with subprocess.Popen(
        dbt_process(command[1:]),
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                print(redact(line), end="", file=output, flush=True)
        except BaseException:
            process.terminate()
            raise
    if process.returncode:
        message = f"The command `{shlex.join(command)}` failed with exit code {process.returncode}."
        raise JobError("DBT_COMMAND_FAILED", message, next_step="Its output is in the log of the task.")


def _keep_artifacts(context: Context, task: Task, folder: Path) -> None:
    """Archive what dbt has written, for the output of the run."""
    target = folder / "target"
    if context.run_id is None or not target.is_dir():
        return
    place = dbt_artifacts_file(context.settings.jobs, context.run_id, task.key)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tarfile.open(place, "w:gz") as archive:
        archive.add(target, arcname="target")
