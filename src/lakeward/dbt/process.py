"""The command line of a process of dbt."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def dbt_process(arguments: Sequence[str], python: Path | None = None) -> list[str]:
    """Return the command line that runs dbt with `arguments`, in the Python of an environment that has it.

    Without `python` it is the one of this process, with its packages: those of a task's environment may have
    been added after its start.
    """
    paths = "" if python is not None else f"sys.path[:] = {sys.path!r}; "
    code = f"import sys; {paths}from lakeward.dbt.entry_point import main; main()"
    return [str(python or sys.executable), "-c", code, *arguments]
