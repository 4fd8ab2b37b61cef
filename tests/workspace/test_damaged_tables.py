"""Every file that describes a table, damaged in every way, through the routes that read it without Spark."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workspace.server import Server

UC = "/api/2.1/unity-catalog"


def _schema(*names: str) -> str:
    fields = [{"name": name, "type": "long", "nullable": True, "metadata": {}} for name in names]
    return json.dumps({"type": "struct", "fields": fields})


def _commit(*names: str) -> str:
    metadata = {
        "id": "5c2b7c1e",
        "schemaString": _schema(*names),
        "partitionColumns": [],
        "configuration": {},
    }
    actions = [{"commitInfo": {"operation": "WRITE"}}]
    actions += [{"metaData": metadata}] if names else []
    actions += [{"add": {"path": "a.parquet", "size": 1, "dataChange": True}}]
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in actions)


def _make(schema: Path) -> None:
    """A table of three commits, the second of which adds a column; a view; an external table."""
    log = schema / "t" / "_delta_log"
    log.mkdir(parents=True)
    for version, names in enumerate((("a",), ("a", "b"), ())):
        (log / f"{version:020}.json").write_text(_commit(*names))
    objects = schema / ".objects"
    objects.mkdir()
    (objects / "v.view.json").write_text(json.dumps({"query": "select 1", "schema": _schema("a")}))
    external = {"type": "EXTERNAL", "provider": "csv", "location": "file:/data", "schema": _schema("a")}
    (objects / "x.table.json").write_text(json.dumps(external))


FILES = {
    "t/_delta_log/00000000000000000001.json": "t",
    "t/_delta_log/00000000000000000002.json": "t",
    ".objects/v.view.json": "v",
    ".objects/x.table.json": "x",
}
_WRONG_METADATA = json.dumps({"metaData": {"schemaString": '{"fields":[1]}'}}, separators=(",", ":"))
DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda file: file.write_bytes(b""),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "truncated in the middle": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "random": lambda file: file.write_bytes(bytes(range(256)) * 40),
    "a list": lambda file: file.write_bytes(b"[1]"),
    "of wrong types": lambda file: file.write_text(
        _WRONG_METADATA if "_delta_log" in str(file) else '{"schema":"{\\"fields\\":[1]}","properties":5}'
    ),
    "a pipe": lambda file: (file.unlink(), os.mkfifo(file)),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("file", FILES)
def test_a_damaged_description_is_named_and_the_others_are_listed(
    server: Server, file: str, damage: str
) -> None:
    schema = server.state / "warehouse" / "main" / "damaged"
    shutil.rmtree(schema, ignore_errors=True)
    _make(schema)
    before = {each["name"]: each for each in _tables(server)}
    assert [column["name"] for column in before["t"]["columns"]] == ["a", "b"]
    place, name = schema / file, FILES[file]
    DAMAGE[damage](place)
    answer = server.answer("GET", f"{UC}/tables/main.damaged.{name}")
    listed = {each["name"]: each for each in _tables(server)}
    # A commit that is JSON of another form leads to its folder.
    named = place.parent if damage == "of wrong types" and name == "t" else place
    assert answer.status_code == 400 and answer.json()["error_code"] == "INVALID_STATE"
    assert f"{named} is damaged" in answer.json()["message"]
    assert listed.keys() == before.keys()
    assert f"{named} is damaged" in listed[name]["comment"]
    assert {key: each for key, each in listed.items() if key != name} == {
        key: each for key, each in before.items() if key != name
    }


def _tables(server: Server) -> list[dict[str, object]]:
    found = server.get(f"{UC}/tables", catalog_name="main", schema_name="damaged")["tables"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("facts", ["5", "null", "[]", '"x"', '{"operationMetrics": 7, "timestamp": []}', "{"])
def test_a_commit_of_wrong_types_is_a_row_of_the_history(server: Server, facts: str) -> None:
    log = server.state / "warehouse/main/default/strange/_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{0:020}.json").write_text(_commit("a"))
    (log / f"{1:020}.json").write_text(f'{{"commitInfo":{facts}}}\n')
    commits = server.get("/api/2.0/lakeward/history/main.default.strange")["commits"]
    assert [(each["version"], each["metrics"]) for each in commits] == [(1, {}), (0, {})]
    assert commits[1]["operation"] == "WRITE"
