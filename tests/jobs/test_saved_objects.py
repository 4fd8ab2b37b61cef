"""Tasks that evaluate alerts and refresh dashboards of the bundle.

Source: https://docs.databricks.com/aws/en/jobs/tasks/alert and …/jobs/tasks/dashboard
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from tests.trees import write_files

from lakeward import jobs
from lakeward.bundle import load
from lakeward.errors import BundleError, ConfigurationError
from lakeward.jobs import JobRun
from lakeward.session import Settings

SCHEDULE = {"quartz_cron_schedule": "0 0 8 * * ?", "timezone_id": "UTC"}


def evaluation(operator: str = "GREATER_THAN", *, column: str = "n", **fields: Any) -> dict[str, Any]:
    threshold = {"value": {"double_value": 5}}
    return {"source": {"name": column}, "comparison_operator": operator, "threshold": threshold, **fields}


def alert(query: str, **fields: Any) -> dict[str, Any]:
    given = {"display_name": "a", "warehouse_id": "w", "query_text": query, "evaluation": evaluation()}
    return {**given, "schedule": SCHEDULE, **fields}


def run_of(
    folder: Path,
    resources: dict[str, Any],
    tasks: list[dict[str, Any]],
    files: Mapping[str, str] = MappingProxyType({}),
) -> JobRun:
    """Run a job with these tasks in a bundle with these resources."""
    root = {"bundle": {"name": "b"}, "targets": {"dev": {}}}
    root["resources"] = {**resources, "jobs": {"j": {"name": "j", "tasks": tasks}}}
    write_files(folder, {"databricks.yml": json.dumps(root), **files})
    bundle = load(folder, user="ann", environ={})
    return jobs.run(bundle, "j", settings=Settings.here(folder, environ={}, target="dev"))


def alert_task(**fields: Any) -> dict[str, Any]:
    return {
        "task_key": "a",
        "alert_task": {"alert_id": "${resources.alerts.a.id}", "warehouse_id": "w", **fields},
    }


ALERTS = {
    "triggered": (alert("SELECT 7 AS n;"), {}, "TRIGGERED"),
    "ok": (alert("SELECT 3 AS n"), {}, "OK"),
    "null": (alert("SELECT CAST(NULL AS INT) AS n"), {}, "OK"),
    "boolean": (
        alert("SELECT true AS n", evaluation=evaluation("EQUAL", threshold={"value": {"bool_value": True}})),
        {},
        "TRIGGERED",
    ),
    "empty": (alert("SELECT 7 AS n WHERE false"), {}, "UNKNOWN"),
    "empty result state": (
        alert("SELECT 7 AS n WHERE false", evaluation=evaluation(empty_result_state="TRIGGERED")),
        {},
        "TRIGGERED",
    ),
    "parameter": (
        alert("SELECT :x * 2 AS n", parameters=[{"name": "x", "type": "INT", "value": "3"}]),
        {},
        "TRIGGERED",
    ),
    "parameter of the task": (
        alert("SELECT :x * 2 AS n", parameters=[{"name": "x", "type": "INT", "value": "3"}]),
        {"parameters": {"x": "1"}},
        "OK",
    ),
}
LATER = {
    "task_key": "c",
    "depends_on": [{"task_key": "a"}],
    "condition_task": {"op": "EQUAL_TO", "left": "{{tasks.a.output.alert_state}}", "right": "TRIGGERED"},
}


@pytest.mark.spark
@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_task_succeeds_in_every_state_and_hands_it_over(name: str, tmp_path: Path) -> None:
    declared, fields, state = ALERTS[name]
    run = run_of(tmp_path, {"alerts": {"a": declared}}, [alert_task(**fields), LATER])
    assert [(task.state, task.error) for task in run.tasks] == [("SUCCESS", None)] * 2
    assert run.exit_values == {"a": state}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (alert("SELECT missing"), "UNRESOLVED_COLUMN"),
        (alert("SELECT 1 / 0 AS n"), "DIVIDE_BY_ZERO"),
        (alert("SELECT 1 AS other"), "ALERT_EVALUATION_FAILED"),
    ],
)
def test_an_alert_that_cannot_be_evaluated_fails_its_task(
    declared: dict[str, Any], text: str, tmp_path: Path
) -> None:
    run = run_of(tmp_path, {"alerts": {"a": declared}}, [alert_task()])
    assert run.state == "FAILED"
    assert text in str(run.tasks[0].error)


FILE = {"query_lines": ["SELECT", "  7 AS n"], "evaluation": evaluation(), "schedule": SCHEDULE}
FILED = {"display_name": "a", "warehouse_id": "w", "file_path": "./a.dbalert.json"}


@pytest.mark.spark
def test_an_alert_may_be_in_a_file(tmp_path: Path) -> None:
    files = {"a.dbalert.json": json.dumps(FILE)}
    run = run_of(tmp_path, {"alerts": {"a": FILED}}, [alert_task()], files)
    assert run.exit_values == {"a": "TRIGGERED"}


@pytest.mark.parametrize(
    ("content", "fields", "text"),
    [
        ("{", {}, "not JSON"),
        ("[]", {}, "not a JSON object"),
        (json.dumps({**FILE, "query_lines": ["SELECT ${var.x}"]}), {}, "references"),
        (json.dumps(FILE), {"query_text": "SELECT 1"}, "query_text"),
        (None, {}, "a.dbalert.json"),
    ],
)
def test_a_file_that_is_no_alert_is_refused(
    content: str | None, fields: dict[str, Any], text: str, tmp_path: Path
) -> None:
    files = {} if content is None else {"a.dbalert.json": content}
    with pytest.raises(BundleError, match=text):
        run_of(tmp_path, {"alerts": {"a": {**FILED, **fields}}}, [alert_task()], files)


def dashboard(*datasets: dict[str, Any], used: tuple[str, ...] = ()) -> dict[str, Any]:
    names = used or tuple(each["name"] for each in datasets)
    queries = [{"name": name, "query": {"datasetName": name}} for name in names]
    page = {"name": "p", "layout": [{"widget": {"name": "w", "queries": queries}}]}
    content = {"datasets": list(datasets), "pages": [page]}
    return {"dashboards": {"d": {"display_name": "d", "serialized_dashboard": json.dumps(content)}}}


def parameter(kind: str, *values: str, complex_type: str = "") -> dict[str, Any]:
    default = {"values": {"dataType": kind, "values": [{"value": value} for value in values]}}
    shape = {"complexType": complex_type} if complex_type else {}
    return {"keyword": "p", "dataType": kind, "defaultSelection": default, **shape}


RANGE = {
    "keyword": "p",
    "dataType": "DATE",
    "complexType": "RANGE",
    "defaultSelection": {
        "range": {"dataType": "DATE", "min": {"value": "2024-01-01"}, "max": {"value": "now"}}
    },
}
DASHBOARD_TASK = {"task_key": "d", "dashboard_task": {"dashboard_id": "${resources.dashboards.d.id}"}}
PASSES = {
    "query": {"query": "SELECT 1 AS n;"},
    "lines": {"queryLines": ["SELECT 1 AS n\n", "WHERE true"]},
    "text": {"query": "SELECT assert_true(:p = 'x')", "parameters": [parameter("STRING", "x")]},
    "number": {"query": "SELECT assert_true(:p = 2.5)", "parameters": [parameter("DECIMAL", "2.5")]},
    "date": {
        "query": "SELECT assert_true(:p = DATE'2024-01-02')",
        "parameters": [parameter("DATE", "2024-01-02")],
    },
    "relative date": {
        "query": "SELECT assert_true(:p = current_date() - INTERVAL 7 DAY)",
        "parameters": [parameter("DATE", "now-7d/d")],
    },
    "start of the year": {
        "query": "SELECT assert_true(:p = trunc(current_date(), 'YEAR'))",
        "parameters": [parameter("DATETIME", "now/y")],
    },
    "no default": {"query": "SELECT assert_true(:p IS NULL)", "parameters": [parameter("STRING")]},
    "several": {
        "query": "SELECT assert_true(array_contains(:p, 'b'))",
        "parameters": [parameter("STRING", "a", "b", complex_type="MULTI")],
    },
    "range": {
        "query": "SELECT assert_true(:p.min = DATE'2024-01-01' AND :p.max = current_date())",
        "parameters": [RANGE],
    },
    "schema": {
        "query": "SELECT assert_true(current_schema() = 'nyctaxi')",
        "catalog": "samples",
        "schema": "nyctaxi",
    },
    "table": {"asset_name": "samples.nyctaxi.trips"},
}


@pytest.mark.spark
@pytest.mark.parametrize("name", PASSES)
def test_a_dashboard_task_runs_the_queries_of_its_datasets(name: str, tmp_path: Path) -> None:
    run = run_of(tmp_path, dashboard({"name": "x", **PASSES[name]}), [DASHBOARD_TASK])
    assert [(task.state, task.error) for task in run.tasks] == [("SUCCESS", None)]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("query", "condition"),
    [("SELECT missing", "UNRESOLVED_COLUMN"), ("SELECT 1 / (id - 5) FROM range(9)", "DIVIDE_BY_ZERO")],
)
def test_a_query_that_fails_is_the_task_s_error(query: str, condition: str, tmp_path: Path) -> None:
    datasets = ({"name": "x", "query": "SELECT 1"}, {"name": "y", "query": query})
    run = run_of(tmp_path, dashboard(*datasets), [DASHBOARD_TASK])
    assert run.state == "FAILED" and condition in str(run.tasks[0].error)
    run = run_of(tmp_path, dashboard(*datasets, used=("x",)), [DASHBOARD_TASK])
    assert run.state == "COMPLETED"


@pytest.mark.spark
def test_the_dashboard_s_catalog_and_schema_win_and_end_with_the_task(tmp_path: Path) -> None:
    resources = dashboard(
        {"name": "x", "query": "SELECT assert_true(current_schema() = 'tpch')", "schema": "x"}
    )
    resources["dashboards"]["d"] |= {"dataset_catalog": "samples", "dataset_schema": "tpch"}
    check = {"task_key": "s", "sql_task": {"warehouse_id": "w", "file": {"path": "s.sql"}}}
    tasks = [DASHBOARD_TASK, {**check, "depends_on": [{"task_key": "d"}]}]
    files = {"s.sql": "SELECT assert_true(current_catalog() = 'main')"}
    run = run_of(tmp_path, resources, tasks, files)
    assert [(task.state, task.error) for task in run.tasks] == [("SUCCESS", None)] * 2


@pytest.mark.parametrize(
    ("task", "condition"),
    [
        ({"alert_task": {"alert_id": "1234"}}, "ALERT_UNKNOWN"),
        ({"alert_task": {"workspace_path": "/x"}}, "ALERT_UNKNOWN"),
        ({"dashboard_task": {"dashboard_id": "1234"}}, "DASHBOARD_UNKNOWN"),
    ],
)
def test_an_object_that_is_not_declared_is_refused_before_anything_runs(
    task: dict[str, Any], condition: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        run_of(tmp_path, {}, [{"task_key": "a", **task}])
    assert raised.value.condition == condition
