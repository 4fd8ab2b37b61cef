"""The object `dbutils`."""

from __future__ import annotations

from typing import Any

from lakeward.dbutils.environment import Environment, environment
from lakeward.dbutils.fs import FileSystem
from lakeward.dbutils.help import text_of
from lakeward.dbutils.jobs import Jobs
from lakeward.dbutils.library import Credentials, Data, Library
from lakeward.dbutils.notebook import Notebook
from lakeward.dbutils.secrets import Secrets
from lakeward.dbutils.widgets import Widgets


class DBUtils:
    """The utilities of Databricks, on this process's lakehouse.

    It works on the environment in force at each call, or on a `given` one. `spark` is what
    `pyspark.dbutils.DBUtils(spark)` takes; nothing depends on it.
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

    def help(self, group: str | None = None) -> None:
        """Print what there is, or what one part offers."""
        print(text_of(group))

    def __repr__(self) -> str:
        return text_of()


_dbutils = DBUtils()


def dbutils() -> DBUtils:
    """The `dbutils` of this process: one object, whatever task or notebook asks for it."""
    return _dbutils
