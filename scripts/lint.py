"""Check style, types, layers, wording, links, workflows: one line for each tool, its output when it fails.

Exit code 0 when all agree, else 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from actionlint import find_actionlint

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def main() -> int:
    """Run all tools and return the exit code."""
    code = [name for name in ("src", "scripts", "tests", "fixtures", "benchmarks") if (ROOT / name).is_dir()]
    checks: list[Callable[[], bool]] = [
        partial(_passes, "mypy"),
        partial(_passes, "lint-imports"),
        partial(_passes, "ruff", "check", "--quiet", *code),
        partial(_passes, "ruff", "format", "--quiet", "--check", *code),
        partial(_passes, "python", "scripts/prose.py"),
        partial(_passes, "python", "scripts/links.py"),
        _workflows_pass,
    ]
    # mypy takes as long as all others together, so two at a time are enough.
    with ThreadPoolExecutor(max_workers=2) as pool:
        passed = list(pool.map(lambda check: check(), checks))
    return 0 if all(passed) else 1


def _workflows_pass() -> bool:
    actionlint, reason = find_actionlint(BIN)
    if actionlint is None:
        print(f"actionlint: not run, because {reason}")
        return True
    return _passes("actionlint", program=actionlint)


def _passes(name: str, *arguments: str, program: Path | None = None) -> bool:
    environ = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
    done = subprocess.run(
        [str(program or BIN / name), *arguments],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    verdict = " ".join([name, *arguments]) + (": failed" if done.returncode else ": ok")
    print(f"{done.stdout}\n{verdict}" if done.returncode else verdict, flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
