"""Jobs and pipelines with wrong types or values are refused, and no record keeps the server from starting."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import field_types
from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.workspace.api.jobs import settings_of
from lakeward.workspace.api.request_types import parse_object
from tests.workspace.server import Server, running, started

TASK: dict[str, Any] = {"task_key": "a", "spark_python_task": {"python_file": "/Workspace/a.py"}}
JOB = {"name": "j", "tasks": [TASK]}
SCHEDULE = {"quartz_cron_expression": "0 0 12 * * ?", "timezone_id": "Europe/Vienna"}
TYPES = [
    name
    for name in field_types.tables()["types"]["jobs.Task"]
    if name.endswith("_task") and name != "for_each_task"
]
# Each is of no type that the named field can have.
_WRONG = {
    "str": ([{}, []]),
    "int": (["x", 1.5, True, {}, [], 2**63, "1_0", "²"]),
    "bool": (["yes", 1, {}, []]),
    "float": (["x", True, {}, []]),
    "object": (["x", 5, True, [], [{}]]),
    "array": (["x", 5, True, {}, [None]]),
    "map": (["x", 5, True, [], {"k": {}}]),
}


def _fields(name: str) -> list[tuple[str, Any]]:
    """The fields of an object that is sent, those of objects within it one level deep."""
    types = field_types.tables()["types"]
    found: list[tuple[str, Any]] = []
    for field, kind in types[name].items():
        found.append((field, kind))
        if isinstance(kind, str) and isinstance(types.get(kind), dict):
            found += [(f"{field}.{inner}", each) for inner, each in types[kind].items()]
    return found


def _wrong_values(kind: Any) -> list[Any]:
    if isinstance(kind, list):
        return _WRONG["array"]
    if isinstance(kind, dict):
        return _WRONG["map"]
    described = field_types.tables()["types"].get(kind)
    if isinstance(described, list):
        return [*_WRONG["str"], "NONSENSE", 5]
    return _WRONG["object"] if isinstance(described, dict) else _WRONG.get(kind, [])


MATRIX = [
    (name, path, value)
    for name in ("jobs.JobSettings", "jobs.Task", "pipelines/create")
    for path, kind in _fields(name)
    for value in _wrong_values(kind)
]


def test_every_field_refuses_values_of_other_types() -> None:
    """The matrix: all fields of jobs, tasks and pipelines, each with every value of another type."""
    accepted = []
    for name, path, value in MATRIX:
        field, _, inner = path.partition(".")
        body = {field: {inner: value} if inner else value}
        try:
            parse_object(body, name)
        except ApiError as failure:
            assert failure.status == 400 and field in str(failure), (path, value, str(failure))
        else:
            accepted.append((name, path, value))
    assert accepted == [] and len(MATRIX) > 1000


def test_the_types_are_those_of_the_installed_sdk() -> None:
    """`python scripts/field_types.py` writes them."""
    assert json.loads(field_types.FILE.read_text()) == field_types.tables()


def test_null_is_absent_and_numbers_may_be_texts() -> None:
    sent = {
        "name": 5,
        "timeout_seconds": "60",
        "max_concurrent_runs": 2.0,
        "schedule": None,
        "new_field": {"x": 1},
    }
    kept = {"name": "5", "timeout_seconds": 60, "max_concurrent_runs": 2, "new_field": {"x": 1}}
    assert parse_object(sent, "jobs.JobSettings") == kept


def _tasks(*edges: str) -> dict[str, Any]:
    """`"ab"` is the task a, which depends on b."""
    return {
        "tasks": [
            {**TASK, "task_key": edge[0], "depends_on": [{"task_key": upstream} for upstream in edge[1:]]}
            for edge in edges
        ]
    }


_CLUSTER = {"spark_version": "15.4.x-scala2.12", "node_type_id": "x", "num_workers": 0}


def _cluster(variables: dict[str, str]) -> dict[str, Any]:
    return {"new_cluster": {**_CLUSTER, "spark_env_vars": variables}}


def _variables(variables: dict[str, str]) -> dict[str, Any]:
    return {"tasks": [{"task_key": "a", **_cluster(variables)}]}


_INVALID = {
    "cron of five fields": (
        {"schedule": {**SCHEDULE, "quartz_cron_expression": "0 12 * * *"}},
        "Invalid quartz",
    ),
    "cron of words": (
        {"schedule": {**SCHEDULE, "quartz_cron_expression": "every day at noon sharp ok"}},
        "Invalid quartz",
    ),
    "cron in the past": (
        {"schedule": {**SCHEDULE, "quartz_cron_expression": "0 1 0 8 4 ? 2021"}},
        "will never fire",
    ),
    "cron of other digits": (
        {"schedule": {**SCHEDULE, "quartz_cron_expression": "0 ² 0 * * ?"}},
        "Invalid quartz",
    ),
    "time zone": ({"schedule": {**SCHEDULE, "timezone_id": "Mars/Base"}}, "Invalid timezone_id: Mars/Base"),
    "time zone as a path": (
        {"schedule": {**SCHEDULE, "timezone_id": "../../etc/passwd"}},
        "Invalid timezone_id",
    ),
    "time zone as a folder": ({"schedule": {**SCHEDULE, "timezone_id": "Europe"}}, "Invalid timezone_id"),
    "schedule without a zone": (
        {"schedule": {"quartz_cron_expression": "0 0 12 * * ?"}},
        "schedule.timezone_id",
    ),
    "empty schedule": ({"schedule": {}}, "schedule.quartz_cron_expression"),
    "schedule and continuous": ({"schedule": SCHEDULE, "continuous": {}}, "Only one of"),
    "trigger of two kinds": (
        {
            "trigger": {
                "periodic": {"interval": 1, "unit": "DAYS"},
                "file_arrival": {"url": "/Volumes/a/b/c/"},
            }
        },
        "A trigger is one of",
    ),
    "trigger without an url": ({"trigger": {"file_arrival": {}}}, "trigger.file_arrival.url"),
    "trigger without jobs": ({"trigger": {"job_completion": {"jobs": []}}}, "trigger.job_completion.jobs"),
    "trigger of too many jobs": (
        {"trigger": {"job_completion": {"jobs": [{"job_id": "1", "workspace_id": "1"}] * 11}}},
        "10 are the most",
    ),
    **{
        f"trigger of the job {job}": (
            {"trigger": {"job_completion": {"jobs": [job]}}},
            f"a number as {field}",
        )
        for job, field in (
            ({"job_id": "x", "workspace_id": "1"}, "job_id"),
            ({"workspace_id": "1"}, "job_id"),
            ({"job_id": "1"}, "workspace_id"),
            ({"job_id": "1", "workspace_id": "-1"}, "workspace_id"),
        )
    },
    "trigger without tables": ({"trigger": {"table_update": {"table_names": []}}}, "table_names"),
    "trigger each 0 days": ({"trigger": {"periodic": {"interval": -1, "unit": "DAYS"}}}, "at least 1"),
    **{
        f"trigger of the folder {url}": (
            {"trigger": {"file_arrival": {"url": url}}},
            "trigger.file_arrival.url is a folder of a volume",
        )
        for url in ("/", "/etc", "file:///etc/", "/Volumes/", "/Volumes/a/b/../../../..", "s3://a/../x", "x")
    },
    **{
        f"trigger of the table {name!r}": (
            {"trigger": {"table_update": {"table_names": [name]}}},
            "which names no table",
        )
        for name in ("../../x", "a.b.c.d", "a..b", "", "a/b")
    },
    "trigger each second": (
        {"trigger": {"file_arrival": {"url": "/Volumes/a/b/c/", "min_time_between_triggers_seconds": 1}}},
        "at least 60",
    ),
    "task key with a slash": (_tasks() | {"tasks": [{"task_key": "a/b"}]}, "contains an invalid character"),
    "task key with a newline": ({"tasks": [{"task_key": "a\n"}]}, "contains an invalid character"),
    "task key of another script": ({"tasks": [{"task_key": "é"}]}, "contains an invalid character"),
    "task key of 101": ({"tasks": [{"task_key": "a" * 101}]}, "has 101 characters"),
    "no task key": ({"tasks": [{}]}, "Missing required field: settings.tasks.task_key"),
    "task key in a loop": (
        {"tasks": [{"task_key": "a", "for_each_task": {"inputs": "[1]", "task": {"task_key": "b/c"}}}]},
        "contains an invalid character",
    ),
    "loop without a task": (
        {"tasks": [{"task_key": "a", "for_each_task": {"inputs": "[1]"}}]},
        "for_each_task.task",
    ),
    "loop in a loop": (
        {
            "tasks": [
                {
                    "task_key": "a",
                    "for_each_task": {
                        "inputs": "[1]",
                        "task": {
                            "task_key": "b",
                            "for_each_task": {"inputs": "[1]", "task": {"task_key": "c"}},
                        },
                    },
                }
            ]
        },
        "they cannot be nested",
    ),
    "loop of 101 at once": (
        {
            "tasks": [
                {
                    "task_key": "a",
                    "for_each_task": {"inputs": "[1]", "task": {"task_key": "b"}, "concurrency": 101},
                }
            ]
        },
        "between 1 and 100",
    ),
    "unknown job cluster": (
        {
            "tasks": [{"task_key": "a", "job_cluster_key": "none"}],
            "job_clusters": [{"job_cluster_key": "c"}],
        },
        "Task 'a': job_cluster_key 'none' is not defined in job_clusters.",
    ),
    "unknown environment": (
        {"tasks": [{"task_key": "a", "environment_key": "none"}]},
        "Task 'a': environment_key 'none' is not defined in environments.",
    ),
    "unknown job cluster in a loop": (
        {
            "tasks": [
                {
                    "task_key": "a",
                    "for_each_task": {"inputs": "[1]", "task": {"task_key": "b", "job_cluster_key": "none"}},
                }
            ]
        },
        "Task 'b': job_cluster_key 'none' is not defined in job_clusters.",
    ),
    "task without a type": ({"tasks": [{"task_key": "a"}]}, "Task 'a' needs one type"),
    "task of two types": (
        {"tasks": [{**TASK, "notebook_task": {"notebook_path": "/a"}}]},
        "Task 'a' needs one type, such as notebook_task: it has notebook_task and spark_python_task.",
    ),
    "loop over a task without a type": (
        {"tasks": [{"task_key": "a", "for_each_task": {"inputs": "[1]", "task": {"task_key": "b"}}}]},
        "Task 'b' needs one type",
    ),
    "job of version 2.0 of two types": (
        {"notebook_task": {"notebook_path": "/a"}, "spark_python_task": TASK["spark_python_task"]},
        "Task 'main' needs one type",
    ),
    "two tasks of one key": (_tasks("a", "a"), "Duplicate task_key 'a'"),
    "depends on itself": (_tasks("aa"), "task 'a' can not reference itself"),
    "depends on nothing known": (_tasks("ab"), "depends on 'b', which does not exist"),
    "depends on no key": ({"tasks": [{"task_key": "a", "depends_on": [{}]}]}, "tasks.depends_on.task_key"),
    "cycle of two": (_tasks("ab", "ba"), "a -> b -> a"),
    "cycle of three behind others": (_tasks("z", "az", "bdz", "cb", "dc"), "form a cycle"),
    "1001 runs": ({"max_concurrent_runs": 1001}, "between 0 and 1000"),
    "timeout below zero": ({"timeout_seconds": -1}, "timeout_seconds is between"),
    "retries": ({"tasks": [{"task_key": "a", "max_retries": -2}]}, "max_retries is between"),
    "26 tags": ({"tags": {str(number): "" for number in range(26)}}, "at most 25 tags"),
    "two parameters of one name": ({"parameters": [{"name": "p", "default": "1"}] * 2}, "Duplicate name 'p'"),
    "1001 tasks": ({"tasks": [{"task_key": str(number)} for number in range(1001)]}, "at most 1000 tasks"),
    "variable with =": (_variables({"A=B": "x"}), "cannot be the name of an environment variable"),
    "variable without a name": (_variables({"": "x"}), "cannot be the name of an environment variable"),
    "name of a variable with NUL": (
        _variables({"A\0": "x"}),
        "cannot be the name of an environment variable",
    ),
    "variable with NUL": (_variables({"A": "x\0y"}), "A has a NUL character in it"),
    "variables of 100 KB": (_variables({"A": "x" * 50_000, "B": "x" * 50_000}), "100002 bytes"),
    "variable in a shared cluster": (
        {"job_clusters": [{"job_cluster_key": "c", **_cluster({"=": ""})}]},
        "cannot be the name of an environment variable",
    ),
    "variable in a loop": (
        {
            "tasks": [
                {
                    "task_key": "a",
                    "for_each_task": {"inputs": "[1]", "task": {"task_key": "b", **_cluster({"=": ""})}},
                }
            ]
        },
        "cannot be the name of an environment variable",
    ),
    "name of 4,097 bytes": ({"name": "é" * 2048 + "x"}, "name has 4097 bytes"),
    "description of 27,701 bytes": ({"description": "x" * 27_701}, "description has 27701 bytes"),
    "surrogates in another field": ({"unknown": "\ud800"}, "Could not parse request object"),
    "128 bits in another field": ({"unknown": 2**127}, "Could not parse request object"),
}


@pytest.mark.parametrize("case", _INVALID)
def test_values_that_the_platform_refuses(case: str) -> None:
    settings, text = _INVALID[case]
    with pytest.raises(ApiError) as raised:
        settings_of(settings)
    assert raised.value.status == 400 and text in str(raised.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"schedule": SCHEDULE},
        {"schedule": {**SCHEDULE, "pause_status": "PAUSED"}, "continuous": None},
        {"continuous": {"pause_status": "UNPAUSED"}},
        {"continuous": {}},
        {"trigger": {"periodic": {"interval": 1, "unit": "HOURS"}}},
        {"trigger": {"file_arrival": {"url": "/Volumes/a/b/c/", "wait_after_last_change_seconds": 60}}},
        {"trigger": {"file_arrival": {"url": "s3://bucket/folder/"}}},
        {"trigger": {"table_update": {"table_names": ["main.default.t", "default.t"]}}},
        {
            "trigger": {
                "job_completion": {"jobs": [{"job_id": "1", "workspace_id": "2"}], "if_status": "FAILED"}
            }
        },
        {"max_concurrent_runs": 0},
        {"name": "é" * 2048, "description": "x" * 27_700},
        _tasks("a", "ba", "ca", "dbc"),
        {"tasks": [{**TASK, "task_key": "a" * 100, "max_retries": -1}]},
        *({"tasks": [{"task_key": "a", kind: {}}]} for kind in TYPES),
    ],
)
def test_values_that_the_platform_accepts(settings: dict[str, Any]) -> None:
    assert (
        settings_of(settings).items()
        >= {k: v for k, v in settings.items() if v is not None and k != "tasks"}.items()
    )


_BODIES = [
    {"schedule": "0 0 12 * * ?"},
    {"trigger": "daily"},
    {"continuous": True},
    {"trigger": {"file_arrival": "x"}},
    {"trigger": {"table_update": {"table_names": 5}}},
    {"tasks": "all"},
    {"tasks": [{"task_key": "a", "depends_on": ["b"]}]},
    {"settings": {}, "tags": []},
    {"run_as": "me"},
    {"access_control_list": [{"user_name": "x", "permission_level": "NONSENSE"}]},
    {"access_control_list": [{"permission_level": "CAN_VIEW"}]},
    {"access_control_list": "x"},
    {"access_control_list": [{"group_name": "users", "permission_level": "IS_OWNER"}]},
    {"access_control_list": [{"user_name": name, "permission_level": "IS_OWNER"} for name in "ab"]},
]


@pytest.mark.parametrize("route", ["create", "reset", "update", "runs/submit"])
def test_every_route_that_takes_settings_refuses_them_and_keeps_what_was(server: Server, route: str) -> None:
    job_id = server.post("/api/2.2/jobs/create", JOB)["job_id"]
    before = server.get("/api/2.2/jobs/get", job_id=job_id)
    count = len(server.get("/api/2.2/jobs/runs/list")["runs"])
    for given in _BODIES:
        if "access_control_list" in given and route in ("reset", "update"):
            continue
        body = {**JOB, **given}
        if route in ("reset", "update"):
            body = {"job_id": job_id, "new_settings": body}
        answer = server.answer("POST", f"/api/2.2/jobs/{route}", body)
        assert answer.status_code == 400, (given, answer.text)
        assert answer.json()["error_code"] in ("MALFORMED_REQUEST", "INVALID_PARAMETER_VALUE")
    assert server.get("/api/2.2/jobs/get", job_id=job_id) == before
    assert len(server.get("/api/2.2/jobs/runs/list")["runs"]) == count


def test_pipelines_refuse_wrong_types_at_create_edit_and_start(server: Server) -> None:
    pipeline_id = server.post("/api/2.0/pipelines", {"name": "typed"})["pipeline_id"]
    for given in (
        {"libraries": "x"},
        {"clusters": {}},
        {"configuration": []},
        {"continuous": "x"},
        {"name": {}},
    ):
        for method, path in (("POST", "/api/2.0/pipelines"), ("PUT", f"/api/2.0/pipelines/{pipeline_id}")):
            answer = server.answer(method, path, {"name": "other", **given})
            assert (answer.status_code, answer.json()["error_code"]) == (400, "MALFORMED_REQUEST"), given
    for given in ({"full_refresh": "x"}, {"refresh_selection": "t"}, {"full_refresh_selection": [5, {}]}):
        answer = server.answer("POST", f"/api/2.0/pipelines/{pipeline_id}/updates", given)
        assert (answer.status_code, answer.json()["error_code"]) == (400, "MALFORMED_REQUEST"), given


@pytest.mark.parametrize("field", ["refresh_selection", "full_refresh_selection"])
def test_an_update_of_the_tables_of_files_is_refused_and_starts_nothing(server: Server, field: str) -> None:
    pipeline_id = server.post("/api/2.0/pipelines", {"name": f"by path, {field}"})["pipeline_id"]
    answer = server.answer(
        "POST", f"/api/2.0/pipelines/{pipeline_id}/updates", {f"{field}_by_path": ["a.sql"]}
    )
    assert (answer.status_code, answer.json()["error_code"]) == (501, "NOT_IMPLEMENTED")
    assert answer.json()["message"].endswith(f"Name the tables in {field}.")
    assert not server.get(f"/api/2.0/pipelines/{pipeline_id}/updates").get("updates")


def test_run_now_refuses_wrong_types(server: Server) -> None:
    job_id = server.post("/api/2.2/jobs/create", JOB)["job_id"]
    for given in (
        {"job_parameters": []},
        {"notebook_params": "x"},
        {"python_params": {}},
        {"only": "a"},
        {"idempotency_token": "t" * 65},
        {"python_params": ["x" * 10_001]},
    ):
        answer = server.answer("POST", "/api/2.2/jobs/run-now", {"job_id": job_id, **given})
        assert answer.status_code == 400, (given, answer.text)


def test_idempotency_tokens_are_of_one_job_or_one_user(server: Server) -> None:
    token = server.post(
        "/api/2.0/token-management/on-behalf-of/tokens",
        {"application_id": "robot", "lifetime_seconds": 86400},
    )["token_value"]
    first, second = (server.job(only="pass") for _ in range(2))
    ran = [server.run_now(job, idempotency_token="t") for job in (first, second, first)]
    assert ran[0] == ran[2] and ran[0] != ran[1]
    body = {"tasks": JOB["tasks"], "idempotency_token": "t"}
    mine, robots, again = (
        server.answer("POST", "/api/2.2/jobs/runs/submit", body, token=each).json()["run_id"]
        for each in (None, token, None)
    )
    assert mine == again and len({*ran, mine, robots}) == 4
    server.ended(ran[0])
    server.post("/api/2.2/jobs/runs/delete", {"run_id": ran[0]})
    answer = server.answer("POST", "/api/2.2/jobs/run-now", {"job_id": first, "idempotency_token": "t"})
    assert answer.status_code == 400 and "was deleted" in answer.json()["message"]


def test_only_an_administrator_names_another_owner(server: Server) -> None:
    token = server.post(
        "/api/2.0/token-management/on-behalf-of/tokens",
        {"application_id": "robot", "lifetime_seconds": 86400},
    )["token_value"]
    acl = [{"user_name": "else@example.com", "permission_level": "IS_OWNER"}]
    body = {**JOB, "access_control_list": acl}
    assert server.answer("POST", "/api/2.2/jobs/create", body, token=token).status_code == 403
    assert server.answer("POST", "/api/2.2/jobs/create", body).status_code == 200


def test_a_job_without_room_for_runs_skips_them_all(server: Server) -> None:
    job_id = server.post("/api/2.2/jobs/create", {**JOB, "max_concurrent_runs": 0})["job_id"]
    state = server.run(server.run_now(job_id))["state"]
    assert state["life_cycle_state"] == "SKIPPED"


@pytest.mark.parametrize("given", _BODIES[:5])
def test_a_server_starts_with_jobs_that_an_earlier_version_accepted(
    root: Path, given: dict[str, Any]
) -> None:
    first = started(root)
    bad, good = (
        first.post("/api/2.2/jobs/create", {**JOB, "name": name})["job_id"] for name in ("bad", "good")
    )
    first.stop()
    with sqlite3.connect(first.state / "server" / "workspace.db") as connection:
        (body,) = connection.execute(
            "SELECT body FROM documents WHERE kind='job' AND id=?", (str(bad),)
        ).fetchone()
        job = json.loads(body)
        job["settings"].update(given)
        connection.execute(
            "UPDATE documents SET body=? WHERE kind='job' AND id=?", (json.dumps(job), str(bad))
        )
    connection.close()
    with running(root, "--with-schedules") as server:
        assert server.get("/api/2.2/jobs/get", job_id=good)["settings"]["name"] == "good"
        assert server.answer("POST", "/api/2.2/jobs/delete", {"job_id": bad}).status_code == 200
