"""The packages of `pyspark[connect]` beyond our own: only the peer of one case needs them."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import requires, version
from pathlib import Path

from lakeward.session.jvm.jars import cache_dir

__all__ = ["connect_packages"]

_OURS = ("pandas", "pyarrow", "numpy")


def connect_packages() -> Path:
    """A folder for PYTHONPATH, filled by pip on first use. Raises CalledProcessError without a network."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    folder = cache_dir() / "benchmarks" / f"connect-{version('pyspark')}-py{python}"
    if not (folder / "complete").exists():
        wanted = [
            line.split(";")[0].strip() for line in requires("pyspark") or () if 'extra == "connect"' in line
        ]
        wanted = [line for line in wanted if not line.startswith(_OURS)] + ["pyyaml"]
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--target", str(folder)]
        subprocess.run([*pip, *wanted], check=True, stdout=sys.stderr)
        (folder / "complete").touch()
    return folder
