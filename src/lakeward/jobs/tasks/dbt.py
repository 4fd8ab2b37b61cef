"""`dbt_task`: commands of dbt in a copy of the project, with the connection of the local workspace.

Source: https://docs.databricks.com/aws/en/jobs/dbt and https://docs.databricks.com/api/workspace/jobs/create
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

from lakeward.dbutils import record_secret, redact
from lakeward.errors import ConfigurationError, JobError
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks.git_checkout import folder_of_files
from lakeward.jobs.tasks.user_code import Action, Context
from lakeward.run_files import dbt_artifacts_file
from lakeward.session import find_platform_folder, is_platform_path
from lakeward.workspace_connection import NO_WORKSPACE, WORKSPACE_ID, process_connection

_PROJECT_FILE = "dbt_project.yml"
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
        if find_spec("dbt") is None or find_spec("dbt.cli") is None:
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
    if not (folder / _PROJECT_FILE).is_file():
        message = f"The task `{task.key}` runs dbt in {folder}, which has no {_PROJECT_FILE}."
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
    connection = process_connection() or NO_WORKSPACE
    record_secret(connection.token.encode())
    warehouse = str(spec.get("warehouse_id") or "")
    profiles = folder / str(spec.get("profiles_directory") or "")
    catalog, schema = (str(spec.get(name) or "") for name in ("catalog", "schema"))
    found = {
        # The name that the connector, and what else dbt-databricks uses, are led from to the workspace.
        "DBT_HOST": NO_WORKSPACE.host.removeprefix("https://"),
        "DBT_ACCESS_TOKEN": connection.token,
        "DBT_ORG_ID": str(WORKSPACE_ID),
        "DBT_CLUSTER_ID": "lakeward-local",
        "DBT_CATALOG": catalog,
        "DBT_SCHEMA": schema or _DEFAULT_SCHEMA,
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DBT_USE_COLORS": "false",
    }
    if warehouse:
        found["DBT_HTTP_PATH"] = f"/sql/1.0/warehouses/{warehouse}"
        profiles = folder.parent / "profiles"
        profiles.mkdir()
        text = _profile(_profile_name(project / _PROJECT_FILE), found)
        (profiles / "profiles.yml").write_text(text, encoding="utf-8")
    found["DBT_PROFILES_DIR"] = str(profiles)
    return {name: value for name, value in found.items() if value}


def _profile_name(file: Path) -> str:
    """Return the name of the project's profile; dbt itself reports what is wrong with the file."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        found = YAML(typ="safe").load(file)
    except YAMLError:
        return "databricks"
    return str(found.get("profile") or found.get("name")) if isinstance(found, dict) else "databricks"


def _profile(name: str, variables: Mapping[str, str]) -> str:
    """Return the profile that the platform generates for a warehouse: its values come from the variables."""
    output = {
        "type": "databricks",
        "host": "DBT_HOST",
        "http_path": "DBT_HTTP_PATH",
        "catalog": "DBT_CATALOG",
        "schema": "DBT_SCHEMA",
        "token": "DBT_ACCESS_TOKEN",
    }
    lines = [
        f"      {field}: {value if field == 'type' else _env_var(value)}"
        for field, value in output.items()
        if field == "type" or variables.get(value)
    ]
    head = f"{name}:\n  target: databricks\n  outputs:\n    databricks:\n"
    return head + "\n".join([*lines, "      threads: 4"]) + "\n"


def _env_var(name: str) -> str:
    return f"\"{{{{ env_var('{name}') }}}}\""


def _run(command: list[str], folder: Path, variables: Mapping[str, str], output: TextIO | None) -> None:
    """Run one command. Raises JobError for one that fails."""
    # The packages of the task's environment may have been added to this process after its start.
    code = f"import sys; sys.path[:] = {sys.path!r}; from lakeward.jobs.tasks.dbt_command import main; main()"
    print(f"+ {shlex.join(command)}", file=output, flush=True)
    with subprocess.Popen(
        [sys.executable, "-c", code, *command[1:]],
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
