"""The context of a task's code, and the tasks that run Python: a file, or an entry point of a wheel.

Source: https://docs.databricks.com/aws/en/jobs/python-wheel and …/jobs/task-parameters
"""

from __future__ import annotations

import contextlib
import importlib
import os
import posixpath
import runpy
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from lakeward.bundle import Bundle, Distribution, read_wheel
from lakeward.databricks_shims import main_names, use_surroundings
from lakeward.dbutils import Context as Facts
from lakeward.dbutils import Environment, JobValues, NotebookExit, redact_output
from lakeward.errors import ConfigurationError, JobError
from lakeward.jobs.definition import Task
from lakeward.jobs.run_results import PipelineSelection
from lakeward.jobs.tasks.git_checkout import folder_of_files
from lakeward.notebooks import notebook_packages
from lakeward.session import MOUNT_ADVICE, find_platform_file, is_platform_path
from lakeward.user_code import is_user_file

if TYPE_CHECKING:
    from lakeward.pipelines import Progress, Update
    from lakeward.session import Settings

# Runs one task; raises if it fails. Returns the update if the task ran a pipeline.
Action = Callable[[], "Update | None"]


@dataclass(frozen=True)
class Context:
    """The run that a task belongs to.

    `stdout` receives the task's output if it must not go to the process's own. `task_values` holds values
    that tasks set for later ones, by task and key. `wheels` holds the folders with unpacked wheels, by
    project name; a project without one is imported from its sources.
    """

    bundle: Bundle
    settings: Settings
    job: Mapping[str, Any]
    parameters: Mapping[str, str]
    selection: PipelineSelection
    stdout: TextIO | None = None
    on_event: Callable[[Progress], None] | None = None
    job_id: str | None = None
    run_id: str | None = None
    task_values: MutableMapping[tuple[str, str], str] = field(default_factory=dict)
    wheels: Mapping[str, Path] = field(default_factory=dict)

    def folders_of(self, distribution: Distribution) -> tuple[Path, ...]:
        """Return the folders from which the modules of `distribution` are imported."""
        unpacked = self.wheels.get(distribution.name)
        return (unpacked,) if unpacked is not None else distribution.source_folders


# Validates a task before the run and returns its action, or None if a dry run has nothing to do for it.
Prepare = Callable[[Context, Task], "Action | None"]


def run_user_code(
    context: Context,
    task: Task,
    code: Callable[[], object],
    *,
    argv: Sequence[str],
    paths: Sequence[Path],
    folder: Path | None = None,
) -> None:
    """Call `code` with `sys.argv` = `argv` and `paths` first on `sys.path`; restore both afterwards.

    The code finds what Databricks provides (`dbutils`, the platform's modules …), and `folder`, if given, as
    its working directory. Modules imported from `paths` are removed again: tasks share no state on Databricks
    either. Secrets that it reads are redacted in its output. SystemExit with code 0 or None and
    `dbutils.notebook.exit` are successes; other exceptions propagate.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(use_surroundings(environment_of(context, task)))
        stack.enter_context(notebook_packages())
        stack.enter_context(_interpreter(list(argv), [str(path) for path in paths]))
        if folder is not None:
            stack.enter_context(_directory(folder))
        if context.stdout is not None:
            stack.enter_context(contextlib.redirect_stdout(context.stdout))
        stack.enter_context(redact_output())
        try:
            code()
        except NotebookExit:
            pass
        except SystemExit as leaving:
            if leaving.code not in (None, 0):
                raise


def local_file(context: Context, name: str, root: Path, *, extension: str) -> Path:
    """Return the file that a task names, which may not exist.

    Args:
        context: The run of the job.
        name: A path below `root`, a workspace path, or one of storage.
        root: The folder that relative paths start from.
        extension: The extension that a workspace path may lack.
    """
    if not name.startswith(("/", "dbfs:", "file:")):
        return root / name
    if is_platform_path(name):
        found = find_platform_file(name, root, settings=context.settings, extensions=(extension,))
        if found is not None:
            return found
    from lakeward.session.paths import PathMap

    return Path(PathMap.of(context.settings).local(name))


def file_advice(name: str) -> str:
    """Return what to do where the file that a task names cannot be read."""
    return MOUNT_ADVICE if is_platform_path(name) else "Paths are relative to the file that names them."


def environment_of(context: Context, task: Task) -> Environment:
    """Return the environment of `dbutils` for `task`: lakehouse, ids of the run, task values."""
    settings = context.settings
    facts = Facts.of(settings)
    return Environment(
        settings=lambda: settings,
        context=replace(facts, job_id=context.job_id, run_id=context.run_id, task_key=task.key),
        task_values=JobValues(context.task_values, task.key),
    )


def distribution_folders(context: Context, task: Task) -> list[Path]:
    """Return the folders that a task imports packages of the bundle from."""
    return [folder for found in _bundle_distributions(context, task) for folder in context.folders_of(found)]


def _bundle_distributions(context: Context, task: Task) -> tuple[Distribution, ...]:
    """Return the bundle's own projects whose wheels `task` uses, by its environment or libraries."""
    named = _named(context, task)
    return tuple(
        distribution
        for folder, distribution in context.bundle.distributions().items()
        if any(_is_below(str(wheel), folder) for wheel in named)
    )


def wheels(context: Context, task: Task) -> tuple[Distribution, ...]:
    """Return the content of the wheels that `task` names by absolute paths, as deployed jobs do."""
    named = (Path(str(name)) for name in _named(context, task))
    files = (path for path in named if path.is_absolute() and path.suffix == ".whl" and path.is_file())
    return tuple(map(read_wheel, files))


def _named(context: Context, task: Task) -> list[str]:
    named = list(task.libraries)
    for environment in context.job.get("environments") or ():
        if environment.get("environment_key") == task.environment:
            named += (environment.get("spec") or {}).get("dependencies") or ()
    return named


def _is_below(path: str, folder: str) -> bool:
    path, folder = posixpath.normpath(path), posixpath.normpath(folder)
    return path.endswith(".whl") and (folder == "." or path.startswith(f"{folder}/"))


@contextlib.contextmanager
def _directory(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@contextlib.contextmanager
def _interpreter(argv: list[str], paths: list[str]) -> Iterator[None]:
    old_argv, old_path, old_modules = sys.argv, list(sys.path), set(sys.modules)
    sys.argv = argv
    sys.path[:0] = paths
    try:
        yield
    finally:
        sys.argv = old_argv
        sys.path[:] = old_path
        for name in set(sys.modules) - old_modules:
            file = getattr(sys.modules[name], "__file__", None)
            # Extension modules of installed packages can be loaded only once.
            if is_user_file(file, paths):
                del sys.modules[name]


def prepare_file(context: Context, task: Task) -> Action | None:
    """Return the run of the file as `__main__`; None in a dry run.

    Its folder is first on `sys.path` and the working directory; `spark`, `dbutils` … are defined without an
    import. Raises ConfigurationError if the file does not exist or comes from another Git repository.
    """
    name = str(task.spec.get("python_file") or "")
    root = folder_of_files(context.bundle.root, context.job, task, task.spec)
    file = local_file(context, name, root, extension=".py")
    if not name or not file.is_file():
        message = f"The task `{task.key}` runs the file `{name}`, and there is no {file}."
        raise ConfigurationError("FILE_NOT_FOUND", message, next_step=file_advice(name))
    argv = [str(file), *(str(value) for value in task.spec.get("parameters") or ())]
    folders = distribution_folders(context, task)
    if context.selection.dry_run:
        return None

    def action() -> None:
        def code() -> object:
            # Only in the file, as on the platform: modules that it imports do not have them.
            return runpy.run_path(str(file), init_globals=main_names(), run_name="__main__")

        run_user_code(context, task, code, argv=argv, paths=[file.parent, *folders], folder=file.parent)

    return action


def prepare_wheel(context: Context, task: Task) -> Action | None:
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
    distributions = (context.bundle.distribution(package), *_bundle_distributions(context, task))
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

    A task without positional parameters is also given every parameter of the job, which wins over its own.
    Source: https://docs.databricks.com/aws/en/jobs/task-parameters (Configure key-value parameters)
    """
    positional, named = task.spec.get("parameters"), task.spec.get("named_parameters")
    if positional and named:
        message = f"The task `{task.key}` has both parameters and named_parameters."
        raise ConfigurationError("TASK_INVALID", message, next_step="Keep one of them.")
    if positional:
        return [str(value) for value in positional]
    return [f"--{name}={value}" for name, value in {**(named or {}), **context.parameters}.items()]


def _call(target: str) -> object:
    module_name, _, attribute = target.partition(":")
    module = importlib.import_module(module_name.strip())
    try:
        function = reduce(getattr, attribute.split("[")[0].strip().split("."), module)
    except AttributeError:
        message = f"The entry point leads to `{target}`, and {module_name} has no `{attribute}`."
        raise JobError("ENTRY_POINT_UNKNOWN", message) from None
    return function()  # type: ignore[operator]
