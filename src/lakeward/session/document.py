"""The page on runtimes, made out of the tables that sessions go by."""

from __future__ import annotations

from lakeward.session.profiles import DEFAULT_PROFILE, PROFILES
from lakeward.session.serverless import SERVERLESS_LIMITS, SERVERLESS_SETTINGS, SERVERLESS_STATEMENTS

__all__ = ["as_markdown"]

_HEAD = f"""\
# Sessions and runtimes

Every way to a session ends at lakeward's: `SparkSession.builder` with whatever it is told,
`SparkContext(…)`, `newSession()`, `DatabricksSession.builder`. The builder's settings are kept and win. Left
out are Delta's own jars, which are there, and Hive's catalog, which `enableHiveSupport()` asks for;
modules of Spark and Hadoop in `spark.jars.packages` come in the versions that fit this Spark.
Where a builder gives Delta's catalog to `spark_catalog`, as open-source Spark is told to use Delta,
`spark_catalog` is another name of the first catalog; without that it is a catalog of its own.
`.remote(…)` is PySpark's own business. A setting that a running session cannot take any more is said once.
`LAKEWARD_DISABLE=1` changes nothing of PySpark.

## Which runtime

`LAKEWARD_PROFILE`, else what the bundle's compute is (`spark_version`, `serverless`), else `runtime` under
`[tool.lakeward]` in pyproject.toml, else, in `lakeward test`, the newest that the repository's pins on
databricks-connect or pyspark admit (`LAKEWARD_PINNED_RUNTIME`), else {DEFAULT_PROFILE}. A builder that names
a `master` means a classic session; `DatabricksSession.builder.serverless()` means serverless compute. The
time zone is UTC. Since runtime 18 a `foreachBatch` that leaves rows of a stateful stream unread fails the
stream (STATE_STORE_COMMIT_VALIDATION_FAILED, behind Spark's `Exception thrown in awaitResult`).

| runtime | ANSI mode | `spark.version` |
|---|---|---|
"""
_OWN = "that of the Spark that runs here"
_SERVERLESS = """\

## What serverless compute refuses

Under the runtime `serverless` your code gets the platform's condition; PySpark and Delta go on as ever.
*assumed*: the condition is the platform's, what its message names is not known.

| in Python | condition | instead |
|---|---|---|
"""
_SQL = """\

| in SQL | condition | instead |
|---|---|---|
"""
_REST = """\

Streams need `trigger(availableNow=True)` or `once`: others are INFINITE_STREAMING_TRIGGER_NOT_SUPPORTED.
Settings are CONFIG_NOT_AVAILABLE, but for these:
"""


def as_markdown() -> str:
    """The text of docs/sessions.md."""
    runtimes = [
        f"| `{p.name}` | {'on' if p.ansi else 'off'} | {p.spark or _OWN} |\n" for p in PROFILES.values()
    ]
    limits = [
        f"| `{each.owner}.{each.name}` | {each.condition}{_mark(each.assumed)} | {each.instead} |\n"
        for each in SERVERLESS_LIMITS
    ]
    statements = [
        f"| {each.subject} | {each.condition}{_mark(each.assumed)} | {each.instead} |\n"
        for each in SERVERLESS_STATEMENTS
    ]
    settings = [f"- `{name}`\n" for name in sorted(SERVERLESS_SETTINGS)]
    parts = [_HEAD, *runtimes, _SERVERLESS, *limits, _SQL, *statements, _REST, "\n", *settings]
    return "".join(parts)


def _mark(assumed: bool) -> str:
    return " (assumed)" if assumed else ""
