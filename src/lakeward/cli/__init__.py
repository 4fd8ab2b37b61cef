"""The command `lakeward`.

Nothing here needs Spark until a command has read its arguments and its bundle: a wrong word on the
command line is answered at once.
"""

from __future__ import annotations

from lakeward.cli.main import main
