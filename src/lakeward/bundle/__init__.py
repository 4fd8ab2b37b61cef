"""Reading a bundle: databricks.yml, its includes, variables, targets and references (spec bundle.md §4).

`load` gives one target of a bundle with everything resolved; `find_root` finds the folder it stands in;
`load_jobs` reads a file of job definitions that stands alone.
"""

from lakeward.bundle.entry_points import Distribution
from lakeward.bundle.includes import find_root
from lakeward.bundle.job_file import is_job_file, load_jobs, only_job
from lakeward.bundle.load import load
from lakeward.bundle.model import Bundle
from lakeward.bundle.near import suggestion
from lakeward.bundle.node import Position
from lakeward.bundle.runtimes import runtime_of
from lakeward.bundle.workspace import short_name

__all__ = [
    "Bundle",
    "Distribution",
    "Position",
    "find_root",
    "is_job_file",
    "load",
    "load_jobs",
    "only_job",
    "runtime_of",
    "short_name",
    "suggestion",
]
