"""The examples in PySpark's own docstrings give what they show, in a session of lakeward."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.process]

_CATALOG = "the current catalog is `main`"
_NAMED = "it names a table of `spark_catalog`, and the current catalog is `main`"
_BUCKETS = "Delta has no buckets"
_FILES = "a file of Spark's repository, which the package does not contain"
DIFFERENCES: dict[str, dict[str, str]] = {
    "pyspark.sql.catalog": {
        "cacheTable": _NAMED,
        "currentCatalog": _CATALOG,
        "databaseExists": _NAMED,
        "getDatabase": _CATALOG,
        "getFunction": _CATALOG,
        "getTable": _CATALOG,
        "isCached": _NAMED,
        "listCatalogs": _CATALOG,
        "listDatabases": _CATALOG,
        "recoverPartitions": "partitions are found without it",
        "refreshTable": _NAMED,
    },
    "pyspark.sql.classic.column": {},
    "pyspark.sql.classic.dataframe": {},
    "pyspark.sql.conf": {},
    "pyspark.sql.functions.builtin": {
        "current_catalog": _CATALOG,
        "input_file_block_length": _FILES,
        "input_file_block_start": _FILES,
        "input_file_name": "Unity Catalog does not support it",
    },
    "pyspark.sql.group": {},
    "pyspark.sql.merge": {},
    "pyspark.sql.observation": {},
    "pyspark.sql.pandas.conversion": {},
    "pyspark.sql.pandas.functions": {},
    "pyspark.sql.pandas.group_ops": {},
    "pyspark.sql.pandas.map_ops": {},
    "pyspark.sql.readwriter": {"bucketBy": _BUCKETS, "sortBy": _BUCKETS},
    "pyspark.sql.session": {},
    "pyspark.sql.streaming.query": {},
    "pyspark.sql.streaming.readwriter": {},
    "pyspark.sql.tvf": {},
    "pyspark.sql.udf": {},
    "pyspark.sql.udtf": {},
}  # fmt: skip
"""For each module, the objects whose examples differ, and why."""


def test_examples_give_what_they_show(tmp_path: Path) -> None:
    story = Path(__file__).with_name("pyspark_examples_story.py")
    done = subprocess.run(
        [sys.executable, str(story), *DIFFERENCES],
        cwd=tmp_path,
        env={**os.environ, "LAKEWARD_COLD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    new = {module: sorted(set(found[module]) - set(names)) for module, names in DIFFERENCES.items()}
    gone = {module: sorted(set(names) - set(found[module])) for module, names in DIFFERENCES.items()}
    assert {module: names for module, names in new.items() if names} == {}, done.stderr[-20_000:]
    assert {module: names for module, names in gone.items() if names} == {}
