"""Stand-ins for what Databricks code finds around it: modules, free names, settings, a workspace client.

`install()` lets imports of `databricks.sdk.runtime`, `pyspark.dbutils` … give them; `running()` is a block
that has all of a task's surroundings; `configure(spark)` gives a session the platform's settings and
samples. Never with LAKEWARD_DISABLE=1, on Databricks, or under Databricks Connect. Importing this room starts
nothing, and a test suite without Spark pays next to nothing for it: what needs py4j is loaded when asked for.
"""

from __future__ import annotations

from lakeward.standins.configuring import configure, provided
from lakeward.standins.defaults import DEFAULTS
from lakeward.standins.display import display, displayHTML, shown_by
from lakeward.standins.document import as_markdown
from lakeward.standins.installing import install, installed, uninstall
from lakeward.standins.modules import SERVED
from lakeward.standins.names import NAMES, free_names
from lakeward.standins.surroundings import VERSION, running, runtime_version

__all__ = [
    "DEFAULTS",
    "NAMES",
    "SERVED",
    "VERSION",
    "as_markdown",
    "configure",
    "display",
    "displayHTML",
    "free_names",
    "install",
    "installed",
    "provided",
    "running",
    "runtime_version",
    "shown_by",
    "uninstall",
]
