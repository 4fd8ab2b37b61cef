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
    assert found["events"].properties["a"] == "b"
    plain = server.get(f"{UC}/tables", catalog_name="main", schema_name="shop", omit_columns="true")
    assert all("columns" not in each for each in plain["tables"])
    summaries = server.get(f"{UC}/table-summaries", catalog_name="main")["tables"]
    assert {"full_name": "main.shop.totals", "table_type": "MATERIALIZED_VIEW"} in summaries
    assert client.tables.exists("main.shop.seen").table_exists
    assert server.answer("DELETE", f"{UC}/tables/main.shop.events").status_code == 200
    assert not client.tables.exists("main.shop.events").table_exists
    assert not (schema / "events").exists()


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
