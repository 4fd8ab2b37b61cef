"""`dbutils` for code written for Databricks: files, widgets, secrets, notebooks, task values.

`dbutils()` returns the process's object. A runner activates its parameters, context and task values with
`use_environment(Environment(…))` and catches NotebookExit. `FUNCTIONS` is the table of all functions with
their local behaviour. Importing this package starts nothing and does not import pyspark.
"""

from __future__ import annotations

from lakeward.dbutils.api_table import FUNCTIONS, GROUPS, Function
from lakeward.dbutils.context import Context, ReplContext
from lakeward.dbutils.dbutils_object import DBUtils, dbutils
from lakeward.dbutils.environment import Environment, environment, use_environment
from lakeward.dbutils.failures import ExecutionError, NotebookExit
from lakeward.dbutils.fs import FileInfo
from lakeward.dbutils.mounts import mount_links
from lakeward.dbutils.redaction import redact, redact_output, redactor, spark_conf_with_secrets, with_secrets
from lakeward.dbutils.redactors import REDACTED, Redactor, StreamRedactor
from lakeward.dbutils.secret_encryption import decrypt, encrypt
from lakeward.dbutils.secret_files import FileSecrets
from lakeward.dbutils.secret_stores import (
    known_secrets,
    open_stores,
    record_secret,
    record_stored_secrets,
    watch_secrets,
)
from lakeward.dbutils.sql_functions import install
from lakeward.dbutils.task_values import JobValues
