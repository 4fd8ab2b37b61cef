"""Wheels of projects, built by uv in an isolated environment with the project's own build backend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from lakeward.environments.indexes import uv_index_variables
from lakeward.environments.scm_versions import version_variables
from lakeward.environments.uv_program import clean_environ, uv_program
from lakeward.errors import SetupError

_TAIL = 20


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the wheel of the Python project in `project` into the empty `folder`, and return it.

    Projects without a pyproject.toml are built by setuptools. Raises SetupError: UV_NOT_FOUND, or
    WHEEL_BUILD_FAILED with the end of what uv printed.
    """
    # The time of 1980 in the archive: the same sources give the same wheel.
    surroundings = {"SOURCE_DATE_EPOCH": "315532800", **clean_environ(os.environ)}
    surroundings |= version_variables([project], surroundings)
    done = subprocess.run(
        [
            *(uv_program(os.environ), "build", "--wheel", "--no-config", "--python", sys.executable),
            *("--out-dir", str(folder), str(project)),
        ],
        env={**surroundings, **uv_index_variables(surroundings), "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    found = sorted(folder.glob("*.whl"))
    if done.returncode or not found:
        raise SetupError(
            "WHEEL_BUILD_FAILED",
            f"The project {project} could not be built:\n" + "\n".join(done.stdout.splitlines()[-_TAIL:]),
            next_step="The build installs `build-system.requires` of its pyproject.toml (setuptools without "
            "one): the package index has to be reachable, or the packages in uv's cache.",
        )
    return found[0]
