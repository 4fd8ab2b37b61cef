"""Tasks of all kinds in one run of a workspace read each other's files, whatever path and API they use."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.workspace.server import Server, running

pytestmark = [pytest.mark.slow, pytest.mark.process]

# What Python opens, and what Spark and SQL read, for each place; `%s` is a name of this run.
PLACES = {
    "volume": ("/Volumes/main/default/exchange/%s", "/Volumes/main/default/exchange/%s"),
    "dbfs": ("/dbfs/exchange/%s", "dbfs:/exchange/%s"),
    # Spark takes `/tmp` for a folder of DBFS, Python for the local one.
    "tmp": ("/dbfs/tmp/%s", "/tmp/%s"),
    "local": ("/tmp/%s", "file:/tmp/%s"),
}
PYTHON = ("notebook", "file", "wheel")
OPENED, BY_SPARK = (*PYTHON, "pipeline"), (*PYTHON, "sql")
EXPECTED = sorted([*(f"{who} open" for who in OPENED), *(f"{who} spark" for who in BY_SPARK)])

OPEN = """
import os
def write(who):
    for place, _ in %(places)r:
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, who + "_open"), "w") as file:
            file.write(who + " open")
"""
WRITE = (
    OPEN
    + """
from databricks.sdk.runtime import spark
def both(who):
    write(who)
    for _, place in %(places)r:
        frame = spark.createDataFrame([(who + " spark",)], "value string").coalesce(1)
        frame.write.text(place + "/" + who + "_spark")
"""
)
READ = """
import json, os
from databricks.sdk.runtime import spark
def content():
    found = {}
    for opened, read in %(places)r:
        files = [os.path.join(at, name) for at, _, names in os.walk(opened) for name in names]
        files = [file for file in files if not os.path.basename(file).startswith(("_", "."))]
        texts = [open(file).read().strip() for file in files]
        found["open " + opened] = sorted(text for text in texts if text)
        found["spark " + read] = sorted(row.value for row in spark.read.text(read + "/*").collect())
    print("FOUND", json.dumps(found))
"""
TABLES = """
found = {}
for kind in ("sql", "pipeline"):
    for place in %(names)r:
        rows = spark.table("main.default." + kind + "_" + place).collect()
        found[kind + " " + place] = sorted(row.value for row in rows)
print("FOUND", json.dumps(found))
"""
PIPELINE = """
import dlt
def listing(place, path):
    @dlt.table(name="pipeline_" + place)
    def files():
        return spark.read.text(path + "/*")
for place, (_, path) in zip(%(names)r, %(places)r):
    listing(place, path)
"""
FIRST_PIPELINE = (
    OPEN
    + """
import dlt
write("pipeline")
@dlt.table
def one():
    return spark.range(1)
"""
)


@pytest.fixture
def places() -> Iterator[dict[str, Any]]:
    name = f"lakeward-exchange-{uuid4().hex}"
    yield {"names": list(PLACES), "places": [(a % name, b % name) for a, b in PLACES.values()]}
    shutil.rmtree(PLACES["local"][0] % name, ignore_errors=True)


def wheel(place: Path, values: dict[str, Any]) -> None:
    code = (WRITE + READ) % values + "\ndef first():\n    both('wheel')\n"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr("exchange/__init__.py", code)
        archive.writestr(
            "exchange-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: exchange\nVersion: 1\n"
        )
        archive.writestr(
            "exchange-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        points = "[console_scripts]\nfirst = exchange:first\nsecond = exchange:content\n"
        archive.writestr("exchange-1.dist-info/entry_points.txt", points)
        archive.writestr("exchange-1.dist-info/RECORD", "")


def pipeline(server: Server, name: str, code: str) -> dict[str, Any]:
    library = {"file": {"path": server.file(f"/Workspace/exchange/{name}.py", code)}}
    spec = {"name": name, "catalog": "main", "schema": "default", "libraries": [library]}
    return {"pipeline_task": {"pipeline_id": server.post("/api/2.0/pipelines", spec)["pipeline_id"]}}


def tasks(server: Server, values: dict[str, Any]) -> list[dict[str, Any]]:
    """Five tasks that write, then five that read."""
    warehouse = server.get("/api/2.0/sql/warehouses")["warehouses"][0]["id"]
    paths = [path for _, path in values["places"]]

    def notebook(name: str, code: str) -> dict[str, Any]:
        server.file(f"/Workspace/exchange/{name}.py", "# Databricks notebook source\n" + code % values)
        return {"notebook_task": {"notebook_path": f"/Workspace/exchange/{name}"}}

    def file(name: str, code: str) -> dict[str, Any]:
        return {
            "spark_python_task": {"python_file": server.file(f"/Workspace/exchange/{name}.py", code % values)}
        }

    def package(entry_point: str) -> dict[str, Any]:
        libraries = [{"whl": "/Workspace/exchange/exchange-1-py3-none-any.whl"}]
        return {
            "python_wheel_task": {"package_name": "exchange", "entry_point": entry_point},
            "libraries": libraries,
        }

    def sql(name: str, statements: list[str]) -> dict[str, Any]:
        path = server.file(f"/Workspace/exchange/{name}.sql", ";\n".join(statements))
        return {"sql_task": {"file": {"path": path}, "warehouse_id": warehouse}}

    write = [f"INSERT OVERWRITE DIRECTORY '{path}/sql_spark' USING text SELECT 'sql spark'" for path in paths]
    read = [
        f"CREATE TABLE main.default.sql_{name} AS SELECT value FROM text.`{path}/*`"
        for name, path in zip(values["names"], paths, strict=True)
    ]
    first = {
        "notebook": notebook("first_notebook", WRITE + "both('notebook')"),
        "file": file("first_file", WRITE + "both('file')"),
        "wheel": package("first"),
        "sql": sql("first_sql", write),
        "pipeline": pipeline(server, "first", FIRST_PIPELINE % values),
    }
    wheel(server.state / "workspace" / "exchange" / "exchange-1-py3-none-any.whl", values)
    second = {
        "notebook": notebook("second_notebook", READ + "content()"),
        "wheel": package("second"),
        "sql": sql("second_sql", read),
        "pipeline": pipeline(server, "second", PIPELINE % values),
    }
    written = [{"task_key": f"write_{key}"} for key in first]
    last = [*written, {"task_key": "read_sql"}, {"task_key": "read_pipeline"}]
    return [
        *({"task_key": f"write_{key}", **task} for key, task in first.items()),
        *({"task_key": f"read_{key}", "depends_on": written, **task} for key, task in second.items()),
        {
            "task_key": "read_file",
            "depends_on": last,
            **file("second_file", READ + "content()\n" + TABLES),
        },
    ]


def test_tasks_of_all_kinds_read_the_files_of_the_others(root: Path, places: dict[str, Any]) -> None:
    with running(root) as server:
        volume = {
            "catalog_name": "main",
            "schema_name": "default",
            "name": "exchange",
            "volume_type": "MANAGED",
        }
        server.post("/api/2.1/unity-catalog/volumes", volume)
        settings = {"name": "exchange", "tasks": tasks(server, places)}
        run = server.ended(server.run_now(server.post("/api/2.2/jobs/create", settings)["job_id"]), 600)
        logs = {task["task_key"]: server.log_of(run, at) for at, task in enumerate(run["tasks"])}
    assert run["state"]["result_state"] == "SUCCESS", (run["state"], logs)
    found = {
        (key, number, place): content
        for key, log in logs.items()
        for number, line in enumerate(line for line in log.splitlines() if line.startswith("FOUND "))
        for place, content in json.loads(line.removeprefix("FOUND ")).items()
    }
    # Three tasks with two APIs at each place, and the tables that SQL and the pipeline made.
    assert len(found) == 3 * 2 * len(PLACES) + 2 * len(PLACES)
    missing = {place: sorted({*EXPECTED} - {*content}) for place, content in found.items()}
    assert {place: names for place, names in missing.items() if names} == {}
    assert {place: content for place, content in found.items() if content != EXPECTED} == {}
