"""Generator of docs/surroundings.md from the declared tables."""

from __future__ import annotations

import textwrap

from lakeward.databricks_shims.configuring import CATALOGS, TABLES
from lakeward.databricks_shims.defaults import DEFAULTS
from lakeward.databricks_shims.modules import PACKAGES, SERVED, WHEN_ASKED
from lakeward.databricks_shims.names import NAMES

_INTRODUCTION = """\
Code on Databricks expects more than Spark. In runs of lakeward, and in tests with its pytest
plugin, it is there; with `LAKEWARD_DISABLE=1`, on Databricks, or with Databricks Connect nothing
of this is put in place.

- **Modules** that exist only on Databricks: {modules}. Importing them starts no JVM: `spark`
becomes a session when it is used. A real module always comes first, but for
`databricks.sdk.runtime`, which databricks-sdk can serve only on Databricks.
`IPython.get_ipython().user_ns["dbutils"]` answers to the user's own files.

- **Names without an import** in a `spark_python_task`'s file: {names}. As on Databricks, modules
that it imports do not have them. Its folder is the working directory and first on `sys.path`, and
`DATABRICKS_RUNTIME_VERSION` is set while it runs.

- **`WorkspaceClient()`** where databricks-sdk finds neither a host nor credentials: secrets, files,
DBFS, volumes, workspace files and the current user are answered from the state folder; everything
else says how to get a workspace.

- **Secrets** are read from `LAKEWARD_SECRET_<SCOPE>_<KEY>`, then from the file
`secrets/<scope>/<key>` of the target's state folder, which only its owner may read (mode
600). What is put through the REST API is encrypted there, with a key in the OS keyring (where the
package `keyring` is installed) or in `~/.config/lakeward/secrets.key` (`LAKEWARD_SECRET_KEY_FILE`);
a file that you write yourself is taken as it is. Values that code has read are shown as
`[REDACTED]` in outputs, logs, reports and errors.

- **`dlt` and `pyspark.pipelines`** in plain unit tests: a decorated function stays a function and
gives its DataFrame; another `dlt`, installed or put into `sys.modules`, is left alone.
"""

_TABLES = """\
## Tables

{catalogs} are catalogs of every session. A table is created when its name is first used; samples are a few
thousand generated rows, the same on every machine, and tables of `system` are empty until a test seeds them.

"""


def as_markdown() -> str:
    """The whole page."""
    from lakeward.dbutils import as_markdown as functions
    from lakeward.session import path_rules_as_markdown

    modules = ", ".join(f"`{name}`" for name in (*SERVED, *PACKAGES, *WHEN_ASKED) if "." in name)
    names = ", ".join(f"`{name}`" for name in NAMES)
    settings = ["| setting | value | what it is | serverless |", "|---|---|---|---|"]
    settings += [
        f"| `{row.key}` | `{row.value}` | {row.about} | {'yes' if row.serverless else 'no'} |"
        for row in DEFAULTS
    ]
    return "\n".join(
        (
            "# What code finds around it\n",
            "\n".join(
                _wrapped(text.format(modules=modules, names=names)) for text in _INTRODUCTION.split("\n\n")
            ),
            "\n## Paths\n",
            path_rules_as_markdown(),
            "## dbutils\n",
            functions(),
            "## Settings\n\nThe user's own values win, whichever way they are given.\n",
            "\n".join(settings) + "\n",
            _TABLES.format(catalogs=" and ".join(f"`{name}`" for name in CATALOGS)) + _tables(),
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
