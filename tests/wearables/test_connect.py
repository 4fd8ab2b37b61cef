"""The transforms as a client of Spark Connect runs them, as from a laptop with Databricks Connect.

No RDD, no SparkContext and late analysis: what would not work there fails here, without a workspace.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.process]

CLIENT = """
import sys
from pathlib import Path
from pyspark.sql import SparkSession
from pyspark.sql.connect.session import SparkSession as Client
from tests.wearables.oracle import lakehouse
from tests.wearables.test_transforms_against_oracle import differences

source, scratch = map(Path, sys.argv[1:])
spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", 2).getOrCreate()
assert isinstance(spark, Client), type(spark)
assert "lakeward" not in sys.modules
print(differences(lakehouse(source), source, spark, scratch))
"""


def test_the_transforms_give_a_client_of_spark_connect_the_rows_of_the_oracle(
    deliveries: Path, tmp_path: Path
) -> None:
    # Without grpc, the import of pyspark.sql.connect ends the process.
    pytest.importorskip("grpc", reason="the packages of pyspark[connect] are not installed")
    environ = {**os.environ, "LAKEWARD_DISABLE": "1", "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(deliveries), str(tmp_path)],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.strip().endswith("{}"), done.stdout
