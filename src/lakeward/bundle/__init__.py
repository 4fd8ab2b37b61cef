"""Reading a bundle: databricks.yml, its includes, variables, targets and references (spec bundle.md §4).

`load` gives one target of a bundle with everything resolved; `find_root` finds the folder it stands in;
`load_jobs` reads a file of job definitions that stands alone; `findings` tells what a deployment would
refuse.
"""

from lakeward.bundle.artifacts import Artifact, artifacts_of, build, with_version
from lakeward.bundle.deployment import Api, Deployed, deploy, deployed_id, destroy
from lakeward.bundle.document import as_markdown
from lakeward.bundle.entry_points import Distribution, read_wheel
from lakeward.bundle.includes import find_root
from lakeward.bundle.job_file import is_job_file, load_jobs, only_job
from lakeward.bundle.load import load
from lakeward.bundle.model import Bundle
from lakeward.bundle.near import suggestion
from lakeward.bundle.node import Position
from lakeward.bundle.quartz import CronError
from lakeward.bundle.rules import RULES, Finding, findings
from lakeward.bundle.runtimes import runtime_here, runtime_of
from lakeward.bundle.summary import as_markdown as summary_markdown
from lakeward.bundle.summary import as_text as summary_text
from lakeward.bundle.summary import summarised
from lakeward.bundle.sync import synced_files
from lakeward.bundle.timers import Timer, timers_of
from lakeward.bundle.workspace import short_name

__all__ = [
    "RULES",
    "Api",
    "Artifact",
    "Bundle",
    "CronError",
    "Deployed",
    "Distribution",
    "Finding",
    "Position",
    "Timer",
    "artifacts_of",
    "as_markdown",
    "build",
    "deploy",
    "deployed_id",
    "destroy",
    "find_root",
    "findings",
    "is_job_file",
    "load",
    "load_jobs",
    "only_job",
    "read_wheel",
    "runtime_here",
    "runtime_of",
    "short_name",
    "suggestion",
    "summarised",
    "summary_markdown",
    "summary_text",
    "synced_files",
    "timers_of",
    "with_version",
]
