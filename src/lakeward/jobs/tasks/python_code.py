"""Run a user's Python code in this process with its own arguments, paths and modules."""

from __future__ import annotations

import contextlib
import os
import posixpath
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lakeward.bundle import Distribution, read_wheel
from lakeward.databricks_shims import running
from lakeward.dbutils import Context as Facts
from lakeward.dbutils import Environment, JobValues, NotebookExit, redacting
from lakeward.jobs.definition import Task
from lakeward.jobs.tasks.context import Context
from lakeward.user_code import is_user_file


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
        stack.enter_context(running(environment_of(context, task)))
        stack.enter_context(_interpreter(list(argv), [str(path) for path in paths]))
        if folder is not None:
            stack.enter_context(_directory(folder))
        if context.stdout is not None:
            stack.enter_context(contextlib.redirect_stdout(context.stdout))
        stack.enter_context(redacting())
        try:
            code()
        except NotebookExit:
            pass
        except SystemExit as leaving:
            if leaving.code not in (None, 0):
                raise


def environment_of(context: Context, task: Task) -> Environment:
    """Return the environment of `dbutils` for `task`: lakehouse, ids of the run, task values."""
    settings = context.settings
    facts = Facts.of(settings)
    return Environment(
        settings=lambda: settings,
        context=replace(facts, job_id=context.job_id, run_id=context.run_id, task_key=task.key),
        task_values=JobValues(context.task_values, task.key),
    )


def bundle_distributions(context: Context, task: Task) -> tuple[Distribution, ...]:
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
