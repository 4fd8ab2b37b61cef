"""Off, and with several workers: the same suites with lakeward switched off, and under pytest-xdist."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.processes import environ_without, outcome
from tests.trees import write_files

OFF = """\
import pytest
from pyspark.sql import SparkSession

def test_pyspark_is_as_it_was():
    spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False).getOrCreate()
    conf = dict(spark.sparkContext.getConf().getAll())
    assert not [key for key, value in conf.items() if "lakeward" in key + value]
    assert "delta" not in conf.get("spark.sql.extensions", "")
    assert spark.catalog.currentCatalog() == "spark_catalog"
    assert spark.conf.get("spark.sql.sources.default") == "parquet"
    assert spark.range(3).count() == 3
    with pytest.raises(Exception, match="workspaceUrl"):
        spark.conf.get("spark.databricks.workspaceUrl")
    for name in ("dlt", "databricks.connect", "pyspark.dbutils"):
        with pytest.raises(ImportError):
            __import__(name)
    spark.stop()
"""
WORKERS = """\
import os
import pytest

@pytest.mark.parametrize("number", range(6))
def test_rows(lakehouse, number):
    assert os.environ["PYTEST_XDIST_WORKER"] in os.environ["LAKEWARD_HOME"]
    lakehouse.seed("t", [(number,)], "n int")
    assert [row.n for row in lakehouse.table("t").collect()] == [number]
"""


def run(folder: Path, *arguments: str, **environ: str) -> str:
    astray = ("LAKEWARD_HOME", "LAKEWARD_TESTS", "LAKEWARD_DAEMON", "PYTEST", "COV_", "DATABRICKS_")
    kept = environ_without(*astray)
    ran = outcome(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**kept, **environ},
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.slow
@pytest.mark.process
def test_switched_off_a_suite_has_pyspark_as_it_was(tmp_path: Path) -> None:
    write_files(tmp_path, {"pytest.ini": "[pytest]\n", "test_off.py": OFF})
    assert "1 passed" in run(tmp_path, LAKEWARD_DISABLE="1")


@pytest.mark.slow
@pytest.mark.process
def test_two_workers_have_a_lakehouse_each(tmp_path: Path) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not in this environment")
    write_files(tmp_path, {"pytest.ini": "[pytest]\n", "test_workers.py": WORKERS})
    assert "6 passed" in run(tmp_path, "-n", "2", LAKEWARD_DAEMON="0")
