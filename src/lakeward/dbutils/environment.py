"""What `dbutils` works on: the lakehouse, a notebook's parameters, a task's surroundings.

A runner makes one for each notebook or task and puts it in force with `using`. Code outside of a run has the
default one, which works on this process's lakehouse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from lakeward.dbutils.context import Context
from lakeward.dbutils.secret_stores import SecretStore, stores_of
from lakeward.dbutils.task_values import NoJob, TaskValues
from lakeward.session import PathMap, Settings, current_settings

NotebookRunner = Callable[[str, int, Mapping[str, str]], str]
"""Path, timeout in seconds and arguments of a notebook; gives its exit value."""


def _settings() -> Settings:
    return current_settings() or Settings.here()


@dataclass
class Environment:
    """Everything that a call of `dbutils` may look at; every field can be given by a runner.

    `arguments` are the parameters that a run was given: they win over defaults of widgets, and can be read
    without one. `widgets` are those declared, with their defaults.
    """

    settings: Callable[[], Settings] = _settings
    arguments: Mapping[str, str] = field(default_factory=dict)
    widgets: dict[str, str] = field(default_factory=dict)
    context: Context | None = None
    task_values: TaskValues = field(default_factory=NoJob)
    run_notebook: NotebookRunner | None = None
    restart_python: Callable[[], None] | None = None
    secret_store: Callable[[Settings], SecretStore] = stores_of

    @property
    def paths(self) -> PathMap:
        """The path mapping of the lakehouse."""
        return PathMap.of(self.settings())

    @property
    def secrets(self) -> SecretStore:
        """The secrets of the lakehouse's target."""
        return self.secret_store(self.settings())

    @property
    def facts(self) -> Context:
        """The notebook context: the runner's, else one of the lakehouse alone."""
        return self.context or Context.of(self.settings())


_default = Environment()
_innermost: list[Environment] = []
_own: ContextVar[Environment | None] = ContextVar("lakeward_dbutils", default=None)


def environment() -> Environment:
    """The one in force: this task's; in a thread that user code started, the innermost of the process."""
    return _own.get() or (_innermost[-1] if _innermost else _default)


@contextmanager
def using(given: Environment) -> Iterator[Environment]:
    """A block in which `dbutils`, however it was imported, works on `given`."""
    token = _own.set(given)
    _innermost.append(given)
    try:
        yield given
    finally:
        _innermost.remove(given)
        _own.reset(token)
