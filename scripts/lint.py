"""Style, types, layers and workflows: all tools run, a line each; one that complains is quoted in full.

Exit code 0 when all agree, else 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from actionlint import find_actionlint

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


def main() -> int:
    """Run all tools; the output of those that complain says what is wrong and where."""
    code = [name for name in ("src", "scripts", "tests", "fixtures", "benchmarks") if (ROOT / name).is_dir()]
    agreed = [
        _agrees("ruff", "check", "--quiet", *code),
        _agrees("ruff", "format", "--quiet", "--check", *code),
        _agrees("mypy"),
        _agrees("lint-imports"),
        _workflows_agree(),
    ]
    return 0 if all(agreed) else 1


def _workflows_agree() -> bool:
    actionlint, reason = find_actionlint(BIN)
    if actionlint is None:
        print(f"actionlint: not run, because {reason}")
        return True
    return _agrees("actionlint", program=actionlint)


def _agrees(name: str, *arguments: str, program: Path | None = None) -> bool:
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
    if done.returncode:
        print(done.stdout)
    print(" ".join([name, *arguments]) + (": failed" if done.returncode else ": ok"), flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
