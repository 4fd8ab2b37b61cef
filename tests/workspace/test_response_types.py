"""Every resource that is served, created, read, listed and changed by databricks-sdk.

The fixture `client` compares each response with the dataclass that it is parsed into: types, values of
enumerations, required fields.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lakeward.workspace.identifiers import LOCAL_CLUSTER, WAREHOUSE_ID
from tests.workspace.server import USER, Server, until
from tests.workspace.test_catalog_objects import write_table

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import catalog, compute, dashboards, iam, jobs, pipelines, settings, workspace  # noqa: E402

CLIENT = "sdk/types"
VERSION = "17.3.x-scala2.13"
HOME = f"/Users/{USER}"
_POLICY = '{"num_workers": {"type": "fixed", "value": 1}}'
_SCHEDULE = jobs.CronSchedule("0 0 12 * * ?", "UTC", jobs.PauseStatus.PAUSED)


def job_settings() -> dict[str, Any]:
    cluster = compute.ClusterSpec(spark_version=VERSION, node_type_id="i3.xlarge", num_workers=1)
    task = jobs.Task(
        task_key="a",
        spark_python_task=jobs.SparkPythonTask("/Workspace/Shared/task.py", parameters=["1"]),
        job_cluster_key="c",
        max_retries=1,
        timeout_seconds=60,
    )
    return {
        "name": "typed",
        "description": "d",
        "tasks": [task],
        "job_clusters": [jobs.JobCluster("c", cluster)],
        "parameters": [jobs.JobParameterDefinition("p", "1")],
        "tags": {"a": "b"},
        "schedule": _SCHEDULE,
        "queue": jobs.QueueSettings(True),
        "email_notifications": jobs.JobEmailNotifications(on_failure=["a@example.com"]),
        "run_as": jobs.JobRunAs(user_name=USER),
    }


def make_run(client: Any, server: Server) -> Any:
    """Return a run that has ended."""
    client.workspace.upload(
        "/Shared/task.py", io.BytesIO(b"print(1)"), format=workspace.ImportFormat.AUTO, overwrite=True
    )
    task = jobs.SubmitTask(task_key="a", spark_python_task=jobs.SparkPythonTask("/Workspace/Shared/task.py"))
    run_id = client.jobs.submit(run_name="typed", tasks=[task]).run_id
    return until(lambda: run if (run := client.jobs.get_run(run_id)).state.result_state else None)


def make_table(client: Any, server: Server) -> Any:
    write_table(server.state / "warehouse" / "main" / "default", "typed")
    return client.tables.get("main.default.typed")


def make_update(client: Any, server: Server) -> Any:
    """Return a pipeline with an update that failed."""
    library = pipelines.PipelineLibrary(file=pipelines.FileLibrary("/Workspace/none.py"))
    pipeline_id = client.pipelines.create(name="failed", libraries=[library]).pipeline_id
    update_id = client.pipelines.start_update(pipeline_id).update_id

    def ended() -> Any:
        return client.pipelines.get_update(pipeline_id, update_id).update.state.value == "FAILED"

    until(ended)
    return client.pipelines.get(pipeline_id)


# Kind -> how one is made, and what is then called with the client and what was made.
Steps = list[Callable[[Any, Any], Any]]
RESOURCES: dict[str, tuple[Callable[[Any, Server], Any], Steps]] = {
    "jobs": (
        lambda client, _: client.jobs.create(**job_settings()),
        [
            lambda client, made: client.jobs.get(made.job_id),
            lambda client, made: client.jobs.list(expand_tasks=True, name="typed"),
            lambda client, made: client.jobs.update(made.job_id, new_settings=jobs.JobSettings(name="other")),
            lambda client, made: client.jobs.reset(made.job_id, jobs.JobSettings(**job_settings())),
            lambda client, made: client.permissions.get("jobs", str(made.job_id)),
            lambda client, made: client.permissions.get_permission_levels("jobs", str(made.job_id)),
            lambda client, made: client.jobs.delete(made.job_id),
        ],
    ),
    "runs": (
        make_run,
        [
            lambda client, made: client.jobs.get_run(made.run_id, include_history=True),
            lambda client, made: client.jobs.list_runs(expand_tasks=True),
            lambda client, made: client.jobs.get_run_output(made.tasks[0].run_id),
            lambda client, made: client.jobs.cancel_run(made.run_id).result(),
            lambda client, made: client.jobs.repair_run(made.run_id, rerun_tasks=["a"]).result(),
            lambda client, made: client.jobs.get_run(made.run_id, include_history=True),
            lambda client, made: client.jobs.delete_run(made.run_id),
        ],
    ),
    "pipelines": (
        lambda client, _: client.pipelines.create(
            name="typed",
            catalog="main",
            schema="default",
            continuous=False,
            development=True,
            channel="CURRENT",
            edition="ADVANCED",
            configuration={"a": "b"},
            clusters=[pipelines.PipelineCluster(label="default", num_workers=1)],
            libraries=[pipelines.PipelineLibrary(file=pipelines.FileLibrary("/Workspace/none.py"))],
        ),
        [
            lambda client, made: client.pipelines.get(made.pipeline_id),
            lambda client, made: client.pipelines.list_pipelines(),
            lambda client, made: client.pipelines.update(made.pipeline_id, name="typed"),
            lambda client, made: client.pipelines.create(name="dry", dry_run=True),
            lambda client, made: client.permissions.get("pipelines", made.pipeline_id),
            lambda client, made: client.pipelines.delete(made.pipeline_id),
        ],
    ),
    "updates": (
        make_update,
        [
            lambda client, made: client.pipelines.list_pipelines(),
            lambda client, made: client.pipelines.list_updates(made.pipeline_id),
            lambda client, made: client.pipelines.list_pipeline_events(made.pipeline_id),
            lambda client, made: client.pipelines.stop(made.pipeline_id),
        ],
    ),
    "clusters": (
        lambda client, _: client.clusters.create(
            spark_version=VERSION,
            cluster_name="typed",
            node_type_id="i3.xlarge",
            autoscale=compute.AutoScale(max_workers=2, min_workers=1),
            autotermination_minutes=10,
            custom_tags={"a": "b"},
            spark_conf={"a": "b"},
            aws_attributes=compute.AwsAttributes(availability=compute.AwsAvailability.SPOT),
            data_security_mode=compute.DataSecurityMode.SINGLE_USER,
            single_user_name=USER,
            init_scripts=[compute.InitScriptInfo(volumes=compute.VolumesStorageInfo("/Volumes/a/b/c"))],
        ).result(),
        [
            lambda client, made: client.clusters.get(made.cluster_id),
            lambda client, made: client.clusters.list(),
            lambda client, made: client.clusters.edit(
                made.cluster_id, VERSION, num_workers=1, node_type_id="i3.xlarge"
            ).result(),
            lambda client, made: client.clusters.update(
                made.cluster_id, "num_workers", cluster=compute.UpdateClusterResource(num_workers=2)
            ).result(),
            lambda client, made: client.clusters.resize(made.cluster_id, num_workers=3).result(),
            lambda client, made: client.clusters.restart(made.cluster_id).result(),
            lambda client, made: client.clusters.pin(made.cluster_id),
            lambda client, made: client.clusters.unpin(made.cluster_id),
            lambda client, made: client.clusters.events(made.cluster_id),
            lambda client, made: client.clusters.delete(made.cluster_id).result(),
            lambda client, made: client.clusters.change_owner(made.cluster_id, USER),
            lambda client, made: client.clusters.list(),
            lambda client, made: client.clusters.start(made.cluster_id).result(),
            lambda client, made: client.clusters.list_node_types(),
            lambda client, made: client.clusters.list_zones(),
            lambda client, made: client.clusters.spark_versions(),
            lambda client, made: client.libraries.all_cluster_statuses(),
            lambda client, made: client.libraries.cluster_status(made.cluster_id),
            lambda client, made: client.permissions.get("clusters", made.cluster_id),
            lambda client, made: client.clusters.permanent_delete(made.cluster_id),
        ],
    ),
    "commands": (
        lambda client, _: client.command_execution.create(
            cluster_id=LOCAL_CLUSTER, language=compute.Language.PYTHON
        ).result(),
        [
            lambda client, made: client.command_execution.context_status(LOCAL_CLUSTER, made.id),
            lambda client, made: client.command_execution.execute(
                cluster_id=LOCAL_CLUSTER, context_id=made.id, language=compute.Language.PYTHON, command="1"
            ).result(),
            lambda client, made: client.command_execution.execute(
                cluster_id=LOCAL_CLUSTER, context_id=made.id, language=compute.Language.PYTHON, command="1/0"
            ).result(),
            lambda client, made: client.command_execution.destroy(LOCAL_CLUSTER, made.id),
        ],
    ),
    "policies": (
        lambda client, _: client.cluster_policies.create(
            name="typed", definition=_POLICY, description="d", max_clusters_per_user=2
        ),
        [
            lambda client, made: client.cluster_policies.get(made.policy_id),
            lambda client, made: client.cluster_policies.list(),
            lambda client, made: client.cluster_policies.edit(made.policy_id, name="x", definition=_POLICY),
            lambda client, made: client.permissions.get("cluster-policies", made.policy_id),
            lambda client, made: client.policy_families.list(),
            lambda client, made: client.cluster_policies.delete(made.policy_id),
        ],
    ),
    "pools": (
        lambda client, _: client.instance_pools.create(
            "typed", "i3.xlarge", min_idle_instances=1, max_capacity=2, custom_tags={"a": "b"}
        ),
        [
            lambda client, made: client.instance_pools.get(made.instance_pool_id),
            lambda client, made: client.instance_pools.list(),
            lambda client, made: client.instance_pools.edit(made.instance_pool_id, "typed", "i3.xlarge"),
            lambda client, made: client.permissions.get("instance-pools", made.instance_pool_id),
            lambda client, made: client.instance_pools.delete(made.instance_pool_id),
        ],
    ),
    "git credentials": (
        lambda client, _: client.git_credentials.create("gitHub", git_username="ada", name="n"),
        [
            lambda client, made: client.git_credentials.get(made.credential_id),
            lambda client, made: client.git_credentials.list(),
            lambda client, made: client.git_credentials.update(made.credential_id, "gitHub"),
            lambda client, made: client.git_credentials.delete(made.credential_id),
        ],
    ),
    "repos": (
        lambda client, _: client.repos.create(
            url="https://example.com/org/typed.git",
            provider="gitHub",
            sparse_checkout=workspace.SparseCheckout(["a"]),
        ),
        [
            lambda client, made: client.repos.get(made.id),
            lambda client, made: client.repos.list(),
            lambda client, made: client.repos.update(made.id, branch="b"),
            lambda client, made: client.permissions.get("repos", str(made.id)),
            lambda client, made: client.repos.delete(made.id),
        ],
    ),
    "IP access lists": (
        lambda client, _: (
            client.ip_access_lists.create(
                "typed", settings.ListType.ALLOW, ip_addresses=["10.0.0.0/8"]
            ).ip_access_list
        ),
        [
            lambda client, made: client.ip_access_lists.get(made.list_id),
            lambda client, made: client.ip_access_lists.list(),
            lambda client, made: client.ip_access_lists.update(made.list_id, label="b"),
            lambda client, made: client.ip_access_lists.replace(
                made.list_id, "c", settings.ListType.BLOCK, True
            ),
            lambda client, made: client.ip_access_lists.delete(made.list_id),
        ],
    ),
    "init scripts": (
        lambda client, _: client.global_init_scripts.create(
            "typed", base64.b64encode(b"a").decode(), position=0, enabled=False
        ),
        [
            lambda client, made: client.global_init_scripts.get(made.script_id),
            lambda client, made: client.global_init_scripts.list(),
            lambda client, made: client.global_init_scripts.update(made.script_id, "b", "YQ=="),
            lambda client, made: client.global_init_scripts.delete(made.script_id),
        ],
    ),
    "credentials and locations": (
        lambda client, _: client.storage_credentials.create(
            "typed", comment="c", aws_iam_role=catalog.AwsIamRoleRequest("arn:x"), read_only=True
        ),
        [
            lambda client, made: client.storage_credentials.get(made.name),
            lambda client, made: client.storage_credentials.list(),
            lambda client, made: client.storage_credentials.update(
                made.name, comment="d", isolation_mode=catalog.IsolationMode.ISOLATION_MODE_OPEN
            ),
            lambda client, made: client.external_locations.create("typed", "s3://bucket/a", made.name),
            lambda client, made: client.external_locations.get("typed"),
            lambda client, made: client.external_locations.list(),
            lambda client, made: client.external_locations.update("typed", comment="d", read_only=True),
            lambda client, made: client.external_locations.delete("typed"),
            lambda client, made: client.storage_credentials.delete(made.name),
        ],
    ),
    "connections": (
        lambda client, _: client.connections.create(
            "typed", catalog.ConnectionType.POSTGRESQL, {"host": "h"}, properties={"a": "b"}
        ),
        [
            lambda client, made: client.connections.get(made.name),
            lambda client, made: client.connections.list(),
            lambda client, made: client.connections.update(made.name, {"host": "i"}),
            lambda client, made: client.connections.delete(made.name),
        ],
    ),
    "catalogs, schemas and volumes": (
        lambda client, _: client.catalogs.create("typed", comment="c", properties={"a": "b"}),
        [
            lambda client, made: client.catalogs.get(made.name),
            lambda client, made: client.catalogs.list(),
            lambda client, made: client.catalogs.update(
                made.name,
                comment="d",
                enable_predictive_optimization=catalog.EnablePredictiveOptimization.INHERIT,
            ),
            lambda client, made: client.schemas.create("s", made.name, comment="c", properties={"a": "b"}),
            lambda client, made: client.schemas.get(f"{made.name}.s"),
            lambda client, made: client.schemas.list(made.name),
            lambda client, made: client.schemas.update(f"{made.name}.s", comment="d"),
            lambda client, made: client.volumes.create(
                made.name, "s", "v", catalog.VolumeType.MANAGED, comment="c"
            ),
            lambda client, made: client.volumes.read(f"{made.name}.s.v"),
            lambda client, made: client.volumes.list(made.name, "s"),
            lambda client, made: client.volumes.update(f"{made.name}.s.v", comment="d"),
            lambda client, made: client.files.upload(f"/Volumes/{made.name}/s/v/a/b", io.BytesIO(b"x")),
            lambda client, made: client.files.list_directory_contents(f"/Volumes/{made.name}/s/v"),
            lambda client, made: client.files.list_directory_contents(f"/Volumes/{made.name}/s/v/a"),
            lambda client, made: client.files.get_metadata(f"/Volumes/{made.name}/s/v/a/b"),
            lambda client, made: client.files.download(f"/Volumes/{made.name}/s/v/a/b"),
            lambda client, made: client.grants.update(
                "schema",
                f"{made.name}.s",
                changes=[catalog.PermissionsChange(principal="bob", add=[catalog.Privilege.SELECT])],
            ),
            lambda client, made: client.grants.get("schema", f"{made.name}.s"),
            lambda client, made: client.grants.get_effective("volume", f"{made.name}.s.v"),
            lambda client, made: client.catalogs.delete(made.name, force=True),
        ],
    ),
    "tables": (
        make_table,
        [
            lambda client, made: client.tables.list("main", "default"),
            lambda client, made: client.tables.list_summaries("main"),
            lambda client, made: client.tables.exists(made.full_name),
            lambda client, made: client.tables.update(made.full_name, owner=USER),
            lambda client, made: client.tables.delete(made.full_name),
        ],
    ),
    "models": (
        lambda client, _: client.registered_models.create(
            catalog_name="main", schema_name="default", name="typed", comment="c"
        ),
        [
            lambda client, made: client.registered_models.get(made.full_name),
            lambda client, made: client.registered_models.list(),
            lambda client, made: client.registered_models.update(made.full_name, comment="d"),
            lambda client, made: client.model_versions.list(made.full_name),
            lambda client, made: client.registered_models.delete(made.full_name),
        ],
    ),
    "functions": (
        lambda client, _: client.functions.create(
            catalog.CreateFunction(
                name="typed",
                catalog_name="main",
                schema_name="default",
                input_params=catalog.FunctionParameterInfos(
                    [catalog.FunctionParameterInfo("a", "int", catalog.ColumnTypeName.INT, 0)]
                ),
                data_type=catalog.ColumnTypeName.INT,
                full_data_type="int",
                routine_body=catalog.CreateFunctionRoutineBody.SQL,
                routine_definition="a",
                parameter_style=catalog.CreateFunctionParameterStyle.S,
                is_deterministic=True,
                sql_data_access=catalog.CreateFunctionSqlDataAccess.CONTAINS_SQL,
                is_null_call=False,
                security_type=catalog.CreateFunctionSecurityType.DEFINER,
                specific_name="typed",
            )
        ),
        [
            lambda client, made: client.functions.get(made.full_name),
            lambda client, made: client.functions.list("main", "default"),
            lambda client, made: client.functions.update(made.full_name, owner="grace"),
            lambda client, made: client.functions.delete(made.full_name),
        ],
    ),
    "dashboards": (
        lambda client, _: client.lakeview.create(
            dashboards.Dashboard(
                display_name="typed", serialized_dashboard="{}", warehouse_id=WAREHOUSE_ID, parent_path=HOME
            )
        ),
        [
            lambda client, made: client.lakeview.get(made.dashboard_id),
            lambda client, made: client.lakeview.list(),
            lambda client, made: client.lakeview.update(
                made.dashboard_id, dashboards.Dashboard(display_name="other")
            ),
            lambda client, made: client.lakeview.publish(made.dashboard_id),
            lambda client, made: client.lakeview.get_published(made.dashboard_id),
            lambda client, made: client.workspace.list(HOME),
            lambda client, made: client.permissions.get("dashboards", made.dashboard_id),
            lambda client, made: client.lakeview.trash(made.dashboard_id),
            lambda client, made: client.lakeview.list(show_trashed=True),
        ],
    ),
    "users": (
        lambda client, _: client.users.create(
            user_name="typed@example.com",
            display_name="Typed",
            emails=[iam.ComplexValue(value="typed@example.com", type="work", primary=True)],
            name=iam.Name(given_name="T", family_name="Yped"),
            entitlements=[iam.ComplexValue(value="allow-cluster-create")],
            active=True,
        ),
        [
            lambda client, made: client.users.get(made.id),
            lambda client, made: client.users.list(),
            lambda client, made: client.users.update(made.id, user_name=made.user_name, active=False),
            lambda client, made: client.users.patch(
                made.id, operations=[iam.Patch(op=iam.PatchOp.REPLACE, path="displayName", value="other")]
            ),
            lambda client, made: client.current_user.me(),
            lambda client, made: client.users.delete(made.id),
        ],
    ),
    "groups": (
        lambda client, _: client.groups.create(display_name="typed", external_id="1"),
        [
            lambda client, made: client.groups.get(made.id),
            lambda client, made: client.groups.list(),
            lambda client, made: client.groups.update(made.id, display_name="other"),
            lambda client, made: client.groups.delete(made.id),
        ],
    ),
    "service principals": (
        lambda client, _: client.service_principals.create(display_name="typed", active=True),
        [
            lambda client, made: client.service_principals.get(made.id),
            lambda client, made: client.service_principals.list(),
            lambda client, made: client.service_principals.update(
                made.id, application_id=made.application_id, display_name="other"
            ),
            lambda client, made: client.service_principals.delete(made.id),
        ],
    ),
    "tokens": (
        lambda client, _: client.tokens.create(comment="typed", lifetime_seconds=60).token_info,
        [
            lambda client, made: client.tokens.list(),
            lambda client, made: client.token_management.list(),
            lambda client, made: client.token_management.get(made.token_id),
            lambda client, made: client.token_management.create_obo_token("robot", lifetime_seconds=60),
            lambda client, made: client.tokens.delete(made.token_id),
        ],
    ),
    "secrets": (
        lambda client, _: client.secrets.create_scope("typed"),
        [
            lambda client, _: client.secrets.put_secret("typed", "k", string_value="a-secret"),
            lambda client, _: client.secrets.list_scopes(),
            lambda client, _: client.secrets.list_secrets("typed"),
            lambda client, _: client.secrets.get_secret("typed", "k"),
            lambda client, _: client.secrets.put_acl("typed", "bob", workspace.AclPermission.READ),
            lambda client, _: client.secrets.list_acls("typed"),
            lambda client, _: client.secrets.get_acl("typed", "bob"),
            lambda client, _: client.secrets.delete_scope("typed"),
        ],
    ),
    "workspace objects": (
        lambda client, _: client.workspace.upload(
            f"{HOME}/typed", io.BytesIO(b"1"), language=workspace.Language.PYTHON
        ),
        [
            lambda client, _: client.workspace.mkdirs(f"{HOME}/folder"),
            lambda client, _: client.workspace.upload(
                f"{HOME}/file.txt", io.BytesIO(b"1"), format=workspace.ImportFormat.AUTO
            ),
            lambda client, _: client.workspace.list("/", recursive=True),
            lambda client, _: client.workspace.get_status(f"{HOME}/typed"),
            lambda client, _: client.workspace.export(f"{HOME}/typed"),
            lambda client, _: client.workspace.export(f"{HOME}/file.txt", format=workspace.ExportFormat.AUTO),
        ],
    ),
    "DBFS": (
        lambda client, _: client.dbfs.put("/typed/a", contents="YQ=="),
        [
            lambda client, _: client.dbfs.list("/typed"),
            lambda client, _: client.dbfs.get_status("/typed/a"),
            lambda client, _: client.dbfs.read("/typed/a"),
            lambda client, _: client.dbfs.create("/typed/b"),
        ],
    ),
    "warehouses and metastores": (
        lambda client, _: client.warehouses.get(WAREHOUSE_ID),
        [
            lambda client, _: client.warehouses.list(),
            lambda client, _: client.query_history.list(),
            lambda client, _: client.permissions.get("warehouses", WAREHOUSE_ID),
            lambda client, _: client.metastores.summary(),
            lambda client, _: client.metastores.list(),
            lambda client, _: client.metastores.current(),
            lambda client, _: client.metastores.get(client.metastores.summary().metastore_id),
        ],
    ),
}


@pytest.mark.parametrize("kind", RESOURCES)
def test_responses_have_the_declared_types(client: Any, server: Server, kind: str) -> None:
    client.workspace.mkdirs(HOME)
    make, steps = RESOURCES[kind]
    made = make(client, server)
    for step in steps:
        answer = step(client, made)
        if isinstance(answer, Iterator):
            list(answer)
