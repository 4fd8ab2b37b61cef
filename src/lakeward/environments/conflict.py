"""Databricks Connect next to lakeward: both bring a `pyspark`, and one environment can hold one.

Imports nothing that takes time: every command checks for it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

CLASH = "databricks-connect"
_SPARK = "pyspark==4.2.0"


def conflicting_connect_version(places: Iterable[str] = sys.path) -> str | None:
    """Return the version of Databricks Connect that is installed in this environment; None when it is not."""
    for place in places:
        for found in Path(place).glob("databricks_connect-*.dist-info"):
            return found.name.removesuffix(".dist-info").partition("-")[2]
    return None


def removal_command(prefix: Path | None = None) -> str:
    """Return the command that takes it out of this environment and puts Spark's own files back."""
    try:
        made_by_uv = "\nuv = " in ((prefix or Path(sys.prefix)) / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        made_by_uv = False
    if made_by_uv:
        return f"uv pip uninstall {CLASH} && uv pip install --no-deps --reinstall {_SPARK}"
    pip = f"{sys.executable} -m pip"
    return f"{pip} uninstall -y {CLASH} && {pip} install --no-deps --force-reinstall {_SPARK}"
