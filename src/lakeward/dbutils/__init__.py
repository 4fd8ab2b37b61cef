"""`dbutils` for code written for Databricks: files, widgets, secrets, notebooks, task values.

`dbutils()` returns the process's object. A runner activates its parameters, context and task values with
`using(Environment(…))` and catches NotebookExit. `FUNCTIONS` is the table of all functions with their local
behaviour. Importing this package starts nothing and does not import pyspark.
"""

from __future__ import annotations

from lakeward.dbutils.api_table import FUNCTIONS, GROUPS, Function
from lakeward.dbutils.context import Context, ReplContext
from lakeward.dbutils.dbutils_object import DBUtils, dbutils
from lakeward.dbutils.environment import Environment, environment, using
from lakeward.dbutils.failures import ExecutionError, JavaError, NotebookExit
from lakeward.dbutils.fs import FileInfo
from lakeward.dbutils.mounts import mount_links
from lakeward.dbutils.redaction import redacted, redacting, redactor, spark_conf_with_secrets, with_secrets
from lakeward.dbutils.redactors import REDACTED, Redactor, StreamRedactor
from lakeward.dbutils.secret_encryption import decrypt, encrypt
from lakeward.dbutils.secret_files import FileSecrets
from lakeward.dbutils.secret_stores import (
    EnvironmentSecrets,
    SecretStore,
    Stores,
    hear_secrets,
    known_secrets,
    remember,
    remember_stored,
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
    "Redactor",
    "ReplContext",
    "SecretStore",
    "Stores",
    "StreamRedactor",
    "TaskValues",
    "dbutils",
    "decrypt",
    "encrypt",
    "environment",
    "hear_secrets",
    "install",
    "known_secrets",
    "mount_links",
    "redacted",
    "redacting",
    "redactor",
    "remember",
    "remember_stored",
    "spark_conf_with_secrets",
    "stores_of",
    "using",
    "with_secrets",
]
