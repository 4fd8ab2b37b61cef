"""Rules that need no workspace; `findings(bundle)` applies all of them."""

from lakeward.bundle.rules.files import missing_files, workspace_paths
from lakeward.bundle.rules.table import LOCAL_RULES, RULES, findings
