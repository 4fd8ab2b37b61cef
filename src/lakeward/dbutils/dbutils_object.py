"""The object `dbutils`."""

from __future__ import annotations

from typing import Any

from lakeward.dbutils.api_table import help_text
from lakeward.dbutils.context import EntryPoint
from lakeward.dbutils.environment import Environment, environment
from lakeward.dbutils.fs import FileSystem
from lakeward.dbutils.jobs import Jobs
from lakeward.dbutils.library import Credentials, Data, Library
from lakeward.dbutils.notebook import Notebook
from lakeward.dbutils.secrets import Secrets
from lakeward.dbutils.widgets import Widgets


class DBUtils:
    """The utilities of Databricks for this process's lakehouse.

    Uses the environment that is active at each call, or a `given` one. `spark` is the parameter of
    `pyspark.dbutils.DBUtils(spark)` and is ignored.
    """

    def __init__(self, spark: Any = None, *, given: Environment | None = None) -> None:
        ask = environment if given is None else lambda: given
        self.credentials = Credentials(ask)
        self.data = Data(ask)
        self.fs = FileSystem(ask)
        self.jobs = Jobs(ask)
        self.library = Library(ask)
        self.notebook = Notebook(ask)
        self.secrets = Secrets(ask)
        self.widgets = Widgets(ask)

    @property
    def entry_point(self) -> EntryPoint:
        """Return the object of `dbutils.notebook.entry_point`, which has this name on the platform, too."""
        return self.notebook.entry_point

    def help(self, group: str | None = None) -> None:
        """Print the list of utilities, or the functions of one."""
        print(help_text(group))

    def __repr__(self) -> str:
        return help_text()


_dbutils = DBUtils()


def dbutils() -> DBUtils:
    """Return the `dbutils` object of this process; tasks and notebooks share it."""
    return _dbutils
