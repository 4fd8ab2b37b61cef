"""Under the pytest plugin `pyspark.__version__` is that of the runtime before any session."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest
from tests.processes import environ_without, outcome

INSTALLED = importlib.metadata.version("pyspark")
TESTS = """\
{statement}
import sys

FOUND = {expression}


def test_version():
    print("version", FOUND)
    import pyspark
    assert not pyspark.SparkContext._active_spark_context
"""
WAYS = {
    "import pyspark": "pyspark.__version__",
    "from pyspark import __version__": "__version__",
    "from pyspark.version import __version__": "__version__",
    "import pyspark.sql, pyspark": "pyspark.__version__",
    "from pyspark.sql import functions; import pyspark as ps": "ps.__version__",
}


CASES = [("LAKEWARD_PROFILE", "17.3", "4.0.0", way) for way in WAYS] + [
    ("LAKEWARD_PINNED_RUNTIME", "18.3", "4.1.0", "import pyspark"),
    ("LAKEWARD_PROFILE", "15.4", INSTALLED, "import pyspark"),
]


@pytest.mark.process
@pytest.mark.parametrize(("variable", "runtime", "version", "statement"), CASES)
def test_libraries_find_the_version_of_the_runtime(
    tmp_path: Path, variable: str, runtime: str, version: str, statement: str
) -> None:
    (tmp_path / "test_it.py").write_text(TESTS.format(statement=statement, expression=WAYS[statement]))
    env = {**environ_without("LAKEWARD_"), variable: runtime}
    ran = outcome([sys.executable, "-m", "pytest", "-sq", "-p", "no:cacheprovider"], cwd=tmp_path, env=env)
    assert f"version {version}" in ran.stdout, ran.stdout + ran.stderr
