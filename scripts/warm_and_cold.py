"""Tests in a JVM of their own and in a daemon that has served before: are the results equal?

Arguments go to pytest. Exit code 0 when every test ends both ways as the other, 1 when one differs, 2 when
the daemon was not the one that was there before.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lakeward.session.cache import cache_dir

ROOT = Path(__file__).resolve().parent.parent
# Starts the daemon as the suite does, and leaves tables and views of its own in it.
FIRST = ["tests/session/test_catalogs.py", "-k", "two_catalogs"]
ENDS = ("failure", "error", "skipped")


@dataclass(frozen=True)
class Ran:
    """One run: test → how it ended, and how long all of it took."""

    ends: Mapping[str, str]
    seconds: float


def main(arguments: list[str]) -> int:
    """Run the tests cold, then warm, and say what differs."""
    with tempfile.TemporaryDirectory(prefix="lakeward-warm-") as folder:
        cache = Path(folder)
        for name in ("jars", "java"):
            (cache / name).symlink_to(cache_dir() / name)
        cold = _run(arguments, cache, {"LAKEWARD_COLD": "1"})
        try:
            _run(FIRST, cache, {"LAKEWARD_DAEMON": "1"})
            before = _daemons(cache)
            warm = _run(arguments, cache, {"LAKEWARD_DAEMON": "1"})
            same_jvm = bool(before) and before <= _daemons(cache)
        finally:
            stop = [sys.executable, "-m", "lakeward", "stop"]
            subprocess.run(stop, env={**os.environ, "LAKEWARD_CACHE": folder}, check=False)
    differences = differing(cold.ends, warm.ends)
    for line in differences:
        print(line)
    print(
        f"{len(cold.ends)} tests, {len(differences)} of them end differently; "
        f"cold {cold.seconds:.0f} s, warm {warm.seconds:.0f} s"
    )
    if not same_jvm:
        print("the daemon ended or was another one: nothing is proved.")
        return 2
    return 1 if differences or not cold.ends else 0


def differing(cold: Mapping[str, str], warm: Mapping[str, str]) -> list[str]:
    """Return a line for each test that ended differently, or was there only once.

    >>> differing({"a": "passed", "b": "passed"}, {"a": "passed", "b": "failure"})
    ['b: cold passed, warm failure']
    """
    return [
        f"{name}: cold {cold.get(name, 'absent')}, warm {warm.get(name, 'absent')}"
        for name in sorted({*cold, *warm})
        if cold.get(name) != warm.get(name)
    ]


def _run(arguments: list[str], cache: Path, environ: Mapping[str, str]) -> Ran:
    kept = {k: v for k, v in os.environ.items() if k not in ("CI", "LAKEWARD_COLD", "LAKEWARD_DAEMON")}
    report = cache / "report.xml"
    report.unlink(missing_ok=True)
    began = time.monotonic()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments],
        cwd=ROOT,
        env={**kept, **environ, "LAKEWARD_CACHE": str(cache)},
        check=False,
    )
    took = time.monotonic() - began
    cases = ET.parse(report).iter("testcase") if report.exists() else ()  # noqa: S314  # pytest wrote it
    return Ran({f"{case.get('classname')}::{case.get('name')}": _end(case) for case in cases}, took)


def _end(case: ET.Element) -> str:
    return next((child.tag for child in case if child.tag in ENDS), "passed")


def _daemons(cache: Path) -> set[str]:
    return {file.read_text(encoding="utf-8") for file in cache.glob("daemon-*/*.json")}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
