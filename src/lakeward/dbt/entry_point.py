"""One command of dbt in a process of its own: its connections lead to the local workspace."""

from __future__ import annotations

import sys


def main() -> None:
    """Run dbt with the arguments of this process."""
    from lakeward import databricks_shims

    databricks_shims.install()
    from dbt.cli.main import cli  # type: ignore[import-not-found,unused-ignore]

    sys.argv[0] = "dbt"
    cli()
