"""A job that runs a pipeline of its bundle: datasets, refresh flags, failure and dry run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.trees import write_files

from lakeward import jobs
from lakeward.bundle import Bundle, load
from lakeward.jobs import TaskProgress
from lakeward.jobs.pipelines import event_log_table
from lakeward.pipelines import Progress
from lakeward.session import Settings, session

# The suite's JVM, whichever test comes first.
pytestmark = pytest.mark.usefixtures("spark")

ROOT = """
bundle: {name: shop}
resources:
  jobs:
    daily:
      tasks:
        - {task_key: refresh, pipeline_task: {pipeline_id: "${resources.pipelines.shop.id}"}}
        - {task_key: after, depends_on: [{task_key: refresh}], spark_python_task: {python_file: after.py}}
  pipelines:
    shop:
      name: shop
      catalog: dev
      schema: ${resources.schemas.lake.name}
      root_path: src
      libraries: [{glob: {include: src/parts/**}}]
      configuration: {shop.count: "5"}
  schemas: {lake: {catalog_name: dev, name: lake}}
targets: {dev: {mode: development}}
"""
FILES = {
    "databricks.yml": ROOT,
    "after.py": "",
    "src/helper.py": "KEY = 'shop.count'\n",
    "src/parts/numbers.py": """
        from helper import KEY
        from pyspark import pipelines as dp
        from pyspark.sql import SparkSession

        spark = SparkSession.active()

        @dp.materialized_view
        def numbers():
            return spark.range(int(spark.conf.get(KEY)))

        @dp.materialized_view
        def evens():
            return spark.read.table("numbers").where("id % 2 = 0")
    """,
}


@pytest.fixture
def shop(tmp_path: Path) -> tuple[Bundle, Settings]:
    write_files(tmp_path, FILES)
    return load(tmp_path, user="ann", environ={}), Settings.here(tmp_path, environ={}, target="dev")


def test_a_pipeline_task_updates_the_datasets_and_reports_them(shop: tuple[Bundle, Settings]) -> None:
    bundle, settings = shop
    events: list[Any] = []
    dry = jobs.run(
        bundle,
        "daily",
        settings=settings,
        options=jobs.RunOptions(selection=jobs.PipelineSelection(dry_run=True)),
    )
    assert (dry.state, [task.state for task in dry.tasks]) == ("COMPLETED", ["SUCCESS", "CHECKED"])
    assert not session(settings).catalog.tableExists("dev.dev_ann_lake.numbers")

    run = jobs.run(bundle, "daily", settings=settings, listeners=jobs.RunListeners(on_event=events.append))
    assert [(task.state, task.error) for task in run.tasks] == [("SUCCESS", None)] * 2
    assert {dataset.name.split(".")[-1]: dataset.rows_written for dataset in run.datasets} == {
        "numbers": 5,
        "evens": 3,
    }
    assert session(settings).table("dev.dev_ann_lake.evens").count() == 3
    assert {type(event) for event in events} == {TaskProgress, Progress}
    assert [dataset["state"] for dataset in run.as_json()["datasets"]] == ["COMPLETED"] * 2

    only = jobs.run_pipeline(
        bundle, "shop", settings=settings, selection=jobs.PipelineSelection(full_refresh=("evens",))
    )
    states = {dataset.name.split(".")[-1]: dataset.state for dataset in only.datasets}
    assert states["evens"] == "COMPLETED"
    assert states.get("numbers", "EXCLUDED") == "EXCLUDED"


def test_a_failing_pipeline_fails_its_task_with_the_reason(shop: tuple[Bundle, Settings]) -> None:
    bundle, settings = shop
    file = bundle.root / "src/parts/numbers.py"
    file.write_text(file.read_text().replace("id % 2 = 0", "no_such_column = 0"))
    run = jobs.run(bundle, "daily", settings=settings)
    assert (run.state, [task.state for task in run.tasks]) == ("FAILED", ["FAILED", "SKIPPED"])
    assert "no_such_column" in str(run.tasks[0].error)


def test_an_update_in_another_process_refuses_this_one(shop: tuple[Bundle, Settings]) -> None:

    from lakeward.pipelines.execution.update_context import update_lock

    bundle, settings = shop
    with update_lock(settings.pipelines / "shop", "shop"):
        update = jobs.run_pipeline(bundle, "shop", settings=settings)
    assert update.state == "FAILED"
    assert "is being updated" in str(update.error)


@pytest.mark.parametrize(
    ("event_log", "name"),
    [
        (None, None),
        ({}, None),
        ({"name": "log"}, "`log`"),
        ({"name": "log", "schema": "s"}, "`own`.`s`.`log`"),
        ({"name": "log", "catalog": "c"}, "`c`.`target`.`log`"),
        ({"name": "my log", "schema": "s", "catalog": "c"}, "`c`.`s`.`my log`"),
    ],
)
def test_the_table_of_the_event_log_is_named_by_the_pipeline(
    event_log: dict[str, str] | None, name: str | None
) -> None:
    assert event_log_table({"catalog": "own", "target": "target", "event_log": event_log}) == name
