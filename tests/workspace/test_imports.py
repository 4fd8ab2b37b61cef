"""What the server loads: its start is mostly imports."""

from __future__ import annotations

import subprocess
import sys

LOADED = "import sys, lakeward.workspace.http.application, lakeward.workspace.server; print(*sys.modules)"


def test_the_server_starts_without_spark_notebooks_and_the_sql_front_end() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True)
    assert not {"pyspark", "pyarrow", "lakeward.notebooks", "lakeward.sql"} & set(done.stdout.split())
