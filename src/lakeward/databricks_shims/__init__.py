"""Local replacements for what only Databricks has: modules, free names, settings, a workspace client.

`install()` serves imports of `databricks.sdk.runtime`, `pyspark.dbutils` and others, `use_surroundings()`
provides the environment of a task, and `configure(spark)` sets the platform's settings and sample catalogs.
Nothing is installed with LAKEWARD_DISABLE=1, on Databricks, or with Databricks Connect. Importing this
package starts nothing; modules that need py4j are imported on first use.
"""

from __future__ import annotations

from lakeward.databricks_shims.defaults import DEFAULTS
from lakeward.databricks_shims.display import display, displayHTML, use_display
from lakeward.databricks_shims.installing import install, is_installed, uninstall
from lakeward.databricks_shims.ipython import REPLACED, DatabricksShell, use_shell
from lakeward.databricks_shims.modules import PLATFORM_PACKAGES, SERVED
from lakeward.databricks_shims.names import NAMES, free_names, main_names
from lakeward.databricks_shims.surroundings import (
    VERSION,
    configure,
    provided_tables,
    runtime_version,
    use_surroundings,
)
