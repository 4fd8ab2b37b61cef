"""Reading a bundle: databricks.yml, its includes, variables, targets and references (spec bundle.md §4).

`load` gives one target of a bundle with everything resolved; `find_root` finds the folder it stands in.
"""

from lakeward.bundle.entry_points import Distribution
from lakeward.bundle.includes import find_root
from lakeward.bundle.load import load
from lakeward.bundle.model import Bundle
from lakeward.bundle.near import suggestion
from lakeward.bundle.workspace import short_name

__all__ = ["Bundle", "Distribution", "find_root", "load", "short_name", "suggestion"]
