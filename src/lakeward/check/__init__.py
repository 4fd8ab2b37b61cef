"""Report what of a repository will run here without running it: no JVM, no import of its code.

    files ── read ──> uses ── judged by the packages' own tables ──> findings ──> report

Importing this package does not import pyspark.
"""

from lakeward.check.dbt_projects import build_command
from lakeward.check.imports import package_cure
from lakeward.check.model import VERDICTS, Finding, Report, Verdict
from lakeward.check.repository_check import check
from lakeward.check.summary import as_object, constructs, what_will_run
from lakeward.check.table_creation import TableSource, table_sources
