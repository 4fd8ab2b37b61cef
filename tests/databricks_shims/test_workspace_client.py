"""`WorkspaceClient()` on a machine without credentials, with the real databricks-sdk."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from lakeward.databricks_shims.local_workspace import ROUTES, respond
from lakeward.dbutils import Environment, dbutils
from lakeward.session import INFORMATION_SCHEMA, Settings, link_hive_schemas

sdk = pytest.importorskip("databricks.sdk")


@pytest.fixture
def client(installed: None, no_credentials: None) -> Any:
    return sdk.WorkspaceClient()


def test_the_current_user_is_the_lakehouses(client: Any) -> None:
    assert client.current_user.me().user_name == "ada"
    assert client.config.host == "https://lakeward.localhost"
    assert client.dbutils is dbutils()


def test_runtimes_are_those_that_lakeward_knows(client: Any) -> None:
    assert client.clusters.select_spark_version().endswith("-scala2.12")
    assert client.clusters.select_spark_version(latest=True, scala="2.13").endswith("-scala2.13")
    assert client.clusters.select_spark_version(spark_version="3.5.2") == "16.4.x-scala2.12"
    older = client.api_client.do("GET", "/api/2.0/clusters/spark-versions")
    assert older == client.clusters.spark_versions().as_dict()


FIELDS = [
    {"name": "id", "type": "long", "nullable": False, "metadata": {}},
    {"name": "price", "type": "decimal(10,2)", "nullable": True, "metadata": {"comment": "in euro"}},
]


def test_catalogs_schemas_and_tables_are_those_of_the_warehouse(client: Any, settings: Settings) -> None:
    for folder in ("main/sales/orders/_delta_log", "main/sales/.objects", "dev/default"):
        (settings.warehouse / folder).mkdir(parents=True)
    schema = json.dumps({"type": "struct", "fields": FIELDS})
    about = {"id": "1", "format": {"provider": "parquet"}, "schemaString": schema, "partitionColumns": []}
    commit = {"metaData": {**about, "configuration": {}, "createdTime": 7}}
    log = settings.warehouse / "main/sales/orders/_delta_log"
    (log / f"{0:020}.json").write_text(json.dumps(commit))
    assert [each.name for each in client.catalogs.list()] == ["dev", "main", "workspace"]
    assert client.catalogs.get("dev").full_name == "dev"
    assert [each.full_name for each in client.schemas.list("main")] == [
        "main.default",
        "main.information_schema",
        "main.sales",
    ]
    assert client.schemas.get("main.Sales").name == "sales"
    assert client.tables.exists("main.sales.orders").table_exists
    assert not client.tables.exists("main.sales.absent").table_exists
    table = client.tables.get("main.sales.orders")
    found = [(each.name, each.type_text, each.comment, each.nullable) for each in table.columns]
    assert found == [("id", "bigint", None, False), ("price", "decimal(10,2)", "in euro", True)]
    assert [each.full_name for each in client.tables.list("main", "sales")] == ["main.sales.orders"]
    summaries = client.tables.list_summaries("main", schema_name_pattern="sal%")
    assert [each.full_name for each in summaries] == ["main.sales.orders"]
    for request in (
        lambda: client.catalogs.get("absent"),
        lambda: client.schemas.get("main.absent"),
        lambda: client.tables.get("main.sales.absent"),
        lambda: list(client.tables.list("main", "absent")),
    ):
        with pytest.raises(sdk.errors.NotFound, match="absent"):
            request()
    with pytest.raises(sdk.errors.NotImplemented, match="lakeward workspace"):
        client.schemas.create("more", "main")


@pytest.mark.parametrize("pattern", [None, "information%", "information_schema"])
def test_summaries_of_tables_have_the_relations_of_information_schema(
    client: Any, pattern: str | None
) -> None:
    named = [f"main.information_schema.{name}" for name in sorted(INFORMATION_SCHEMA)]
    listed = list(client.tables.list_summaries("main", schema_name_pattern=pattern))
    assert [each.full_name for each in listed] == named
    assert {each.table_type.value for each in listed} == {"VIEW"}
    assert [each.full_name for each in client.tables.list("main", "information_schema")] == named
    views = client.tables.list_summaries("main", schema_name_pattern=pattern, table_name_pattern="view_")
    assert [each.full_name for each in views] == ["main.information_schema.views"]
    assert list(client.tables.list_summaries("main", schema_name_pattern="default")) == []


def test_secrets_are_those_that_dbutils_reads(client: Any) -> None:
    client.secrets.create_scope("warehouse")
    client.secrets.put_secret("warehouse", "token", string_value="s3cret")
    client.secrets.put_secret("warehouse", "bytes", bytes_value="AAE=")
    assert dbutils().secrets.get("warehouse", "token") == "s3cret"
    assert client.dbutils.secrets.getBytes("warehouse", "bytes") == b"\x00\x01"
    assert [scope.name for scope in client.secrets.list_scopes()] == ["warehouse"]
    assert [each.key for each in client.secrets.list_secrets("warehouse")] == ["bytes", "token"]
    assert client.secrets.get_secret("warehouse", "token").value == "czNjcmV0"
    client.secrets.delete_secret("warehouse", "token")
    with pytest.raises(sdk.errors.ResourceDoesNotExist, match="warehouse and key token does not exist"):
        client.secrets.get_secret("warehouse", "token")
    with pytest.raises(sdk.errors.ResourceAlreadyExists, match="Scope warehouse already exists!"):
        client.secrets.create_scope("warehouse")
    with pytest.raises(sdk.errors.InvalidParameterValue, match="cannot be the name of a scope"):
        client.secrets.create_scope("../up")
    client.secrets.delete_scope("warehouse")
    with pytest.raises(sdk.errors.ResourceDoesNotExist):
        client.secrets.put_secret("warehouse", "token", string_value="x")


def test_files_of_volumes_are_those_on_the_disk(client: Any, settings: Settings) -> None:
    volume = client.volumes.create("main", "default", "landing", sdk.service.catalog.VolumeType.MANAGED)
    assert volume.full_name == "main.default.landing"
    client.files.upload("/Volumes/main/default/landing/in/a b.csv", io.BytesIO(b"1,2\n"))
    assert (settings.volumes / "main/default/landing/in/a b.csv").read_bytes() == b"1,2\n"
    assert client.files.download("/Volumes/main/default/landing/in/a b.csv").contents.read() == b"1,2\n"
    assert client.files.get_metadata("/Volumes/main/default/landing/in/a b.csv").content_length == 4
    (entry,) = client.files.list_directory_contents("/Volumes/main/default/landing")
    assert (entry.name, entry.is_directory) == ("in", True)
    with pytest.raises(sdk.errors.AlreadyExists):
        client.files.upload("/Volumes/main/default/landing/in/a b.csv", io.BytesIO(b""), overwrite=False)
    with pytest.raises(sdk.errors.NotFound, match=r"nope does not exist"):
        client.files.download("/Volumes/main/default/landing/nope")
    with pytest.raises(sdk.errors.BadRequest, match="is not a path in a volume"):
        client.files.download("/escaped")
    with pytest.raises(sdk.errors.BadRequest, match="is not empty"):
        client.files.delete_directory("/Volumes/main/default/landing/in")
    client.files.delete("/Volumes/main/default/landing/in/a b.csv")
    client.files.delete_directory("/Volumes/main/default/landing/in")
    client.files.create_directory("/Volumes/main/default/landing/new")
    assert [each.name for each in client.volumes.list("main", "default")] == ["landing"]
    assert client.volumes.read("main.default.landing").storage_location
    client.volumes.delete("main.default.landing")
    with pytest.raises(sdk.errors.NotFound, match=r"main\.default\.landing"):
        client.volumes.read("main.default.landing")


def test_tables_of_hive_metastore_are_in_dbfs(client: Any, settings: Settings) -> None:
    catalog = settings.warehouse / "hive_metastore"
    for folder in ("default/t/_delta_log", "default/.objects", "sales/u/_delta_log", "sales/.objects"):
        (catalog / folder).mkdir(parents=True)
    (catalog / "default/t/_delta_log/0.json").write_text("{}")
    link_hive_schemas(settings.warehouse)
    root = "/user/hive/warehouse"
    assert [each.path for each in client.dbfs.list(f"dbfs:{root}")] == [f"{root}/sales.db", f"{root}/t"]
    assert [each.path for each in client.dbfs.list(f"{root}/sales.db")] == [f"{root}/sales.db/u"]
    assert client.dbfs.get_status(f"{root}/t/_delta_log/0.json").file_size == 2
    with pytest.raises(sdk.errors.NotFound):
        client.dbfs.put(f"{root}/sales.db/.objects/.schema.json", contents="")
    client.dbfs.delete(f"{root}/sales.db/u", recursive=True)
    assert not (catalog / "sales/u").exists()
    client.dbfs.delete(f"{root}/sales.db", recursive=True)
    assert [each.path for each in client.dbfs.list(root)] == [f"{root}/t"]
    with pytest.raises(sdk.errors.BadRequest):
        client.dbfs.delete(root, recursive=True)


def test_dbfs_is_the_folder_of_dbutils(client: Any) -> None:
    client.dbfs.put("/mnt/a", contents="aGFsbG8=")
    assert dbutils().fs.head("dbfs:/mnt/a") == "hallo"
    assert [each.path for each in client.dbfs.list("dbfs:/mnt")] == ["/mnt/a"]
    with client.dbfs.open("/mnt/a", read=True) as file:
        assert file.read() == b"hallo"
    client.dbfs.mkdirs("/mnt/b")
    client.dbfs.move("/mnt/a", "/mnt/b/c")
    assert client.dbfs.get_status("/mnt/b/c").file_size == 5
    client.dbfs.delete("/mnt/b", recursive=True)
    assert not client.dbfs.exists("/mnt/b")
    with pytest.raises(sdk.errors.BadRequest, match="is a root, mount or volume"):
        client.dbfs.delete("/", recursive=True)


def test_workspace_files_and_notebooks_are_distinguished(client: Any, settings: Settings) -> None:
    workspace, language = client.workspace, sdk.service.workspace.Language.PYTHON
    workspace.mkdirs("/Users/ada")
    workspace.upload("/Users/ada/report", io.BytesIO(b"# Databricks notebook source\n1"), language=language)
    workspace.upload(
        "/Workspace/Users/ada/notes.txt", b"text", format=sdk.service.workspace.ImportFormat.AUTO
    )
    objects = {each.path: each.object_type.value for each in workspace.list("/Users/ada")}
    assert objects == {"/Users/ada/notes.txt": "FILE", "/Users/ada/report": "NOTEBOOK"}
    assert (settings.workspace / "Users/ada/report.py").is_file()
    assert workspace.get_status("/Users/ada/report").language == language
    with workspace.download("/Users/ada/report") as file:
        assert file.read().startswith(b"# Databricks")
    with pytest.raises(sdk.errors.ResourceAlreadyExists):
        workspace.upload("/Users/ada/notes.txt", b"", format=sdk.service.workspace.ImportFormat.AUTO)
    with pytest.raises(sdk.errors.BadRequest, match="is outside of the workspace"):
        workspace.mkdirs("/../../escaped")
    workspace.delete("/Users/ada", recursive=True)
    with pytest.raises(sdk.errors.ResourceDoesNotExist):
        workspace.get_status("/Users/ada")


def test_everything_else_names_the_command_that_serves_it(client: Any) -> None:
    for call in (
        lambda: list(client.jobs.list()),
        lambda: list(client.clusters.list()),
        lambda: client.statement_execution.execute_statement("select 1", "w"),
        lambda: client.serving_endpoints.query("e"),
    ):
        with pytest.raises(sdk.errors.NotImplemented, match="start `lakeward workspace`"):
            call()


def test_a_client_with_a_host_or_credentials_is_left_alone(
    installed: None, no_credentials: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABRICKS_HOST", "https://127.0.0.1:9")
    monkeypatch.setenv("DATABRICKS_TOKEN", "t")
    monkeypatch.setattr(sdk.core.Config, "_resolve_host_metadata", lambda self: None)
    theirs = sdk.WorkspaceClient()
    assert theirs.config.host == "https://127.0.0.1:9"
    assert theirs.config.auth_type == "pat"
    monkeypatch.delenv("DATABRICKS_TOKEN")
    with pytest.raises(ValueError, match="cannot configure default credentials"):
        sdk.WorkspaceClient()


def test_without_the_stand_ins_the_sdk_says_what_it_always_says(
    nothing_installed: None, no_credentials: None
) -> None:
    with pytest.raises(ValueError, match="cannot configure default credentials"):
        sdk.WorkspaceClient()


def test_what_sql_noted_of_a_volume_goes_with_it(client: Any, settings: Settings, tmp_path: Path) -> None:
    """The note holds the location of an external volume: a later volume of the name would have it."""
    note = settings.warehouse / "main/default/.objects/out.volume.about.json"
    note.parent.mkdir(parents=True)
    note.write_text('{"location": "s3://bucket/out"}')
    (tmp_path / "files").mkdir()
    (settings.volumes / "main/default").mkdir(parents=True, exist_ok=True)
    (settings.volumes / "main/default/out").symlink_to(tmp_path / "files")
    client.volumes.update("main.default.out", new_name="moved")
    moved = note.with_name("moved.volume.about.json")
    assert moved.is_file() and not note.exists()
    client.volumes.delete("main.default.moved")
    assert not moved.exists() and (tmp_path / "files").is_dir()


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b'{"properties": 5}'])
def test_a_damaged_description_is_named_in_the_comment_of_its_object_alone(
    client: Any, settings: Settings, content: bytes
) -> None:
    for name in ("sound", "torn"):
        (settings.warehouse / "main" / name / ".objects").mkdir(parents=True)
        (settings.volumes / "main" / name / "files").mkdir(parents=True)
    damaged = settings.warehouse / "main/torn/.objects"
    for name in (".schema.json", "files.volume.about.json"):
        (damaged / name).write_bytes(content)
    schemas = {each.name: each.comment for each in client.schemas.list("main")}
    assert schemas["sound"] is None and f"{damaged / '.schema.json'} is damaged" in schemas["torn"]
    [volume] = client.volumes.list("main", "torn")
    assert f"{damaged / 'files.volume.about.json'} is damaged" in volume.comment
    assert [each.comment for each in client.volumes.list("main", "sound")] == [None]


def test_a_schema_of_volumes_alone_is_a_schema(client: Any, settings: Settings) -> None:
    """Its volumes were listed, and it did not exist."""
    (settings.volumes / "main/raw/landing").mkdir(parents=True)
    assert "raw" in [each.name for each in client.schemas.list("main")]
    assert client.schemas.get("MAIN.RAW").full_name == "main.raw"
    assert not list(client.tables.list("main", "raw"))


def test_no_path_leaves_the_volumes(settings: Settings) -> None:
    # Reading only: were the check broken, nothing could be lost.
    environment = Environment(settings=lambda: settings)
    status, answer = respond(environment, "GET", "/api/2.0/fs/files/Volumes/../nowhere", {}, b"")
    assert (status, answer["error_code"]) == (400, "INVALID_PARAMETER_VALUE")


def test_paths_of_routes_are_unique_and_begin_alike() -> None:
    assert all(route.path.startswith("/api/2.") for route in ROUTES)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)
