"""Notebooks exported in other formats, permissions of every kind of object, and the history of statements."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lakeward.dbutils import Environment
from lakeward.notebooks import parse
from lakeward.session import Settings
from lakeward.workspace.api import statements
from lakeward.workspace.api.permission_kinds import KINDS
from lakeward.workspace.api.query_history import list_queries
from lakeward.workspace.context import ServerContext, ServerRequest
from lakeward.workspace.identifiers import WAREHOUSE_ID
from lakeward.workspace.state.store import Store
from tests.workspace.server import USER, Server

sdk = pytest.importorskip("databricks.sdk")
from databricks.sdk.service import dashboards, iam, sql, workspace  # noqa: E402

CLIENT = "http/exports"
SOURCE = """\
# Databricks notebook source
# DBTITLE 1,First
x = "<b>"
print(x)

# COMMAND ----------

# MAGIC %sql
# MAGIC select 1 as one
# MAGIC union all select 2

# COMMAND ----------

# MAGIC %md
# MAGIC # A heading
"""


@pytest.fixture(scope="module")
def notebook(server: Server) -> str:
    path = f"/Users/{USER}/exported"
    server.get("/api/2.0/workspace/list?path=/")
    content = base64.b64encode(SOURCE.encode()).decode()
    body = {"path": path, "content": content, "language": "PYTHON", "format": "SOURCE", "overwrite": True}
    server.post("/api/2.0/workspace/import", body)
    return path


def exported(server: Server, path: str, layout: str) -> bytes:
    answer = server.answer("GET", "/api/2.0/workspace/export", params={"path": path, "format": layout})
    assert answer.status_code == 200, answer.text
    return base64.b64decode(answer.json()["content"])


def cells(content: bytes, suffix: str) -> list[tuple[str, str, str]]:
    found = parse(content, suffix)
    assert found is not None
    return [(each.language, _plain(each.source), each.title) for each in found.cells]


def _plain(source: str) -> str:
    """The text of a cell without the marks of a source file, which cells keep."""
    marks = ("# Databricks notebook source", "# DBTITLE")
    return "\n".join(line for line in source.split("\n") if not line.startswith(marks)).strip()


def test_jupyter_has_the_cells_of_the_source(server: Server, notebook: str) -> None:
    content = exported(server, notebook, "JUPYTER")
    page = json.loads(content)
    assert (page["nbformat"], [each["cell_type"] for each in page["cells"]]) == (
        4,
        ["code", "code", "markdown"],
    )
    assert page["cells"][1]["source"][0] == "%sql\n"
    assert all(each["outputs"] == [] for each in page["cells"] if each["cell_type"] == "code")
    assert cells(content, ".ipynb") == cells(SOURCE.encode(), ".py")


def test_an_ipynb_is_exported_as_source(client: Any, server: Server, notebook: str) -> None:
    path = f"/Users/{USER}/again"
    content = exported(server, notebook, "JUPYTER")
    client.workspace.import_(
        path, content=base64.b64encode(content).decode(), format=workspace.ImportFormat.JUPYTER
    )
    assert cells(exported(server, path, "SOURCE"), ".py") == cells(SOURCE.encode(), ".py")
    assert exported(server, path, "AUTO") == content


def test_html_is_a_page_with_escaped_cells(client: Any, notebook: str) -> None:
    with client.workspace.download(notebook, format=workspace.ExportFormat.HTML) as file:
        page = file.read().decode()
    assert page.startswith("<!DOCTYPE html>") and "&lt;b&gt;" in page and "<b>" not in page
    assert "select 1 as one" in page and "<h3>First</h3>" in page


def test_other_formats_are_as_before(server: Server, notebook: str) -> None:
    assert exported(server, notebook, "SOURCE").decode() == SOURCE
    for layout, status in (("DBC", 501), ("NONSENSE", 400)):
        query = {"path": notebook, "format": layout}
        assert server.answer("GET", "/api/2.0/workspace/export", params=query).status_code == status


def objects(client: Any) -> dict[str, str]:
    """An object of each kind that exists here, but pipelines."""
    client.workspace.upload(f"/Users/{USER}/permitted", io.BytesIO(b"1"), language=workspace.Language.PYTHON)
    client.workspace.upload(
        f"/Users/{USER}/permitted.txt", io.BytesIO(b"1"), format=workspace.ImportFormat.AUTO
    )
    paths = {"directories": "", "notebooks": "/permitted", "files": "/permitted.txt"}
    policy = client.cluster_policies.create(name="permitted", definition="{}").policy_id
    pool = client.instance_pools.create("permitted", "i3.xlarge").instance_pool_id
    job = client.jobs.create(name="permitted").job_id
    return {
        **{
            kind: str(client.workspace.get_status(f"/Users/{USER}{path}").object_id)
            for kind, path in paths.items()
        },
        "warehouses": WAREHOUSE_ID,
        "clusters": "lakeward-local",
        "cluster-policies": policy,
        "instance-pools": pool,
        "jobs": str(job),
        "repos": str(client.repos.create("https://x.io/p.git", "gitHub").id),
        "authorization": "tokens",
        "dashboards": client.lakeview.create(dashboards.Dashboard(display_name="permitted")).dashboard_id,
    }


def test_every_kind_of_object_has_permissions(client: Any) -> None:
    made = objects(client)
    for kind, key in made.items():
        levels = KINDS[kind].levels
        listed = client.permissions.get_permission_levels(kind, key).permission_levels
        assert [each.permission_level.value for each in listed] == list(levels)
        request = iam.AccessControlRequest(user_name="grace", permission_level=iam.PermissionLevel(levels[0]))
        client.permissions.update(kind, key, access_control_list=[request])
        acl = client.permissions.get(kind, key).access_control_list
        assert [each.user_name for each in acl] == [USER, "grace"]
    for kind in ("clusters", "cluster-policies", "instance-pools", "repos"):
        with pytest.raises(sdk.errors.NotFound):
            client.permissions.get(kind, "none")


def test_callers_see_their_own_statements_and_administrators_all(tmp_path: Path) -> None:
    store = Store(tmp_path / "workspace.db")
    for user in ("ada", "robot", "other"):
        statement = {"statement_id": user, "status": {"state": "SUCCEEDED"}, "user": user}
        store.put("statement", user, statement, parent=user)
    environment = Environment(settings=lambda: Settings.here(tmp_path, environ={"USER": "ada"}))
    context: Any = ServerContext(store, *([None] * 3), contexts=None, sessions=None)  # type: ignore[arg-type]  # not used here

    def listed(user: str) -> list[str]:
        found = list_queries(ServerRequest(environment, user=user, context=context))["res"]
        return [each["query_id"] for each in found]

    assert (listed("robot"), listed("ada")) == (["robot"], ["other", "robot", "ada"])
    store.close()


def test_the_history_is_filtered_by_time(client: Any, server: Server) -> None:
    window = sql.QueryFilter(query_start_time_range=sql.TimeRange(start_time_ms=1, end_time_ms=2))
    assert client.query_history.list(filter_by=window).res in (None, [])
    assert server.get("/api/2.0/sql/history/queries") == {"res": [], "has_next_page": False}
    for query in ({"page_token": "x"}, {"filter_by.query_start_time_range.start_time_ms": "x"}):
        assert server.answer("GET", "/api/2.0/sql/history/queries", params=query).status_code == 400


@pytest.mark.parametrize("ending", ["", ".py", ".sql", ".v2", ".ipynb"])
@pytest.mark.parametrize(("layout", "kept"), [("SOURCE", True), ("JUPYTER", True), ("AUTO", False)])
def test_an_import_keeps_the_name_unless_its_format_is_auto(
    server: Server, client: Any, ending: str, layout: str, kept: bool
) -> None:
    folder = f"/Shared/{layout}{ending}"
    client.workspace.mkdirs(folder)
    is_jupyter = layout == "JUPYTER" or (layout, ending) == ("AUTO", ".ipynb")
    text = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 0})
    source = "-- Databricks notebook source\n" if ending == ".sql" else "# Databricks notebook source\n"
    path = f"{folder}/foo{ending}"
    body = {"path": path, "format": layout, "language": "PYTHON"}
    body["content"] = base64.b64encode((text if is_jupyter else source).encode()).decode()
    server.post("/api/2.0/workspace/import", body)
    (found,) = client.workspace.list(folder)
    # AUTO makes a notebook of what has the ending and the head of one, and a file of the rest.
    is_notebook = kept or ending in (".py", ".sql", ".ipynb")
    name = f"foo{ending}" if kept or not is_notebook else "foo"
    assert (found.path, found.object_type.value) == (
        f"{folder}/{name}",
        "NOTEBOOK" if is_notebook else "FILE",
    )
    assert client.workspace.get_status(found.path) == found
    client.workspace.delete(found.path)
    assert list(client.workspace.list(folder)) == []


def test_notebooks_with_and_without_an_ending_are_two(server: Server, client: Any) -> None:
    client.workspace.mkdirs("/Shared/two")
    for name, text in (("n", "1"), ("n.py", "2")):
        client.workspace.upload(
            f"/Shared/two/{name}", io.BytesIO(text.encode()), language=workspace.Language.PYTHON
        )
    assert [each.path for each in client.workspace.list("/Shared/two")] == [
        "/Shared/two/n",
        "/Shared/two/n.py",
    ]
    assert client.workspace.download("/Shared/two/n.py").read().endswith(b"2")
    client.workspace.delete("/Shared/two/n.py")
    assert client.workspace.download("/Shared/two/n").read().endswith(b"1")


def test_the_history_is_read_by_the_page_and_keeps_the_beginning_of_a_text(tmp_path: Path) -> None:
    """Forty statements of 15 MB took 2 GB and 20 seconds for each look at the page of the SQL editor."""
    store = Store(tmp_path / "workspace.db")
    results = SimpleNamespace(remove_expired=lambda: None)
    warehouse = SimpleNamespace(submit=lambda *_, **__: None, results=results)
    context = cast("Any", SimpleNamespace(store=store, warehouse=warehouse))
    environment = Environment(settings=lambda: Settings.here(tmp_path, environ={"USER": "ada"}))

    def call(query: dict[str, str] | None = None, body: Any = None) -> ServerRequest:
        data = b"" if body is None else json.dumps(body).encode()
        return ServerRequest(environment, query=query or {}, data=data, context=context)

    for number in range(5):
        text = f"select {number} -- " + "x" * 200_000
        statements.submit_statement(call(body={"statement": text, "warehouse_id": WAREHOUSE_ID}))
    everything = list_queries(call())["res"]
    assert [each["query_text"][:8] for each in everything] == [f"select {4 - n}" for n in range(5)]
    assert {len(each["query_text"]) for each in everything} == {statements.HISTORY_CHARACTERS}
    for more in ({}, {"filter_by.warehouse_ids": WAREHOUSE_ID}):
        paged, token = [], "0"
        while token:
            page = list_queries(call({"max_results": "2", "page_token": token, **more}))
            assert page["has_next_page"] == ("next_page_token" in page)
            paged, token = [*paged, *page["res"]], page.get("next_page_token", "")
        assert paged == everything
    store.close()
