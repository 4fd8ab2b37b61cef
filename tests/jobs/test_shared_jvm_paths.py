"""Tasks in processes of their own read paths, and keep state, as tasks in one process do."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from tests.processes import SharedDaemon, environ_without, outcome
from tests.trees import write_files

pytestmark = pytest.mark.process

_TASKS = {
    "seed.py": """
        spark.sql("CREATE SCHEMA IF NOT EXISTS main.src")
        spark.sql("CREATE TABLE IF NOT EXISTS main.src.users AS SELECT 1 AS id, 'a' AS name, 1 AS seq")
        spark.range(1).write.mode("overwrite").json("/lakeward_dbfs/seed")
        spark.range(1).write.mode("overwrite").json("{here}/local/seed")
    """,
    # They run at the same time; the first ends while the second works.
    "short.py": """
        spark.range(1).write.mode("overwrite").json("/lakeward_dbfs/short")
    """,
    "long.py": """
        import os, time
        while not os.path.exists("{here}/short_done"):
            time.sleep(0.1)
        spark.range(1).write.mode("overwrite").json("/lakeward_dbfs/long")
        spark.range(1).write.mode("overwrite").json("{here}/local/long")
    """,
    "after.py": """
        open("{here}/short_done", "w").close()
    """,
    "p.py": """
        import dlt
        from pyspark.sql.functions import expr

        @dlt.table
        def copy():
            return spark.readStream.table("main.src.users")

        dlt.create_streaming_table("history")
        dlt.create_auto_cdc_flow(
            target="history", source="copy", keys=["id"], sequence_by="seq", stored_as_scd_type=2
        )
    """,
}
_BUNDLE = """
bundle: {name: b}
resources:
  schemas: {t: {catalog_name: main, name: shop}}
  pipelines:
    p: {name: p, catalog: main, schema: shop, libraries: [{file: {path: p.py}}]}
  jobs:
    j:
      name: j
      tasks:
        - {task_key: seed, spark_python_task: {python_file: seed.py}}
        - task_key: p
          depends_on: [{task_key: seed}]
          pipeline_task: {pipeline_id: "${resources.pipelines.p.id}"}
        - {task_key: short, depends_on: [{task_key: p}], spark_python_task: {python_file: short.py}}
        - {task_key: after, depends_on: [{task_key: short}], spark_python_task: {python_file: after.py}}
        - {task_key: long, depends_on: [{task_key: p}], spark_python_task: {python_file: long.py}}
targets: {dev: {}}
"""


def _run(root: Path, daemon: SharedDaemon, *options: str) -> None:
    # Folders of pytest stay local: with another folder for temporary files, this project is not one of them.
    (root / "tmp").mkdir(exist_ok=True)
    environ = {**daemon.environ(environ_without("LAKEWARD_", "DATABRICKS_")), "TMPDIR": str(root / "tmp")}
    environ.pop("PYTEST_DEBUG_TEMPROOT", None)
    command = [sys.executable, "-m", "lakeward", "run", "j", "-t", "dev", *options]
    ran = outcome(command, cwd=root, env=environ, timeout=400)
    assert ran.returncode == 0, ran.stderr + ran.stdout


def _files(folder: Path) -> set[str]:
    return set(os.listdir(folder)) if folder.is_dir() else set()


@pytest.mark.slow
def test_processes_keep_state_and_files_where_one_process_keeps_them(
    tmp_path: Path, shared_daemon: SharedDaemon
) -> None:
    files = {name: text.replace("{here}", str(tmp_path)) for name, text in _TASKS.items()}
    write_files(tmp_path, {**files, "databricks.yml": _BUNDLE})
    _run(tmp_path, shared_daemon, "--isolated")
    state = tmp_path / ".lakeward/dev"
    assert _files(state / "dbfs") == {"lakeward_dbfs"}
    assert _files(state / "dbfs/lakeward_dbfs") == {"seed", "short", "long"}
    assert _files(tmp_path / "local") == {"seed", "long"}
    # The next run, in one process, continues the streams: no row is read twice.
    _run(tmp_path, shared_daemon)
    assert _files(state / "dbfs") == {"lakeward_dbfs"}
    log = sorted((state / "warehouse/main/shop/copy/_delta_log").glob("*.json"))
    added = [json.loads(line) for each in log for line in each.read_text().splitlines()]
    assert sum(json.loads(each["add"]["stats"])["numRecords"] for each in added if "add" in each) == 1
