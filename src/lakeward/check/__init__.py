"""What of a repository will run here, told without running any of it: no JVM, no import of its code.

    files ── read ──> uses ── judged by the rooms' own tables ──> findings ──> report

Importing this room does not import pyspark.
"""

from lakeward.check.model import VERDICTS, Finding, Place, Report, Unread, Verdict
from lakeward.check.run import check
from lakeward.check.summary import as_object, constructs, what_will_run

__all__ = [
    "VERDICTS",
    "Finding",
    "Place",
    "Report",
    "Unread",
    "Verdict",
    "as_object",
    "check",
    "constructs",
    "what_will_run",
]
