"""The page on sessions and runtimes, generated from the tables that sessions use."""

from __future__ import annotations

from lakeward.session.runtimes.profiles import DEFAULT_PROFILE, PROFILES
from lakeward.session.runtimes.serverless_limitations import (
    SERVERLESS_LIMITS,
    SERVERLESS_SETTINGS,
    SERVERLESS_STATEMENTS,
)

_HEAD = f"""\
# Sessions and runtimes

Every way to a session gives lakeward's: `SparkSession.builder`, `SparkContext(…)`, `newSession()` and
`DatabricksSession.builder`. A builder's settings are kept and take precedence, except for these:

- Delta's jars and Hive's catalog (`enableHiveSupport()`) are left out: the first are included, the second is
  not needed.
- Modules of Spark and Hadoop in `spark.jars.packages` are loaded in the versions that fit this Spark,
  packages for Scala 2.12 in those for 2.13. A package that cannot be downloaded is left out, with a warning.
- The format `avro` is built in; `from_avro` and `to_avro` need the package `spark-avro`.
- A builder that assigns Delta's catalog to `spark_catalog`, the usual configuration of open-source Delta,
  makes `spark_catalog` another name of the first catalog. Without that it is a catalog of its own.
- `.remote(…)` is left to PySpark.
- A setting that a running session can no longer take is reported once.

With `LAKEWARD_DISABLE=1` lakeward changes nothing in PySpark. `lakeward check --patches` lists what it
changes otherwise.

Columns, windows, UDFs and schemas at module level need no session. The first column starts the JVM, and the
context starts with the settings of the builder that the code calls later. Settings of the JVM itself (its
memory, `spark.jars.packages`) must then come from `PYSPARK_SUBMIT_ARGS`. UDF decorators and schemas with
simple DDL strings start nothing. `column.cast(IntegerType())` and a call of a UDF need a session, and start
one.

## Which Spark

lakeward runs on the PySpark and Delta releases that it pins: PySpark 4.2.0 and delta-spark 4.4.0. Later
PySpark releases wait for Delta: delta-spark 4.4.1, the latest, declares `pyspark<=4.2.0`, which excludes
PySpark 4.2.1 and 4.3.0. PySpark's private attributes are used in one module, `lakeward.spark_internals`.

## Which catalogs

A session creates the catalogs that the project [declares](your-repository.md#catalogs-of-the-workspace):
`catalogs` under `[tool.lakeward]` in pyproject.toml, and those of `LAKEWARD_CATALOGS`.

## Which runtime

The first of these that is set chooses the runtime:

1. `--runtime` or `LAKEWARD_PROFILE`.
2. The bundle's compute (`spark_version`, `serverless`). Without a default target, the first target that names
   one counts.
3. `runtime` under `[tool.lakeward]` in pyproject.toml.
4. In `lakeward test`, the newest runtime that the repository's pins on databricks-connect or pyspark admit,
   or else the oldest above the pinned version (`LAKEWARD_PINNED_RUNTIME`).
5. {DEFAULT_PROFILE}. Errors that ANSI mode can cause then name it.

A builder that sets a `master` requests a classic session; `DatabricksSession.builder.serverless()` requests
serverless compute. The time zone is UTC. Since runtime 18 a `foreachBatch` that leaves rows of a stateful
stream unread fails the stream (STATE_STORE_COMMIT_VALIDATION_FAILED, wrapped in Spark's `Exception thrown in
awaitResult`). Runtimes from 17.3 on and serverless compute reject `input_file_name()`
(UC_COMMAND_NOT_SUPPORTED.WITH_RECOMMENDATION); use `_metadata.file_path`. In older ones it is the file of
Auto Loader's rows, except in `foreachBatch`, where it is an error (INPUT_FILE_NAME_IN_FOREACH_BATCH): select
`_metadata.file_path` of the stream. Functions of `foreachBatch` have the current catalog and schema
that the session had when the stream started.

Where Spark 4.2 gives another result than the Spark of a runtime, the runtime's counts:

| runtimes | behavior |
|---|---|
| before 17 | `to_date` and its like raise INCONSISTENT_BEHAVIOR_CROSS_VERSION where Spark 2 gave a date |
| before 17 | `encode`, `decode` and readers take every charset of Java, such as `cp1252` |
| before 19 | values that are not of the type that a Python function declares are NULL; now Arrow casts them |

`pyspark.__version__` is `spark.version` in runtimes with PySpark 4 (from 17.3 on). In older ones it is
that of the installed PySpark: libraries use it to find classes, and PySpark 3 has others.

| runtime | ANSI mode | `spark.version` |
|---|---|---|
"""
_OWN = "that of the installed Spark"
_SERVERLESS = """\

## What serverless compute rejects

Under the runtime `serverless` your code gets the platform's condition; PySpark's and Delta's own calls are
not affected. *assumed*: the condition is the platform's, the subject of its message is not known.

| in Python | condition | instead |
|---|---|---|
"""
_SQL = """\

| in SQL | condition | instead |
|---|---|---|
"""
_REST = """\

Streams need `trigger(availableNow=True)` or `once`: others are INFINITE_STREAMING_TRIGGER_NOT_SUPPORTED.
Settings other than these are CONFIG_NOT_AVAILABLE, except in pipelines:
"""


def as_markdown() -> str:
    """Return the text of docs/sessions.md."""
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
