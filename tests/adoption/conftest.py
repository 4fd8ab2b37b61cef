"""Repositories that know nothing of lakeward, each with its own pytest in a process of its own."""

from __future__ import annotations

import os
import shutil
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

from tests.processes import environ_without, outcome

# They have their own conftest.py and their own pytest.
collect_ignore = ["repositories"]

REPOSITORIES = Path(__file__).with_name("repositories")


@dataclass(frozen=True)
class Suite:
    """What became of a repository's own tests: name to outcome, and all that pytest printed."""

    outcomes: dict[str, str]
    printed: str


def run_suite(name: str, folder: Path, *arguments: str, **environ: str) -> Suite:
    """Run the tests of a copy of the repository `name`, as `lakeward test` does in its environment."""
    root = folder / name
    shutil.copytree(REPOSITORIES / name, root)
    astray = ("LAKEWARD_", "PYTEST", "COV_", "DATABRICKS_", "SPARK_", "PYSPARK_")
    kept = environ_without(*astray)
    kept |= {key: os.environ[key] for key in ("LAKEWARD_CACHE", "LAKEWARD_JARS") if key in os.environ}
    report = folder / "report.xml"
    ran = outcome(
        [
            *(sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "--tb=short"),
            *("-o", "junit_family=xunit2", f"--junitxml={report}", *arguments),
        ],
        cwd=root,
        env={**kept, "HOME": str(folder), **environ},
        timeout=240,
    )
    printed = ran.stdout + ran.stderr
    assert report.is_file(), printed
    cases = ET.parse(report).iter("testcase")
    return Suite({str(case.get("name")): _outcome(case) for case in cases}, printed)


def _outcome(case: ET.Element) -> str:
    return next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")
