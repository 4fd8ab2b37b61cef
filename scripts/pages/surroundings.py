"""docs/surroundings.md: paths, functions of dbutils, settings, tables."""

from __future__ import annotations

import textwrap

from lakeward.databricks_shims.defaults import DEFAULTS
from lakeward.databricks_shims.modules import PACKAGES, SERVED
from lakeward.databricks_shims.names import NAMES
from lakeward.databricks_shims.surroundings import TABLES
from lakeward.dbutils import FUNCTIONS
from lakeward.session import PATH_RULES, PROVIDED_CATALOGS

_INTRODUCTION = """\
Code written for Databricks expects more than Spark. Runs of lakeward, and tests with its pytest plugin,
provide the following. Nothing is installed with `LAKEWARD_DISABLE=1`, on Databricks, or with Databricks
Connect.

- **Modules** that exist only on Databricks: {modules}. Importing them starts no JVM: `spark`
becomes a session on first use. An installed module takes precedence, except for
`databricks.sdk.runtime`, which databricks-sdk provides only on Databricks.
`IPython.get_ipython().user_ns["dbutils"]` works in the user's own files. Runs have IPython, with
[what notebooks show](notebooks.md), where it is not installed; tests do not.

- **Names without an import** in the file of a `spark_python_task`: {names}. As on Databricks, modules
that the file imports do not have them. The file's folder is the working directory and first on `sys.path`,
and `DATABRICKS_RUNTIME_VERSION` is set.

- **`WorkspaceClient()`** without a host and credentials has the target's [local workspace](workspace.md).
Secrets, files, DBFS, volumes, workspace files, the current user, the list of runtimes, and the catalogs,
schemas and tables that exist are served in the process. For everything else (jobs, pipelines, SQL
statements, grants …) the command starts the workspace's server with the first request, or uses the one
that runs. The server that it starts has the jobs and pipelines of the bundle, under the ids that
`${{resources.jobs.KEY.id}}` has in the run, without a deployment. It ends with the command, after the runs
that the code has started.

- **The notebook context** (`dbutils.notebook.entry_point`, and `get_context()` of
`dbruntime.databricks_repl_context`) has the address and the token of that workspace,
for code with `requests` and for `WorkspaceClient(host, token)`. `https://` before its `browserHostName` or
`spark.databricks.workspaceUrl` leads there, too, with requests, `urllib`, urllib3, `http.client`, httpx
and aiohttp.

- **Secrets** are read from `LAKEWARD_SECRET_<SCOPE>_<KEY>`, then from the file
`secrets/<scope>/<key>` of the target's state folder, which only its owner may read (mode
600). Secrets stored through the REST API are encrypted, with a key in the OS keyring (if the
package `keyring` is installed) or in `~/.config/lakeward/secrets.key` (`LAKEWARD_SECRET_KEY_FILE`).
Files that you write yourself contain the plain secret. Secrets that code has read are replaced by
`[REDACTED]` in outputs, logs, reports and errors.

- **`dlt` and `pyspark.pipelines`** in plain unit tests: a decorated function remains a function and
returns its DataFrame. Another `dlt`, installed or put into `sys.modules`, takes precedence.
"""

_TABLES = """\
## Tables

{catalogs} are catalogs of every session. A table is created when its name is first used; samples are a few
thousand generated rows, the same on every machine, and tables of `system` are empty until a test seeds them.

"""


_PATHS = """\
The meaning of a path depends on the API that reads it, as on Databricks: the root of Spark and of
`dbutils.fs` is DBFS, the root of Python's own functions is the local disk. This applies in notebooks, jobs,
pipelines and in commands and statements of a workspace. Tests (`lakeward test`), scripts and `lakeward sql`
pass local paths such as pytest's `tmp_path` to Spark, so there a path without a scheme is local.

| path | Spark and `dbutils.fs`: notebooks, jobs, pipelines, workspace | Spark and `dbutils.fs`: \
tests, scripts | \
`open`, `os`, `pathlib`, pandas, pyarrow |
|---|---|---|---|
{rows}

- `{{local}}` is a folder that is local everywhere: the project, the state folder, folders of mounts, and
  pytest's temporary folders. `--mount /data=/data` adds another one.
- `{{mount}}` is the prefix of a mount that is an absolute path. Only Spark and `dbutils.fs` read
  mounted URIs such as `s3://bucket`.
- `dbutils.fs` accepts no relative paths. On Databricks a relative path of Spark starts at the root of DBFS;
  here it starts at the folder of the bundle. Python's functions start at the folder of the task's notebook
  or file, as on Databricks.
- `hive_metastore` is the storage of its managed tables: `dbfs:/user/hive/warehouse/t` is the table `t` of its
  schema `default`, `dbfs:/user/hive/warehouse/s.db/t` that of the schema `s`. A Delta table that is written
  there by path is a table of the catalog, too.
- On Databricks Spark reads `/dbfs/tmp/x` as `dbfs:/dbfs/tmp/x`; here it is `dbfs:/tmp/x`.
"""


def _paths() -> str:
    rows = [
        f"| `{rule.spelling}` | {rule.platform} | {rule.script} | {rule.python or 'no path'} |"
        for rule in PATH_RULES
    ]
    return _PATHS.format(rows="\n".join(rows))


def _functions() -> str:
    lines = ["| function | here | what it does |", "|---|---|---|"]
    lines += [
        f"| `{row.full_name}{row.signature}` | {row.verdict} | {row.description} |" for row in FUNCTIONS
    ]
    return "\n".join(lines) + "\n"


def as_markdown() -> str:
    """Return the page."""
    modules = ", ".join(f"`{name}`" for name in (*SERVED, *PACKAGES) if "." in name)
    names = ", ".join(f"`{name}`" for name in NAMES)
    settings = ["| setting | value | what it is | serverless |", "|---|---|---|---|"]
    settings += [
        f"| `{row.key}` | `{row.value}` | {row.about} | {'yes' if row.serverless else 'no'} |"
        for row in DEFAULTS
    ]
    return "\n".join(
        (
            "# The runtime environment of user code\n",
            "\n".join(
                _wrapped(text.format(modules=modules, names=names)) for text in _INTRODUCTION.split("\n\n")
            ),
            "\n## Paths\n",
            _paths(),
            "## dbutils\n",
            _functions(),
            "## Settings\n\nValues set by the user take precedence.\n",
            "\n".join(settings) + "\n",
            _TABLES.format(catalogs=" and ".join(f"`{name}`" for name in PROVIDED_CATALOGS)) + _tables(),
        )
    )


def _wrapped(text: str) -> str:
    item, text = text.startswith("- "), " ".join(text.split())
    lines = textwrap.fill(
        text, 110, subsequent_indent="  " * item, break_on_hyphens=False, break_long_words=False
    )
    return lines if item else f"{lines}\n"


def _tables() -> str:
    lines = ["| schema | tables |", "|---|---|"]
    for schema in sorted(folder for folder in TABLES.glob("*/*") if folder.is_dir()):
        tables = ", ".join(f"`{file.stem}`" for file in sorted(schema.iterdir()))
        lines.append(f"| `{schema.parent.name}.{schema.name}` | {tables} |")
    return "\n".join(lines) + "\n"
