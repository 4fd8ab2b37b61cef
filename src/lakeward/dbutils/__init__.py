"""`dbutils` for code that runs on Databricks: files, widgets, secrets, notebooks, task values.

`dbutils()` is the object that such code expects. A runner puts what it knows (parameters, context, task
values) in force with `using(Environment(…))`, and catches NotebookExit. `FUNCTIONS` is the table of all
functions with what becomes of each here. Importing this room starts nothing and does not import pyspark.
"""

from __future__ import annotations

from lakeward.dbutils.context import Context
from lakeward.dbutils.declared import FUNCTIONS, GROUPS, Function
from lakeward.dbutils.environment import Environment, environment, using
from lakeward.dbutils.facade import DBUtils, dbutils
from lakeward.dbutils.failures import ExecutionError, JavaError, NotebookExit
from lakeward.dbutils.fs import FileInfo
from lakeward.dbutils.help import as_markdown
from lakeward.dbutils.redaction import REDACTED, redacted, redacting, with_secrets
from lakeward.dbutils.secret_files import FileSecrets
from lakeward.dbutils.secret_stores import (
    EnvironmentSecrets,
    SecretStore,
    Stores,
    hear_secrets,
    known_secrets,
    remember,
    stores_of,
)
from lakeward.dbutils.sql_functions import install
from lakeward.dbutils.task_values import JobValues, TaskValues

__all__ = [
    "FUNCTIONS",
    "GROUPS",
    "REDACTED",
    "Context",
    "DBUtils",
    "Environment",
    "EnvironmentSecrets",
    "ExecutionError",
    "FileInfo",
    "FileSecrets",
    "Function",
    "JavaError",
    "JobValues",
    "NotebookExit",
    "SecretStore",
    "Stores",
    "TaskValues",
    "as_markdown",
    "dbutils",
    "environment",
    "hear_secrets",
    "install",
    "known_secrets",
    "redacted",
    "redacting",
    "remember",
    "stores_of",
    "using",
    "with_secrets",
]
