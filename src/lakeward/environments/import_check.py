"""Packages that fail at import, and not at installation, when their versions do not fit together."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from lakeward.errors import SetupError

COMPILED = ("numpy", "pandas", "pyarrow")
FIRST_PYARROW_WITHOUT_NUMPY_1 = 24
"""From this version on, pyarrow refuses NumPy 1 at import; its metadata has no such requirement."""
PYARROW_FOR_NUMPY_1 = f"pyarrow<{FIRST_PYARROW_WITHOUT_NUMPY_1}"


def require_imports(
    python: Sequence[str],
    modules: Iterable[str],
    *,
    about: str,
    versions: Iterable[str],
    next_step: str,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> None:
    """Import `modules` together with Spark, by the command `python`.

    `about` and `versions` name the packages in the message. Raises SetupError(ENVIRONMENT_BROKEN).
    """
    done = subprocess.run(
        [*python, "-c", f"import {', '.join([*modules, 'pyspark.sql', 'lakeward'])}"],
        capture_output=True,
        text=True,
        check=False,
        env=environ,
        cwd=folder,
    )
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise SetupError(
            "ENVIRONMENT_BROKEN",
            f"{about} were installed and cannot be imported together ({', '.join(versions)}): {reason}",
            next_step=next_step,
        )
