"""Requests name nothing outside of the roots: every route of the state folder × every spelling."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lakeward.databricks_shims.local_workspace import ROUTES, ApiResponse, Route, respond
from lakeward.dbutils import Environment
from lakeward.session import Settings
from tests.spellings import Trap, spellings

NAMES = (
    "path",
    "source_path",
    "destination_path",
    "catalog_name",
    "schema_name",
    "name",
    "new_name",
    "scope",
    "key",
)
FLAGS = {
    "overwrite": True,
    "recursive": True,
    "format": "AUTO",
    "content": "",
    "contents": "",
    "string_value": "x",
}


def request(environment: Environment, route: Route, spelling: str) -> tuple[int, bytes]:
    """Ask a route with `spelling` wherever it takes a name."""
    path = route.path.replace("{}", spelling)
    path = path[:-2] + "/" + spelling.lstrip("/") if path.endswith("/*") else path
    values: dict[str, Any] = dict.fromkeys(NAMES, spelling)
    query = {name: str(value) for name, value in {**values, "recursive": "true"}.items()}
    body = b"" if route.method in ("GET", "HEAD") else json.dumps({**values, **FLAGS}).encode()
    status, answer = respond(environment, route.method, path, query if not body else {}, body)
    if isinstance(answer, ApiResponse):
        return status, answer.content()
    return status, json.dumps(answer).encode()


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    (tmp_path / "project").mkdir()
    settings = Settings.here(
        tmp_path / "project", environ={"USER": "ada"}, mounts=(("s3://bucket", str(tmp_path / "b")),)
    )
    return Environment(settings=lambda: settings)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
def test_no_spelling_leads_a_request_out_of_the_roots(environment: Environment, route: Route) -> None:
    trap = Trap(environment.settings())
    tried: list[str] = []
    for spelling in spellings(120, seed=len(route.path)):
        tried.append(spelling)
        status, answer = request(environment, route, spelling)
        assert status in (200, 400, 404, 409, 501), (spelling, answer)
        assert not trap.reached(answer), (spelling, answer)
        if len(tried) == 30:
            trap.check(tried)
            tried.clear()
    trap.check(tried)
