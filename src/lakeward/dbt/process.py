"""Processes of dbt, whose connections lead to the local workspace."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path


def has_dbt(adapter: str | None = None) -> bool:
    """Return whether this process can import dbt and, with its name, an adapter."""
    modules = ["dbt.cli", *([f"dbt.adapters.{adapter}"] if adapter else [])]
    try:
        return all(find_spec(module) for module in modules)
    except ModuleNotFoundError:
        return False


def dbt_process(arguments: Sequence[str], python: Path | None = None) -> list[str]:
    """Return the command line that runs dbt with `arguments`, in the Python of an environment that has it.

    Without `python` it is the one of this process, with its packages: those of a task's environment may have
    been added after its start.
    """
    paths = "" if python is not None else f"sys.path[:] = {sys.path!r}; "
    code = f"import sys; {paths}from lakeward.dbt.process import run_dbt; run_dbt()"
    return [str(python or sys.executable), "-c", code, *arguments]


def run_dbt() -> None:
    """Run dbt with the arguments of this process."""
    from lakeward import databricks_shims

    databricks_shims.install()
    from dbt.cli.main import cli  # type: ignore[import-not-found,unused-ignore]

    sys.argv[0] = "dbt"
    cli()
