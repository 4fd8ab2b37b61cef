"""The environment of `dbutils`: the lakehouse, a notebook's parameters, a task's context.

A runner creates one for each notebook or task and activates it with `use_environment`. Other code uses the
default environment, which works on this process's lakehouse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path

from lakeward.dbutils.context import Context
from lakeward.dbutils.secret_stores import SecretStore, open_stores
from lakeward.dbutils.task_values import NoJob, TaskValues
from lakeward.session import PathMap, Settings, current_settings

NotebookRunner = Callable[[str, int, Mapping[str, str]], str]
"""Takes path, timeout in seconds and arguments of a notebook; returns its exit value."""


def _settings() -> Settings:
    return current_settings() or Settings.here()


@dataclass
class Environment:
    """State that `dbutils` reads; a runner may set every field.

    `arguments` are the parameters of the run: they override defaults of widgets and can be read without a
    widget. `widgets` holds the declared widgets with their defaults.
    """

    settings: Callable[[], Settings] = _settings
    arguments: Mapping[str, str] = field(default_factory=dict)
    widgets: dict[str, str] = field(default_factory=dict)
    context: Context | None = None
    task_values: TaskValues = field(default_factory=NoJob)
    run_notebook: NotebookRunner | None = None
    restart_python: Callable[[], None] | None = None
    secret_store: Callable[[Settings], SecretStore] = open_stores

    @property
    def paths(self) -> PathMap:
        """Return the path mapping of the lakehouse."""
        return PathMap.of(self.settings())

    @property
    def secrets(self) -> SecretStore:
        """Return the secrets of the lakehouse's target."""
        return self.secret_store(self.settings())

    @property
    def facts(self) -> Context:
        """Return the notebook context: the runner's, or one derived from the lakehouse."""
        return self.context or Context.of(self.settings())

    def in_notebook(self, file: Path) -> Environment:
        """Return this environment in which `file` is the notebook that runs.

        Its `notebookPath()` has no extension, and no `/Workspace` before workspace files.
        """
        path = self.paths.user(str(file.with_suffix(""))).removeprefix("/Workspace")
        return replace(self, context=replace(self.facts, notebook_path=path))


_default = Environment()
_innermost: list[Environment] = []
_own: ContextVar[Environment | None] = ContextVar("lakeward_dbutils", default=None)


def environment() -> Environment:
    """Return the active environment: this task's; in threads started by user code, the process's innermost
    one.
    """
    return _own.get() or (_innermost[-1] if _innermost else _default)


@contextmanager
def use_environment(given: Environment) -> Iterator[Environment]:
    """Make `dbutils`, however it was imported, use `given` within the block."""
    token = _own.set(given)
    _innermost.append(given)
    try:
        yield given
    finally:
        _innermost.remove(given)
        _own.reset(token)
