"""Requests of the Jobs API for runs: parameters that override those of tasks, filters, repairs, queues."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.workspace.api.run_submission import pipeline_flags, with_overrides
from tests.workspace.server import Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import jobs  # noqa: E402

# Kind of parameters -> what it is in a request, the task that takes it, that task with it.
OVERRIDES: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = [
    ("python_params", ["new"], {"spark_python_task": {"parameters": ["old"]}}, {"parameters": ["new"]}),
    ("python_params", ["new"], {"python_wheel_task": {"parameters": ["old"]}}, {"parameters": ["new"]}),
    ("python_named_params", {"a": "2"}, {"python_wheel_task": {}}, {"named_parameters": {"a": "2"}}),
    (
        "notebook_params",
        {"a": "2"},
        {"notebook_task": {"base_parameters": {"a": "1", "b": "1"}}},
        {"base_parameters": {"a": "2", "b": "1"}},
    ),
    (
        "sql_params",
        {"a": "2"},
        {"sql_task": {"parameters": {"a": "1", "b": "1"}}},
        {"parameters": {"a": "2", "b": "1"}},
    ),
]


@pytest.mark.parametrize(("kind", "given", "task", "expected"), OVERRIDES)
def test_parameters_of_a_run_override_those_of_tasks(
    kind: str, given: Any, task: dict[str, Any], expected: dict[str, Any]
) -> None:
    changed = with_overrides({"tasks": [{"task_key": "a", **task}, {"task_key": "b"}]}, {kind: given})
    [name] = task
    assert changed["tasks"] == [{"task_key": "a", name: expected}, {"task_key": "b"}]


@pytest.mark.parametrize(
    ("given", "flags"),
    [
        ({}, {}),
        ({"full_refresh": True}, {"full_refresh_all": True}),
        ({"full_refresh_selection": ["a"]}, {"full_refresh": ["a"]}),
        ({"refresh_selection": ["a"]}, {"refresh": ["a"]}),
        ({"reset_checkpoint_selection": ["a"]}, {"reset_checkpoints": ["a"]}),
    ],
)
def test_parameters_of_pipelines_select_datasets(given: dict[str, Any], flags: dict[str, Any]) -> None:
    assert pipeline_flags(given) == flags


def test_a_repair_takes_other_parameters(client: Any, server: Server) -> None:
    code = "import sys\nassert sys.argv[1] == 'good'"
    job_id = server.job(only={"code": code, "task": {"parameters": ["bad"]}})
    waiter = client.jobs.run_now(job_id)
    assert server.ended(waiter.run_id)["state"]["result_state"] == "FAILED"
    latest = None
    for parameters, result in ((["worse"], "FAILED"), (["good"], "SUCCESS")):
        latest = client.jobs.repair_run(
            waiter.run_id, rerun_tasks=["only"], python_params=parameters, latest_repair_id=latest
        ).response.repair_id
        run = server.ended(waiter.run_id)
        assert run["state"]["result_state"] == result
        assert run["overriding_parameters"] == {"python_params": parameters}
    history = client.jobs.get_run(waiter.run_id, include_history=True).repair_history
    assert [each.state.result_state.value for each in history] == ["FAILED", "FAILED", "SUCCESS"]
    assert all(each.end_time >= each.start_time > 0 for each in history)


def test_queued_runs_are_canceled_alone(client: Any, server: Server) -> None:
    job_id = server.job(only="import time\ntime.sleep(60)")
    queue = jobs.QueueSettings(enabled=True)
    running = client.jobs.run_now(job_id).run_id
    queued = [client.jobs.run_now(job_id, queue=queue).run_id for _ in range(2)]
    states = [server.run(run_id)["state"]["life_cycle_state"] for run_id in queued]
    assert states == ["QUEUED", "QUEUED"]
    client.jobs.cancel_all_runs(all_queued_runs=True)
    assert {server.run(run_id)["state"]["result_state"] for run_id in queued} == {"CANCELED"}
    assert "result_state" not in server.run(running)["state"]
    client.jobs.cancel_all_runs(job_id=job_id)
    assert server.ended(running)["state"]["result_state"] == "CANCELED"


@pytest.mark.parametrize(
    "query",
    [
        {"active_only": "true", "completed_only": "true"},
        {"run_type": "JOB"},
        {"job_id": "abc"},
    ],
)
def test_filters_that_no_run_matches_are_refused(server: Server, query: dict[str, str]) -> None:
    answer = server.answer("GET", "/api/2.2/jobs/runs/list", params=query)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "INVALID_PARAMETER_VALUE")


def test_an_update_changes_the_user_of_runs(client: Any) -> None:
    job_id = client.jobs.create(name="users").job_id
    client.jobs.update(job_id, new_settings=jobs.JobSettings(run_as=jobs.JobRunAs(user_name="bob")))
    assert client.jobs.get(job_id).run_as_user_name == "bob"


def test_a_reset_without_settings_keeps_the_job(server: Server) -> None:
    job_id = server.job(only="pass")
    answer = server.answer("POST", "/api/2.2/jobs/reset", {"job_id": job_id})
    assert answer.status_code == 400 and "new_settings" in answer.json()["message"]
    assert server.get("/api/2.2/jobs/get", job_id=job_id)["settings"]["tasks"]


def test_a_submitted_run_has_an_access_control_list(client: Any, server: Server) -> None:
    path = server.file("/Workspace/code/listed.py", "print('listed')")
    task = jobs.SubmitTask(task_key="a", spark_python_task=jobs.SparkPythonTask(path))
    viewer = jobs.JobAccessControlRequest(
        service_principal_name="viewer", permission_level=jobs.JobPermissionLevel.CAN_VIEW
    )
    run_id = client.jobs.submit(run_name="listed", tasks=[task], access_control_list=[viewer]).run_id
    server.ended(run_id)

    def of(name: str) -> Any:
        token = client.token_management.create_obo_token(name, lifetime_seconds=600).token_value
        return sdk.WorkspaceClient(host=server.host, token=token)

    allowed, other = of("viewer"), of("other")
    assert allowed.jobs.get_run(run_id).run_name == "listed"
    assert run_id in [run.run_id for run in allowed.jobs.list_runs()]
    assert run_id not in [run.run_id for run in other.jobs.list_runs()]
    with pytest.raises(sdk.errors.PermissionDenied, match="CAN_VIEW"):
        other.jobs.get_run(run_id)
    for change in (allowed.jobs.cancel_run, allowed.jobs.delete_run):
        with pytest.raises(sdk.errors.PermissionDenied, match="viewer does not have CAN_MANAGE"):
            change(run_id)
