"""`lakeward bundle validate` on the bundle of this repository, against a bare reading of its YAML files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.registry import Sides, case

ROOT = Path(__file__).resolve().parents[2]


@case("bundle.validate")
@contextmanager
def validate(_folder: Path) -> Iterator[Sides]:
    """Both with the start of Python; the peer checks nothing and resolves nothing."""
    files = [str(file) for file in (ROOT / "databricks.yml", *sorted((ROOT / "resources").glob("*.yml")))]
    read = (
        f"from ruamel.yaml import YAML\nfor name in {files!r}:\n"
        "    YAML(typ='safe', pure=True).load(open(name))\n"
    )

    def ours() -> str:
        command = [sys.executable, "-m", "lakeward", "bundle", "validate", "-t", "prod"]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    def peer() -> str:
        subprocess.run([sys.executable, "-c", read], check=True)
        return ""

    def check(told: str) -> None:
        if told and "Validation OK." not in told:
            raise AssertionError(told[:500])

    yield Sides(ours, peer, check=check)
