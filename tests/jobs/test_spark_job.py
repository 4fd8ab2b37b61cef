"""A job that uses Spark finds the lakehouse of its target: schemas, volumes, and the session itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.trees import write_files

from lakeward import jobs
from lakeward.bundle import Bundle, load
from lakeward.session import Settings, session

# The suite's JVM, whichever test comes first.
pytestmark = pytest.mark.usefixtures("spark")

ROOT = """
bundle: {name: shop}
resources:
  jobs:
    load:
      tasks:
        - task_key: write
          spark_python_task:
            python_file: write.py
            parameters: ["${resources.schemas.lake.id}", "${var.landing}"]
        - task_key: read
          depends_on: [{task_key: write}]
          spark_python_task: {python_file: read.py, parameters: ["${resources.schemas.lake.id}.sales"]}
  schemas: {lake: {catalog_name: "${bundle.target}", name: lake}}
  volumes:
    landing:
      catalog_name: ${bundle.target}
      schema_name: ${resources.schemas.lake.name}
      name: Landing
variables:
  landing:
    default: /Volumes/${bundle.target}/${resources.schemas.lake.name}/${resources.volumes.landing.name}
targets: {dev: {mode: development, default: true}, prod: {}}
"""
WRITE = """
import sys
from pyspark.sql import SparkSession

schema, landing = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
spark.range(3).write.mode("overwrite").json(f"{landing}/sales")
with open(f"{landing}/note.txt", "w") as file:
    file.write(schema)
spark.read.json(f"{landing}/sales").write.mode("overwrite").saveAsTable(f"{schema}.sales")
"""
READ = """
import sys
from pyspark.sql import SparkSession

count = SparkSession.builder.getOrCreate().table(sys.argv[1]).count()
print(count)
assert count == 3, count
"""


@pytest.fixture
def shop(tmp_path: Path) -> Callable[[str], tuple[Bundle, Settings]]:
    write_files(tmp_path, {"databricks.yml": ROOT, "write.py": WRITE, "read.py": READ})

    def target(name: str) -> tuple[Bundle, Settings]:
        return load(tmp_path, name, user="ann", environ={}), Settings.here(tmp_path, environ={}, target=name)

    return target


def test_tasks_share_tables_and_volumes_of_their_target_and_of_no_other(
    shop: Callable[[str], tuple[Bundle, Settings]],
) -> None:
    bundle, settings = shop("dev")
    run = jobs.run(bundle, "load", settings=settings)
    assert [(task.state, task.error) for task in run.tasks] == [("SUCCESS", None)] * 2
    assert (settings.volumes / "dev/dev_ann_lake/landing/note.txt").read_text() == "dev.dev_ann_lake"
    assert session(settings).table("dev.dev_ann_lake.sales").count() == 3

    bundle, settings = shop("prod")
    run = jobs.run(bundle, "load", settings=settings, options=jobs.RunOptions(only=["read"]))
    assert [task.state for task in run.tasks] == ["EXCLUDED", "FAILED"]
    assert "TABLE_OR_VIEW_NOT_FOUND" in str(run.tasks[1].error)
    assert "(read.py:5)" in str(run.tasks[1].error)


SQL_ROOT = """
bundle: {name: lake}
targets: {dev: {}}
variables:
  saved: {lookup: {query: how many}}
resources:
  jobs:
    report:
      parameters: [{name: least, default: "2"}]
      tasks:
        - task_key: make
          sql_task:
            warehouse_id: w
            file: {path: make.sql}
            parameters: {greeting: "it's; {{job.id}}", least: "0"}
        - task_key: count
          depends_on: [{task_key: make}]
          sql_task: {warehouse_id: w, query: {query_id: "${var.saved}"}}
        - task_key: many
          depends_on: [{task_key: count}]
          condition_task: {op: EQUAL_TO, left: "{{tasks.count.output.first_row.n}}", right: "3"}
        - task_key: each
          depends_on: [{task_key: many, outcome: "true"}]
          for_each_task:
            inputs: "{{tasks.make.output.rows}}"
            task: {task_key: say, spark_python_task: {python_file: say.py, parameters: ["{{input.said}}"]}}
"""
MAKE = """
-- A comment; with a semicolon.
SET ansi_mode = false;
CREATE OR REPLACE TABLE report AS
SELECT id, :greeting AS said, CAST(:greeting AS INT) AS number FROM range(5) WHERE id >= :least;
CREATE OR REPLACE MATERIALIZED VIEW said_once AS SELECT DISTINCT said FROM report;
SELECT said FROM said_once
"""


def test_statements_run_with_parameters_and_their_rows_are_read_by_later_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "databricks.yml": SQL_ROOT,
        "make.sql": MAKE,
        # The parameter ends with its task.
        "queries/how many.sql": "SELECT count_if(typeof(1 + '1') = 'bigint') AS n FROM report",
        "say.py": "import sys\nprint('said', sys.argv[1])",
    }
    write_files(tmp_path, files)
    bundle = load(tmp_path, user="ann", environ={})
    settings = Settings.here(tmp_path, environ={}, target="dev")
    run = jobs.run(bundle, "report", settings=settings)
    assert [(task.state, task.error) for task in run.tasks] == [("SUCCESS", None)] * 4
    # The job's parameter goes before the task's own: three rows of five.
    shown = capsys.readouterr().out
    assert '{"n":3}' in shown
    assert f"said it's; {bundle.id_of('jobs', 'report')}\n" in shown


def test_a_parameter_that_a_task_lacks_is_named_with_a_similar_one(tmp_path: Path) -> None:
    task = "{{task_key: t, sql_task: {{warehouse_id: w, file: {{path: q.sql}}, parameters: {{{}}}}}}}"
    root = (
        "bundle: {{name: b}}\nresources: {{jobs: {{j: {{tasks: [{}]}}}}}}\n"
        "targets: {{dev: {{default: true}}}}\n"
    )
    hints = {"dayy: '1'": "Did you mean `dayy`?", "x: '1'": "They have: x.", "": "They have: none."}
    for given, hint in hints.items():
        files = {"databricks.yml": root.format(task.format(given)), "q.sql": "select 1; select :day"}
        write_files(tmp_path, files)
        bundle = load(tmp_path, user="ann", environ={})
        (done,) = jobs.run(bundle, "j", settings=Settings.here(tmp_path, environ={}, target="dev")).tasks
        message = (
            "[UNBOUND_SQL_PARAMETER] A statement of the task `t` reads :day, which its `parameters` lack."
        )
        assert (done.state, done.error) == ("FAILED", f"{message} {hint}")


@pytest.mark.slow
def test_tasks_in_processes_of_their_own_have_the_run_s_spark(
    shop: Callable[[str], tuple[Bundle, Settings]],
) -> None:
    bundle, settings = shop("dev")
    run = jobs.run(bundle, "load", settings=settings, options=jobs.RunOptions(isolated=True))
    assert [(task.state, task.error) for task in run.tasks] == [("SUCCESS", None)] * 2
    assert session(settings).table("dev.dev_ann_lake.sales").count() == 3
