"""Finding actionlint, which checks .github/workflows and comes as no Python package of its authors."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

# Go's checksum database vouches for what this version is.
_SOURCE = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"


def find_actionlint(folder: Path) -> tuple[Path | None, str]:
    """Return the program, on PATH or in `folder` (built there if Go is installed); else None and why."""
    found = shutil.which("actionlint", path=f"{os.environ.get('PATH', os.defpath)}{os.pathsep}{folder}")
    if found:
        return Path(found), ""
    go = shutil.which("go")
    if go is None:
        return None, "neither it nor Go, which can build it, is on PATH."
    environ = {**os.environ, "GOBIN": str(folder.absolute()), "GOTOOLCHAIN": "local"}
    built = subprocess.run([go, "install", _SOURCE], env=environ, capture_output=True, text=True, check=False)
    program = folder / "actionlint"
    if built.returncode or not program.exists():
        told = (built.stderr.strip() or "no reason given").splitlines()[-1]
        return None, f"Go could not build it: {told}"
    return program, ""
