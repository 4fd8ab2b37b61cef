"""The official databricks-sdk against the server."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.workspace.server import USER, Server, until

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import catalog, compute, iam, jobs, pipelines, sql, workspace  # noqa: E402

CLIENT = "sdk"
CODE = "/Workspace/Users/ada/task.py"


@pytest.fixture
def code(client: Any) -> Callable[[str], str]:
    """Puts the text where the tasks of these jobs look for it."""

    def upload(text: str) -> str:
        client.workspace.mkdirs("/Users/ada")
        client.workspace.upload(
            CODE, io.BytesIO(text.encode()), format=workspace.ImportFormat.AUTO, overwrite=True
        )
        return CODE

    return upload


def task(key: str, *parameters: str, after: str | None = None) -> Any:
    return jobs.Task(
        task_key=key,
        spark_python_task=jobs.SparkPythonTask(CODE, parameters=list(parameters)),
        depends_on=[jobs.TaskDependency(after)] if after else None,
    )


def ended(client: Any, run_id: int) -> Any:
    return until(lambda: run if (run := client.jobs.get_run(run_id)).state.result_state else None)


def test_the_user_is_the_one_who_started_the_server(client: Any) -> None:
    me = client.current_user.me()
    assert me.user_name == USER
    assert {group.display for group in me.groups} == {"users", "admins"}
    assert client.get_workspace_id() == 1000000000000001


def test_a_job_runs_its_tasks_with_its_parameters(client: Any, code: Callable[[str], str]) -> None:
    code("import sys\nprint('got', sys.argv[1:])")
    values = "{{job.parameters.what}} {{job.trigger.type}} {{workspace.url}}"
    job = client.jobs.create(
        name="daily",
        tasks=[
            task("first", "{{job.parameters.day}}", values, "{{task.run_id}}"),
            task("second", "{{tasks.first.run_id}}", after="first"),
        ],
        parameters=[
            jobs.JobParameterDefinition("day", "1"),
            jobs.JobParameterDefinition("what", "{{job.name}}"),
        ],
    )
    assert client.jobs.get(job.job_id).settings.name == "daily"
    run = client.jobs.run_now(job.job_id, job_parameters={"day": "7"}).result()
    assert run.state.life_cycle_state == jobs.RunLifeCycleState.TERMINATED
    assert run.state.result_state == jobs.RunResultState.SUCCESS
    logs = [client.jobs.get_run_output(each.run_id).logs for each in run.tasks]
    first = run.tasks[0].run_id
    values = f"daily onetime {client.config.host}"
    assert logs == [f"got ['7', '{values}', '{first}']\n", f"got ['{first}']\n"]
    with pytest.raises(sdk.errors.InvalidParameterValue, match="no parameter 'night'"):
        client.jobs.run_now(job.job_id, job_parameters={"night": "7"})
    client.jobs.delete(job.job_id)
    with pytest.raises(sdk.errors.ResourceDoesNotExist):
        client.jobs.get(job.job_id)


def test_a_failed_run_says_why_and_is_repaired(client: Any, code: Callable[[str], str]) -> None:
    code("print('to fail')\nraise ValueError('bad luck')")
    job = client.jobs.create(name="unlucky", tasks=[task("first"), task("second", after="first")])
    waiter = client.jobs.run_now(job.job_id)
    with pytest.raises(sdk.errors.OperationFailed, match="Task first failed with message: ValueError: bad"):
        waiter.result()
    run = client.jobs.get_run(waiter.run_id)
    states = {each.task_key: each.state.result_state.value for each in run.tasks}
    assert states == {"first": "FAILED", "second": "UPSTREAM_FAILED"}
    output = client.jobs.get_run_output(run.tasks[0].run_id)
    assert output.logs == "to fail\n"
    assert "ValueError: bad luck" in output.error and "task.py:2" in output.error
    assert "    raise ValueError('bad luck')\n" in output.error_trace
    code("print('mended')")
    client.jobs.repair_run(waiter.run_id, rerun_all_failed_tasks=True)
    mended = ended(client, waiter.run_id)
    assert mended.state.result_state == jobs.RunResultState.SUCCESS
    assert [each.attempt_number for each in mended.tasks] == [1, 1]
    again = client.jobs.get_run_output(mended.tasks[0].run_id)
    assert (again.logs, again.error_trace) == ("mended\n", None)
    history = client.jobs.get_run(waiter.run_id, include_history=True).repair_history
    assert [each.type.value for each in history] == ["ORIGINAL", "REPAIR"]
    client.jobs.delete_run(waiter.run_id)
    with pytest.raises(sdk.errors.ResourceDoesNotExist):
        client.jobs.get_run(waiter.run_id)


def test_repairs_keep_what_they_do_not_run_and_name_the_repair_before(
    client: Any, code: Callable[[str], str]
) -> None:
    code("import sys\nassert sys.argv[1:] != ['fail']")
    fails = task("fails", "{{job.parameters.how}}", after="fine")
    parameters = [jobs.JobParameterDefinition(name="how", default="fail")]
    job = client.jobs.create(name="twice", tasks=[task("fine"), fails], parameters=parameters)
    run_id = client.jobs.run_now(job.job_id).run_id
    ended(client, run_id)
    first = client.jobs.repair_run(run_id, rerun_tasks=["fails"]).response.repair_id
    run = ended(client, run_id)
    assert [each.state.result_state.value for each in run.tasks] == ["SUCCESS", "FAILED"]
    for given in (None, first + 1):
        with pytest.raises(sdk.errors.InvalidParameterValue, match="latest_repair_id"):
            client.jobs.repair_run(run_id, rerun_all_failed_tasks=True, latest_repair_id=given)
    client.jobs.repair_run(
        run_id, rerun_all_failed_tasks=True, latest_repair_id=first, job_parameters={"how": "well"}
    )
    run = ended(client, run_id)
    assert [each.state.result_state.value for each in run.tasks] == ["SUCCESS", "SUCCESS"]
    assert [each.attempt_number for each in run.tasks] == [0, 2]


def test_a_run_is_canceled_while_its_log_is_read(client: Any, code: Callable[[str], str]) -> None:
    code("import time\nprint('begun', flush=True)\ntime.sleep(60)")
    job = client.jobs.create(name="long", tasks=[task("only")])
    run_id = client.jobs.run_now(job.job_id).run_id
    assert [run.run_id for run in client.jobs.list_runs(job_id=job.job_id, active_only=True)] == [run_id]
    until(lambda: "begun" in (client.jobs.get_run_output(run_id).logs or ""))
    client.jobs.cancel_run(run_id)
    assert ended(client, run_id).state.result_state == jobs.RunResultState.CANCELED
    client.jobs.cancel_all_runs(job_id=job.job_id)
    assert not list(client.jobs.list_runs(job_id=job.job_id, active_only=True))


def test_settings_are_changed_in_part_or_as_a_whole(client: Any) -> None:
    job_id = client.jobs.create(
        name="settings", tasks=[task("a")], tags={"k": "v"}, run_as=jobs.JobRunAs(user_name="bob")
    ).job_id
    client.jobs.update(job_id, new_settings=jobs.JobSettings(tasks=[task("b")]), fields_to_remove=["tags"])
    settings = client.jobs.get(job_id).settings
    assert ([each.task_key for each in settings.tasks], settings.tags) == (["a", "b"], None)
    client.jobs.reset(job_id, jobs.JobSettings(name="whole", tasks=[task("c")]))
    job = client.jobs.get(job_id)
    assert ([each.task_key for each in job.settings.tasks], job.run_as_user_name) == (["c"], "bob")
    assert [each.job_id for each in client.jobs.list(name="whole")] == [job_id]


def test_lists_come_in_pages(client: Any) -> None:
    made = [client.jobs.create(name=f"paged {n}", tasks=[task("a")]).job_id for n in range(5)]
    listed = [each.job_id for each in client.jobs.list(limit=2)]
    assert [each for each in listed if each in made] == made[::-1]


def test_a_run_without_a_job_and_its_secret(client: Any, code: Callable[[str], str]) -> None:
    client.secrets.create_scope("vault")
    client.secrets.put_secret("vault", "key", string_value="hunter2")
    code(
        "import os\nvalue = dbutils.secrets.get('vault', 'key')\n"
        "print(value, len(value), os.environ['FROM_CLUSTER'] == value)\n"
        "os.write(1, f'past print {value}\\n'.encode())\nraise ValueError(value)"
    )
    cluster = compute.ClusterSpec(spark_env_vars={"FROM_CLUSTER": "{{secrets/vault/key}}"})
    submitted = jobs.SubmitTask(
        task_key="once", spark_python_task=jobs.SparkPythonTask(CODE), new_cluster=cluster
    )
    run_id = client.jobs.submit(run_name="once", tasks=[submitted]).run_id
    run = ended(client, run_id)
    output = client.jobs.get_run_output(run_id)
    assert output.logs == "[REDACTED] 7 True\npast print [REDACTED]\n"
    assert "ValueError: [REDACTED]" in output.error
    assert "hunter2" not in str(run.as_dict()) + str(output.as_dict())


def test_pipelines_are_kept_and_updates_tell_how_they_went(client: Any, server: Server) -> None:
    library = pipelines.PipelineLibrary(file=pipelines.FileLibrary("/Workspace/Users/ada/nowhere.py"))
    made = client.pipelines.create(name="bronze", catalog="main", schema="default", libraries=[library])
    with pytest.raises(sdk.errors.ResourceConflict):
        client.pipelines.create(name="bronze", libraries=[library])
    found = client.pipelines.get(made.pipeline_id)
    assert (found.state.value, found.spec.catalog, found.creator_user_name) == ("IDLE", "main", USER)
    client.pipelines.update(made.pipeline_id, name="silver", catalog="main", schema="s", libraries=[library])
    assert [each.name for each in client.pipelines.list_pipelines()] == ["silver"]
    update = client.pipelines.start_update(made.pipeline_id, full_refresh=True)

    def over() -> Any:
        state = client.pipelines.get_update(made.pipeline_id, update.update_id).update.state.value
        return state if state in ("COMPLETED", "FAILED", "CANCELED") else None

    assert until(over) == "FAILED"
    wanted = f"update_id = '{update.update_id}' AND level = 'ERROR'"
    (event,) = client.pipelines.list_pipeline_events(made.pipeline_id, filter=wanted)
    assert "nowhere.py" in event.error.exceptions[0].message
    assert event.origin.update_id == update.update_id
    assert client.pipelines.list_updates(made.pipeline_id).updates[0].update_id == update.update_id
    with pytest.raises(sdk.errors.OperationFailed, match=r"got PipelineState\.FAILED: .*nowhere\.py"):
        client.pipelines.wait_get_pipeline_idle(made.pipeline_id)
    client.pipelines.stop(made.pipeline_id)
    client.pipelines.delete(made.pipeline_id)
    with pytest.raises(sdk.errors.ResourceDoesNotExist):
        client.pipelines.get(made.pipeline_id)


def test_an_object_has_exactly_one_owner(client: Any) -> None:
    job_id = str(client.jobs.create(name="owned", tasks=[task("a")]).job_id)
    acl, level = iam.AccessControlRequest, iam.PermissionLevel
    viewer = acl(user_name="bob", permission_level=level.CAN_VIEW)
    with pytest.raises(sdk.errors.InvalidParameterValue, match="exactly one owner, and the list has 0"):
        client.permissions.set("jobs", job_id, access_control_list=[viewer])
    client.permissions.update("jobs", job_id, access_control_list=[viewer])
    client.permissions.update(
        "jobs", job_id, access_control_list=[acl(user_name="eve", permission_level=level.IS_OWNER)]
    )
    client.permissions.set(
        "jobs", job_id, access_control_list=[viewer, acl(user_name=USER, permission_level=level.IS_OWNER)]
    )
    listed = client.permissions.get("jobs", job_id).access_control_list
    assert {each.user_name: each.all_permissions[0].permission_level.value for each in listed} == {
        "bob": "CAN_VIEW",
        USER: "IS_OWNER",
    }
    assert client.permissions.get_permission_levels("jobs", job_id).permission_levels


def test_tokens_live_for_up_to_730_days_and_can_be_revoked(client: Any, server: Server) -> None:
    made = client.tokens.create(comment="laptop", lifetime_seconds=86_400)
    other = sdk.WorkspaceClient(host=server.host, token=made.token_value)
    assert other.current_user.me().user_name == USER
    assert "laptop" in [each.comment for each in client.tokens.list()]
    assert client.tokens.create(lifetime_seconds=60).token_info.expiry_time
    for seconds in (0, -1, 731 * 86_400):
        with pytest.raises(sdk.errors.InvalidParameterValue, match="1 second to 730 days"):
            client.tokens.create(lifetime_seconds=seconds)
    client.tokens.delete(made.token_info.token_id)
    with pytest.raises(sdk.errors.PermissionDenied, match="Invalid access token"):
        list(other.tokens.list())


def test_a_scope_is_for_those_in_its_list(client: Any, server: Server) -> None:
    client.secrets.create_scope("guarded")
    client.secrets.put_secret("guarded", "key", string_value="value-of-key")
    made = client.token_management.create_obo_token(application_id="robot", lifetime_seconds=86_400)
    robot = sdk.WorkspaceClient(host=server.host, token=made.token_value)
    with pytest.raises(sdk.errors.PermissionDenied, match="robot does not have READ permission on scope"):
        robot.secrets.get_secret("guarded", "key")
    client.secrets.put_acl("guarded", "robot", workspace.AclPermission.READ)
    assert robot.dbutils.secrets.get("guarded", "key") == "value-of-key"
    with pytest.raises(sdk.errors.PermissionDenied, match="WRITE"):
        robot.secrets.put_secret("guarded", "key", string_value="x")
    assert client.secrets.get_acl("guarded", "robot").permission.value == "READ"
    client.secrets.delete_acl("guarded", "robot")
    assert [each.principal for each in client.secrets.list_acls("guarded")] == [USER]
    assert [each.key for each in client.secrets.list_secrets("guarded")] == ["key"]
    client.secrets.delete_secret("guarded", "key")
    client.secrets.delete_scope("guarded")
    assert "guarded" not in [each.name for each in client.secrets.list_scopes()]


def test_jobs_and_pipelines_are_for_those_in_their_lists(
    client: Any, server: Server, code: Callable[[str], str]
) -> None:
    code("print('seen by few')")
    job = client.jobs.create(name="private", tasks=[task("a")])
    run = client.jobs.run_now(job.job_id).result()
    once = jobs.SubmitTask(task_key="a", spark_python_task=jobs.SparkPythonTask(CODE))
    alone = client.jobs.submit(run_name="alone", tasks=[once]).result()
    pipeline = client.pipelines.create(name="private", catalog="main").pipeline_id
    made = client.token_management.create_obo_token(application_id="guest", lifetime_seconds=86_400)
    guest = sdk.WorkspaceClient(host=server.host, token=made.token_value)
    hidden = (
        lambda: guest.jobs.get(job.job_id),
        lambda: guest.jobs.get_run(run.run_id),
        lambda: guest.jobs.get_run_output(run.tasks[0].run_id),
        lambda: guest.jobs.get_run(alone.run_id),
        lambda: guest.permissions.get("jobs", str(job.job_id)),
        lambda: guest.pipelines.get(pipeline),
        lambda: list(guest.pipelines.list_pipeline_events(pipeline)),
        lambda: guest.pipelines.list_updates(pipeline),
        lambda: guest.permissions.get("pipelines", pipeline),
    )
    for ask in hidden:
        with pytest.raises(sdk.errors.PermissionDenied, match="guest does not have CAN_VIEW permission"):
            ask()
    assert not [*guest.jobs.list(), *guest.jobs.list_runs(), *guest.pipelines.list_pipelines()]

    acl, level = iam.AccessControlRequest, iam.PermissionLevel
    entry = acl(service_principal_name="guest", permission_level=level.CAN_VIEW)
    client.permissions.update("jobs", str(job.job_id), access_control_list=[entry])
    client.permissions.update("pipelines", pipeline, access_control_list=[entry])
    assert guest.jobs.get_run_output(run.tasks[0].run_id).logs == "seen by few\n"
    assert [each.run_id for each in guest.jobs.list_runs()] == [run.run_id]
    assert guest.pipelines.get(pipeline).name == "private"
    refused = (
        (lambda: guest.jobs.run_now(job.job_id), "CAN_MANAGE_RUN"),
        (lambda: guest.jobs.repair_run(run.run_id, rerun_tasks=["a"]), "CAN_MANAGE_RUN"),
        (lambda: guest.jobs.cancel_run(run.run_id), "CAN_MANAGE_RUN"),
        (lambda: guest.jobs.delete_run(run.run_id), "CAN_MANAGE"),
        (lambda: guest.jobs.update(job.job_id, new_settings=jobs.JobSettings(name="mine")), "CAN_MANAGE"),
        (lambda: guest.jobs.delete(job.job_id), "CAN_MANAGE"),
        (lambda: guest.pipelines.start_update(pipeline), "CAN_RUN"),
        (lambda: guest.pipelines.delete(pipeline), "CAN_MANAGE"),
        (
            lambda: guest.permissions.update("jobs", str(job.job_id), access_control_list=[entry]),
            "CAN_MANAGE",
        ),
    )
    for ask, wanted in refused:
        with pytest.raises(sdk.errors.PermissionDenied, match=f"guest does not have {wanted} permission"):
            ask()
    client.jobs.delete(job.job_id)
    client.pipelines.delete(pipeline)


def test_the_remote_dbutils_works_on_the_server(client: Any) -> None:
    client.dbutils.fs.put("dbfs:/notes/a.txt", "hello")
    assert client.dbutils.fs.head("dbfs:/notes/a.txt") == "hello"
    client.dbutils.fs.mkdirs("dbfs:/more")
    client.dbutils.fs.cp("dbfs:/notes/a.txt", "dbfs:/more/b.txt")
    client.dbutils.fs.mv("dbfs:/more/b.txt", "dbfs:/more/c.txt")
    assert [each.name for each in client.dbutils.fs.ls("dbfs:/more")] == ["c.txt"]
    client.dbutils.fs.rm("dbfs:/more", True)
    assert not client.dbfs.exists("/more")
    client.dbfs.put("/put.txt", contents="aGFsbG8=")
    client.dbfs.move("/put.txt", "/moved.txt")
    client.dbfs.delete("/moved.txt")


def test_files_of_volumes_go_up_and_down(client: Any) -> None:
    client.catalogs.create("shop")
    client.schemas.create("sales", "shop")
    client.volumes.create("shop", "sales", "in", catalog.VolumeType.MANAGED)
    client.files.create_directory("/Volumes/shop/sales/in/day")
    content = bytes(range(256)) * 40_000
    client.files.upload("/Volumes/shop/sales/in/day/x.bin", io.BytesIO(content))
    assert client.files.download("/Volumes/shop/sales/in/day/x.bin").contents.read() == content
    assert client.files.get_metadata("/Volumes/shop/sales/in/day/x.bin").content_length == len(content)
    client.files.get_directory_metadata("/Volumes/shop/sales/in/day")
    assert [each.name for each in client.files.list_directory_contents("/Volumes/shop/sales/in")] == ["day"]
    client.files.delete("/Volumes/shop/sales/in/day/x.bin")
    client.files.delete_directory("/Volumes/shop/sales/in/day")
    client.volumes.update("shop.sales.in", new_name="out")
    assert client.volumes.read("shop.sales.out").name == "out"
    assert [each.name for each in client.volumes.list("shop", "sales")] == ["out"]
    client.volumes.delete("shop.sales.out")


def test_catalogs_schemas_tables_and_grants(client: Any, server: Server) -> None:
    client.catalogs.create("lake", comment="of ours")
    assert client.catalogs.update("lake", comment="changed").comment == "changed"
    assert client.catalogs.get("lake").comment == "changed"
    assert "lake" in [each.name for each in client.catalogs.list()]
    assert client.schemas.create("Gold", "lake").full_name == "lake.gold"
    with pytest.raises(sdk.errors.BadRequest, match=r"'lake\.gold' already exists"):
        client.schemas.create("gold", "lake")
    client.schemas.update("lake.gold", comment="best")
    assert client.schemas.get("lake.gold").comment == "best"
    assert [each.name for each in client.schemas.list("lake")] == [
        "default",
        "gold",
        "information_schema",
    ]
    log = server.state / "warehouse" / "lake" / "gold" / "daily" / "_delta_log"
    log.mkdir(parents=True)
    schema = {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]}
    table = {"id": "1", "format": {"provider": "parquet", "options": {}}, "schemaString": json.dumps(schema)}
    actions = [
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}},
        {"metaData": {**table, "partitionColumns": [], "configuration": {}}},
    ]
    (log / f"{0:020d}.json").write_text("".join(json.dumps(action) + "\n" for action in actions))
    assert [each.full_name for each in client.tables.list("lake", "gold")] == ["lake.gold.daily"]
    assert client.tables.get("lake.gold.daily").data_source_format.value == "DELTA"
    assert client.tables.exists("lake.gold.daily").table_exists
    with pytest.raises(sdk.errors.NotFound):
        client.tables.get("lake.gold.weekly")
    change = catalog.PermissionsChange(principal="bob", add=[catalog.Privilege.SELECT])
    client.grants.update("schema", "lake.gold", changes=[change])
    (given,) = client.grants.get("schema", "lake.gold").privilege_assignments
    assert (given.principal, given.privileges) == ("bob", [catalog.Privilege.SELECT])
    assert client.grants.get_effective("schema", "lake.gold").privilege_assignments[0].principal == "bob"
    with pytest.raises(sdk.errors.BadRequest, match="is not empty"):
        client.schemas.delete("lake.gold")
    client.schemas.delete("lake.gold", force=True)
    client.catalogs.delete("lake", force=True)
    with pytest.raises(sdk.errors.NotFound):
        client.schemas.get("lake.gold")


def test_workspace_files_and_notebooks(client: Any) -> None:
    client.workspace.mkdirs("/Shared/folder")
    source = b"# Databricks notebook source\nprint(1)"
    client.workspace.upload("/Shared/folder/nb", io.BytesIO(source), language=workspace.Language.PYTHON)
    assert client.workspace.get_status("/Shared/folder/nb").object_type == workspace.ObjectType.NOTEBOOK
    assert [each.path for each in client.workspace.list("/Shared/folder")] == ["/Shared/folder/nb"]
    with client.workspace.download("/Shared/folder/nb") as file:
        assert file.read() == source
    client.workspace.delete("/Shared/folder", recursive=True)
    with pytest.raises(sdk.errors.ResourceDoesNotExist):
        client.workspace.get_status("/Shared/folder")


def test_the_local_warehouse_is_there_before_it_runs(client: Any) -> None:
    (warehouse,) = client.warehouses.list()
    assert client.warehouses.get(warehouse.id).name == "local"
    with pytest.raises(sdk.errors.NotFound):
        client.statement_execution.execute_statement("SELECT 1", "another")
    with pytest.raises(sdk.errors.NotFound):
        client.statement_execution.get_statement("none")
    assert warehouse.state == sql.State.STOPPED
    assert warehouse.enable_serverless_compute, "code looks for one that is serverless"


def test_the_local_warehouse_is_started_and_stopped(client: Any) -> None:
    (warehouse,) = client.warehouses.list()
    assert client.warehouses.start(warehouse.id).result().state == sql.State.RUNNING
    assert client.warehouses.start_and_wait(warehouse.id).num_clusters == 1
    assert client.warehouses.stop(warehouse.id).result().state == sql.State.STOPPED
    assert client.warehouses.stop_and_wait(warehouse.id).num_clusters == 0
    for change in (client.warehouses.start, client.warehouses.stop):
        with pytest.raises(sdk.errors.NotFound):
            change("another")


def test_what_is_not_served_is_reported_as_such(client: Any, server: Server) -> None:
    with pytest.raises(sdk.errors.NotImplemented, match=r"GET /api/2.0/vector-search/\S+ is not served here"):
        list(client.vector_search_endpoints.list_endpoints())
    assert [line["status"] for line in server.requests() if "vector" in line["path"]] == [501]
