"""Tables with their columns, and what is refused where a catalog, schema or volume is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.server import Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import catalog  # noqa: E402

CLIENT = "http/catalog"
UC = "/api/2.1/unity-catalog"
FIELDS = [
    {"name": "day", "type": "date", "nullable": False, "metadata": {}},
    {"name": "n", "type": "long", "nullable": True, "metadata": {"comment": "how many"}},
    {"name": "price", "type": "decimal(10,2)", "nullable": True, "metadata": {}},
    {
        "name": "tags",
        "type": {"type": "map", "keyType": "string", "valueType": "integer", "valueContainsNull": True},
        "nullable": True,
        "metadata": {},
    },
]
SCHEMA = json.dumps({"type": "struct", "fields": FIELDS})


def write_table(schema: Path, name: str, **configuration: str) -> None:
    log = schema / name / "_delta_log"
    log.mkdir(parents=True)
    metadata = {
        "id": "5c2b7c1e-0000-4000-8000-000000000000",
        "description": "sales",
        "schemaString": SCHEMA,
        "partitionColumns": ["day"],
        "configuration": configuration,
        "createdTime": 1_700_000_000_000,
    }
    lines = ['{"commitInfo": {}}', json.dumps({"metaData": metadata}, separators=(",", ":"))]
    (log / f"{0:020}.json").write_text("\n".join(lines))
    (log / f"{1:020}.json").write_text('{"commitInfo": {}}')


@pytest.fixture(scope="module")
def schema(server: Server) -> Path:
    server.post(f"{UC}/schemas", {"catalog_name": "main", "name": "shop"})
    folder = server.state / "warehouse" / "main" / "shop"
    write_table(folder, "sales")
    write_table(folder, "totals", **{"lakeward.kind": "materialized_view"})
    write_table(folder, "events", **{"lakeward.kind": "streaming_table", "a": "b"})
    objects = folder / ".objects"
    objects.mkdir()
    (objects / "seen.view.json").write_text(json.dumps({"query": "select 1", "schema": SCHEMA}))
    external = {"type": "EXTERNAL", "provider": "csv", "location": "file:/data", "schema": SCHEMA}
    (objects / "raw.table.json").write_text(json.dumps(external))
    (objects / "damaged.table.json").write_text("{")
    return folder


def test_columns_have_types_comments_and_partitions(client: Any, schema: Path) -> None:
    table = client.tables.get("main.shop.sales")
    day, n, price, tags = table.columns
    names = catalog.ColumnTypeName
    assert (day.type_name, day.nullable, day.partition_index) == (names.DATE, False, 0)
    assert (n.type_text, n.type_name, n.comment) == ("bigint", names.LONG, "how many")
    assert (price.type_name, price.type_precision, price.type_scale) == (
        names.DECIMAL,
        10,
        2,
    )
    assert (tags.type_text, tags.type_name, tags.position) == (
        "map<string,int>",
        names.MAP,
        3,
    )
    assert json.loads(n.type_json) == FIELDS[1]
    assert (table.comment, table.created_at) == ("sales", 1_700_000_000_000)
    assert table.table_id == "5c2b7c1e-0000-4000-8000-000000000000"


def test_types_of_tables_are_distinguished(client: Any, server: Server, schema: Path) -> None:
    found = {each.name: each for each in client.tables.list("main", "shop")}
    types = {name: (each.table_type.value, str(each.data_source_format)) for name, each in found.items()}
    assert {name: kind for name, (kind, _) in types.items()} == {
        "damaged": "MANAGED",
        "events": "STREAMING_TABLE",
        "raw": "EXTERNAL",
        "sales": "MANAGED",
        "seen": "VIEW",
        "totals": "MATERIALIZED_VIEW",
    }
    assert found["raw"].data_source_format == catalog.DataSourceFormat.CSV
    assert found["seen"].view_definition == "select 1" and len(found["seen"].columns) == 4
    assert found["events"].properties == {"a": "b"}
    plain = server.get(f"{UC}/tables", catalog_name="main", schema_name="shop", omit_columns="true")
    assert all("columns" not in each for each in plain["tables"])
    summaries = server.get(f"{UC}/table-summaries", catalog_name="main")["tables"]
    assert {"full_name": "main.shop.totals", "table_type": "MATERIALIZED_VIEW"} in summaries
    assert client.tables.exists("main.shop.seen").table_exists
    assert server.answer("DELETE", f"{UC}/tables/main.shop.events").status_code == 200
    assert not client.tables.exists("main.shop.events").table_exists
    assert not (schema / "events").exists()


def test_a_standalone_view_shows_its_query(client: Any, server: Server, schema: Path) -> None:
    """`view_definition` of MATERIALIZED_VIEW and STREAMING_TABLE is documented for the tables API."""
    pipeline = "MV-main.shop.counts"
    write_table(schema, "counts", **{"lakeward.kind": "materialized_view", "pipelines.pipelineId": pipeline})
    folder = server.state / "pipelines" / pipeline
    folder.mkdir(parents=True)
    definition = {
        "kind": "materialized_view",
        "name": ["main", "shop", "counts"],
        "text": "CREATE MATERIALIZED VIEW counts AS SELECT 1",
        "catalog": "main",
        "schema": "shop",
        "query": "SELECT 1",
        "latest": None,
    }
    (folder / "definition.json").write_text(json.dumps(definition))
    assert client.tables.get("main.shop.counts").view_definition == "SELECT 1"
    assert client.tables.get("main.shop.totals").view_definition is None


def test_metadata_is_read_from_a_checkpoint(server: Server, schema: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    write_table(schema, "old")
    log = schema / "old" / "_delta_log"
    row = {"schemaString": SCHEMA, "partitionColumns": [], "configuration": [("k", "v")], "id": "x"}
    kind = pyarrow.struct(
        [
            ("schemaString", pyarrow.string()),
            ("partitionColumns", pyarrow.list_(pyarrow.string())),
            ("configuration", pyarrow.map_(pyarrow.string(), pyarrow.string())),
            ("id", pyarrow.string()),
        ]
    )
    table = pyarrow.table({"metaData": pyarrow.array([None, row], kind)})
    parquet.write_table(table, log / f"{1:020}.checkpoint.parquet")
    for commit in log.glob("*.json"):
        commit.unlink()
    found = server.get(f"{UC}/tables/main.shop.old")
    assert len(found["columns"]) == 4 and found["properties"] == {"k": "v"}


MISSING: list[tuple[str, str, Any, int]] = [
    ("POST", f"{UC}/schemas", {"catalog_name": "none", "name": "s"}, 404),
    ("POST", f"{UC}/volumes", {"catalog_name": "none", "schema_name": "s", "name": "v"}, 404),
    ("POST", f"{UC}/volumes", {"catalog_name": "main", "schema_name": "none", "name": "v"}, 404),
    ("GET", f"{UC}/schemas?catalog_name=none", None, 404),
    ("GET", f"{UC}/tables?catalog_name=main&schema_name=none", None, 404),
    ("GET", f"{UC}/tables/main.shop.none", None, 404),
    ("DELETE", f"{UC}/tables/main.shop.none", None, 404),
    ("PUT", "/api/2.0/fs/files/Volumes/main/default/none/f", None, 404),
    ("PUT", "/api/2.0/fs/directories/Volumes/main/default/none/d", None, 404),
    ("PUT", "/api/2.0/fs/files/Volumes/main/f", None, 400),
    ("PATCH", f"{UC}/permissions/schema/main.none", {"changes": []}, 404),
    ("PATCH", f"{UC}/permissions/table/main.shop.none", {"changes": []}, 404),
    ("PATCH", f"{UC}/permissions/volume/main.shop.none", {"changes": []}, 404),
    ("GET", f"{UC}/permissions/catalog/none", None, 404),
    ("GET", f"{UC}/permissions/no_kind/main", None, 400),
    *[
        ("GET", f"{UC}/permissions/{kind}/none", None, 404)
        for kind in ("storage_credential", "credential", "external_location", "connection")
    ],
    ("GET", f"{UC}/volumes?catalog_name=main&schema_name=none", None, 404),
    ("GET", f"{UC}/functions?catalog_name=main&schema_name=none", None, 404),
    ("GET", f"{UC}/table-summaries?catalog_name=none", None, 404),
    ("PATCH", f"{UC}/tables/main.shop.none", {"owner": "bob"}, 404),
    ("PATCH", f"{UC}/catalogs/main", {"new_name": "none"}, 501),
    ("GET", f"{UC}/permissions/schema/main", None, 400),
]


@pytest.mark.parametrize(("method", "path", "body", "status"), MISSING)
def test_what_is_missing_is_refused_and_not_made(
    server: Server, schema: Path, method: str, path: str, body: Any, status: int
) -> None:
    before = sorted(server.state.rglob("none*"))
    answer = server.answer(method, path, body)
    assert answer.status_code == status and answer.json()["error_code"]
    assert sorted(server.state.rglob("none*")) == before == []


def test_a_volume_keeps_its_comment(client: Any, schema: Path) -> None:
    client.volumes.create("main", "shop", "files", catalog.VolumeType.MANAGED, comment="raw files")
    assert client.volumes.read("main.shop.files").comment == "raw files"
    assert client.volumes.update("main.shop.files", new_name="data", comment="other").comment == "other"
    [volume] = client.volumes.list("main", "shop")
    assert (volume.name, volume.comment, bool(volume.created_at)) == ("data", "other", True)
    client.volumes.delete("main.shop.data")
    client.volumes.create("main", "shop", "data", catalog.VolumeType.MANAGED)
    assert client.volumes.read("main.shop.data").comment is None


def test_what_exists_from_the_start_is_found(client: Any) -> None:
    assert client.catalogs.get("main").name == "main"
    assert client.schemas.get("main.default").full_name == "main.default"
    assert {"default", "information_schema"} <= {each.name for each in client.schemas.list("main")}
    client.registered_models.create(name="m", catalog_name="main", schema_name="default")
    assert client.registered_models.get("main.default.m").name == "m"
    client.registered_models.delete("main.default.m")


def test_the_information_schema_is_read_and_not_changed(client: Any) -> None:
    name = "main.information_schema"
    assert client.schemas.get(name).owner == "System user"
    views = {each.name: each for each in client.tables.list("main", "information_schema")}
    assert views["schemata"].table_type is catalog.TableType.VIEW
    columns = client.tables.get(f"{name}.schemata").columns
    assert [each.name for each in columns[:2]] == ["catalog_name", "schema_name"]
    assert client.tables.exists(f"{name}.schemata").table_exists
    for change in (
        lambda: client.schemas.delete(name, force=True),
        lambda: client.schemas.update(name, comment="x"),
        lambda: client.volumes.create("main", "information_schema", "v", catalog.VolumeType.MANAGED),
    ):
        with pytest.raises(sdk.errors.PermissionDenied):
            change()
    with pytest.raises(sdk.errors.BadRequest, match="already exists"):
        client.schemas.create("information_schema", "main")


@pytest.mark.parametrize("kind", ["table", "volume", "model"])
def test_content_is_removed_with_force_alone(client: Any, server: Server, kind: str) -> None:
    """Without this, volumes of a removed schema stayed, and a new schema of its name had them."""
    catalog_name = f"full_{kind}"
    client.catalogs.create(catalog_name)
    client.schemas.create("s", catalog_name)
    if kind == "table":
        write_table(server.state / "warehouse" / catalog_name / "s", "x")
    if kind == "volume":
        client.volumes.create(catalog_name, "s", "x", catalog.VolumeType.MANAGED)
    if kind == "model":
        client.registered_models.create(name="x", catalog_name=catalog_name, schema_name="s")
    with pytest.raises(sdk.errors.BadRequest, match=rf"1 {kind}\(s\)"):
        client.schemas.delete(f"{catalog_name}.s")
    with pytest.raises(sdk.errors.BadRequest, match=r"1 schema\(s\)"):
        client.catalogs.delete(catalog_name)
    client.catalogs.delete(catalog_name, force=True)
    assert catalog_name not in {each.name for each in client.catalogs.list()}
    client.catalogs.create(catalog_name)
    client.schemas.create("s", catalog_name)
    assert not list(client.volumes.list(catalog_name, "s")) and not list(
        client.tables.list(catalog_name, "s")
    )
    assert not [each for each in client.registered_models.list() if each.catalog_name == catalog_name]
    client.schemas.delete(f"{catalog_name}.s")
    client.catalogs.delete(catalog_name)


def grant(client: Any, kind: str, name: str, principal: str, *privileges: str) -> None:
    added = [catalog.Privilege(each) for each in privileges]
    change = catalog.PermissionsChange(principal=principal, add=added)
    client.grants.update(kind, name, changes=[change])


def test_grants_are_inherited_and_removed_with_their_object(client: Any, server: Server) -> None:
    client.catalogs.create("granted")
    client.schemas.create("s", "granted")
    write_table(server.state / "warehouse" / "granted" / "s", "t")
    grant(client, "catalog", "granted", "users", "SELECT", "USE_CATALOG")
    grant(client, "schema", "granted.s", "bob", "MODIFY", "USE_SCHEMA")
    grant(client, "table", "granted.s.t", "bob", "SELECT")
    [own] = client.grants.get("table", "granted.s.t", principal="bob").privilege_assignments
    assert own.privileges == [catalog.Privilege.SELECT]
    assert not client.grants.get("table", "granted.s.t", principal="eve").privilege_assignments
    listed = server.get(f"{UC}/privilege-assignments/table/granted.s.t")["privilege_assignments"]
    assert listed == [{"principal": "bob", "privileges": ["SELECT"]}]
    from_catalog = {"inherited_from_type": "CATALOG", "inherited_from_name": "granted"}
    from_schema = {"inherited_from_type": "SCHEMA", "inherited_from_name": "granted.s"}
    for route in ("effective-permissions", "effective-privilege-assignments"):
        found = server.get(f"{UC}/{route}/table/granted.s.t")["privilege_assignments"]
        assert {each["principal"]: each["privileges"] for each in found} == {
            "bob": [{"privilege": "SELECT"}, {"privilege": "MODIFY", **from_schema}],
            "users": [{"privilege": "SELECT", **from_catalog}],
        }
    client.tables.delete("granted.s.t")
    write_table(server.state / "warehouse" / "granted" / "s", "t")
    assert not client.grants.get("table", "granted.s.t").privilege_assignments
    client.schemas.delete("granted.s", force=True)
    client.schemas.create("s", "granted")
    assert not client.grants.get("schema", "granted.s").privilege_assignments
    client.catalogs.delete("granted", force=True)


def test_grants_on_a_volume_end_with_it(client: Any, server: Server, schema: Path) -> None:
    client.volumes.create("main", "shop", "granted", catalog.VolumeType.MANAGED)
    grant(client, "volume", "main.shop.granted", "bob", "READ_VOLUME")
    assert server.answer("DELETE", f"{UC}/volumes/main.shop.granted").status_code == 200
    client.volumes.create("main", "shop", "granted", catalog.VolumeType.MANAGED)
    assert not client.grants.get("volume", "main.shop.granted").privilege_assignments
    client.volumes.delete("main.shop.granted")


def test_a_storage_credential_has_the_grants_of_a_credential(client: Any) -> None:
    """Both words mean one object: grants by either follow its name, and end with it."""
    client.storage_credentials.create("granted")
    grant(client, "credential", "granted", "bob", "MANAGE")
    grant(client, "storage_credential", "granted", "eve", "MANAGE")
    client.storage_credentials.update("granted", new_name="renamed")
    for kind in ("credential", "storage_credential"):
        for read in (client.grants.get, client.grants.get_effective):
            held = read(kind, "renamed").privilege_assignments
            assert [each.principal for each in held] == ["bob", "eve"]
    client.storage_credentials.delete("renamed")
    client.storage_credentials.create("renamed")
    assert not client.grants.get("credential", "renamed").privilege_assignments
    client.storage_credentials.delete("renamed")


def test_the_metastore_is_found_by_its_id(client: Any, server: Server) -> None:
    [metastore] = client.metastores.list()
    assert server.get(f"{UC}/metastores/{metastore.metastore_id}")["name"] == metastore.name
    assert server.answer("GET", f"{UC}/metastores/none").status_code == 404


def test_unknown_privileges_are_refused(server: Server) -> None:
    body = {"changes": [{"principal": "users", "add": ["FLY"]}]}
    answer = server.answer("PATCH", f"{UC}/permissions/catalog/main", body)
    assert answer.status_code == 400 and answer.json()["error_code"] == "INVALID_PARAMETER_VALUE"
    assert "FLY" in answer.json()["message"]


def test_a_table_gets_another_owner(server: Server, schema: Path) -> None:
    answer = server.answer("PATCH", f"{UC}/tables/main.shop.sales", {"owner": "bob"})
    assert answer.status_code == 200
    assert server.get(f"{UC}/tables/main.shop.sales")["owner"] == "bob"


@pytest.mark.parametrize("name", ["renamed", "Renamed", "moved"])
def test_grants_follow_the_name_of_a_volume(client: Any, schema: Path, name: str) -> None:
    client.volumes.create("main", "shop", "moved", catalog.VolumeType.MANAGED)
    change = catalog.PermissionsChange(principal="bob", add=[catalog.Privilege.READ_VOLUME])
    client.grants.update("volume", "main.shop.moved", changes=[change])
    client.volumes.update("main.shop.moved", new_name=name, comment="c")
    [held] = client.grants.get("volume", f"main.shop.{name}").privilege_assignments
    assert (held.principal, held.privileges) == ("bob", [catalog.Privilege.READ_VOLUME])
    client.volumes.delete(f"main.shop.{name}")
    client.volumes.create("main", "shop", "moved", catalog.VolumeType.MANAGED)
    assert not client.grants.get("volume", "main.shop.moved").privilege_assignments
    client.volumes.delete("main.shop.moved")


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        ({"table_name_pattern": "sal%"}, ["main.shop.sales"]),
        ({"schema_name_pattern": "sho_", "table_name_pattern": "seen"}, ["main.shop.seen"]),
        ({"schema_name_pattern": "other%"}, []),
    ],
)
def test_summaries_are_filtered(
    server: Server, schema: Path, patterns: dict[str, str], names: list[str]
) -> None:
    found = server.get(f"{UC}/table-summaries", catalog_name="main", **patterns)["tables"]
    assert [each["full_name"] for each in found] == names


def test_descriptions_of_volumes_are_no_files(client: Any, schema: Path) -> None:
    client.volumes.create("main", "shop", "seen_volume", catalog.VolumeType.MANAGED)
    found = [each.name for each in client.files.list_directory_contents("/Volumes/main/shop")]
    assert "seen_volume" in found and not any(name.startswith(".") for name in found)
    client.volumes.delete("main.shop.seen_volume")
