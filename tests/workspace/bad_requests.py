"""Wrong requests to every route of the table: values of other types, nested, oversized and hostile ones."""

from __future__ import annotations

import functools
import inspect
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from lakeward.databricks_shims.local_workspace import Route
from lakeward.databricks_shims.local_workspace.body import field_kinds
from lakeward.workspace.http.route_table import ROUTES

GOOD: dict[str, Any] = {
    "path": "/Users/ada/file.txt",
    "source_path": "/mnt/own.txt",
    "destination_path": "/mnt/other.txt",
    "contents": "YQ==",
    "content": "YQ==",
    "data": "YQ==",
    "handle": 1,
    "scope": "good",
    "key": "k",
    "string_value": "v",
    "principal": "users",
    "permission": "READ",
    "display_name": "named",
    "parent_path": "/Users",
    "serialized_dashboard": "{}",
    "embed_credentials": True,
    "etag": "none",
    "name": "named",
    "new_name": "renamed",
    "catalog_name": "main",
    "schema_name": "default",
    "comment": "text",
    "properties": {"a": "b"},
    "changes": [{"principal": "users", "add": ["SELECT"], "remove": []}],
    "access_control_list": [{"user_name": "eve@example.com", "permission_level": "CAN_VIEW"}],
    "tasks": [
        {"task_key": "a", "depends_on": [], "spark_python_task": {"python_file": "/Workspace/none.py"}}
    ],
    "new_settings": {
        "name": "n",
        "tasks": [{"task_key": "a", "spark_python_task": {"python_file": "/Workspace/none.py"}}],
    },
    "schedule": {"quartz_cron_expression": "0 0 12 * * ?", "timezone_id": "UTC"},
    "trigger": {"file_arrival": {"url": "/Volumes/main/default/v/"}},
    "continuous": {"pause_status": "PAUSED"},
    "parameters": [{"name": "p", "default": "1"}],
    "job_clusters": [{"job_cluster_key": "c", "new_cluster": {"num_workers": 1, "spark_conf": {"a": "b"}}}],
    "environments": [{"environment_key": "e", "spec": {"client": "1", "dependencies": ["x"]}}],
    "email_notifications": {"on_failure": ["a@example.com"]},
    "queue": {"enabled": True},
    "tags": {"a": "b"},
    "max_concurrent_runs": 1,
    "timeout_seconds": 10,
    "job_id": 4711,
    "run_id": 4711,
    "pipeline_id": "none",
    "update_id": "none",
    "rerun_tasks": ["a"],
    "limit": 10,
    "offset": 0,
    "page_token": "0",
    "length": 10,
    "max_results": 10,
    "libraries": [{"notebook": {"path": "/Workspace/none"}}],
    "clusters": [{"label": "default", "num_workers": 1}],
    "configuration": {"a": "b"},
    "catalog": "main",
    "schema": "default",
    "target": "default",
    "refresh_selection": ["a"],
    "full_refresh": False,
    "warehouse_id": "none",
    "statement": "select 1",
    "wait_timeout": "0s",
    "row_limit": 10,
    "lifetime_seconds": 86400,
    "token_id": "none",
    "application_id": "robot",
    "overwrite": True,
    "recursive": False,
    "force": False,
    "volume_type": "MANAGED",
    "format": "AUTO",
    "language": "PYTHON",
    "cluster_id": "none",
    "clusterId": "none",
    "contextId": "none",
    "commandId": "none",
    "command": "1",
    "userName": "eve@example.com",
    "displayName": "group",
    "schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"],
    "emails": [{"value": "eve@example.com"}],
    "members": [{"value": "0"}],
    "Operations": [{"op": "add", "path": "members", "value": [{"value": "0"}]}],
    "filter": 'userName eq "ada"',
}

NAMES = (
    *(
        "",
        " ",
        ".",
        "..",
        "../..",
        "/",
        "//",
        "a/b",
        "//..",
        "dbfs://../x",
        "\\",
        "a\\b",
        "'",
        '"',
        "`",
        "a'b\"c",
    ),
    *("a\0b", "\0", "x" * 1000, "x" * 5000, "/" + "y/" * 3000, "\u202e", "é" * 200, "\n", "a\r\nX-Evil: 1"),
    *(
        "%2e%2e",
        "%00",
        "${workspace.host}",
        "{{secrets/a/b}}",
        "'; drop table documents; --",
        "*",
        "?",
        "[",
        "~",
    ),
    *(
        "-1",
        "0",
        "1e999",
        "9" * 30,
        "NaN",
        "true",
        "null",
        "\U0001f600",
        "__proto__",
        "__class__",
        "{}",
        "{0.x}",
    ),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63 - 1, 2**63, -(2**64), 10**30, 0.5, -0.0, 1e308),
    *([], {}, [[]], [None], [{}], {"a": {}}, {"": ""}, [1, "a"], ["a"], {"a": [{}]}, "text", {"name": []}),
)
RAW = (
    *(b"", b"{", b"}", b"[1]", b'"x"', b"5", b"null", b"{}x", b"\xff\xfe{}", b'{"a": 1,}', b"{'a': 1}"),
    *(
        b'{"path": "\xff"}',
        b'{"name": "\\udc80", "path": "/\\ud800", "scope": "\\udfff"}',
        b'{"job_id": 1e999}',
    ),
    *(
        b'{"job_id": NaN}',
        b'{"run_id": Infinity}',
        b'{"limit": -Infinity}',
        b'{"job_id": 1' + b"0" * 5000 + b"}",
    ),
    *(b'{"tasks": ' + b"[" * 300 + b"]" * 300 + b"}", b'{"tags": ' + b'{"a":' * 300 + b"1" + b"}" * 301),
    *(b"[" * 200_000, b'{"a":' * 100_000, b'{"path": "' + b"x" * 200_000 + b'"}'),
    *(
        b"--x\r\n\r\n--x--\r\n",
        b'--x\r\nname="path"\r\n\r\n\xff\r\n--x--\r\n',
        b'{"path": {"path": {"path": []}}}',
    ),
)


QUERIES = ("path=%ff", "path=%ed%b0%80", "name=%c0%ae", "%zz", "&&=", "limit=%00", "path=%00", "job_id=%ff")
PARTS = ("main", "main.default", "main.default.v", "jobs", "catalog/main", "none", "a.b.c.d", "%ff", "%80x")


@dataclass(frozen=True)
class BadRequest:
    """What is sent: `url` with its query, quoted; `body` as bytes."""

    route: Route
    url: str
    body: bytes | None

    @property
    def writes(self) -> bool:
        return self.route.method not in ("GET", "HEAD")

    def __str__(self) -> str:
        return f"{self.route.method} {self.url[:300]} {self.body[:500] if self.body is not None else ''!r}"


def bad_requests(count: int, *, seed: int) -> Iterator[BadRequest]:
    """`count` requests: the routes of the table in turn, each with other mistakes."""
    chance = random.Random(seed)
    routes = [route for route in ROUTES if route.path != "/telemetry-ext"]
    chance.shuffle(routes)
    for number in range(count):
        yield _bad_request(chance, routes[number % len(routes)])


def _bad_request(chance: random.Random, route: Route) -> BadRequest:
    fields = {name: GOOD[name] for name in _fields(route.handler)}
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        fields = _spoiled(chance, fields)
    path = "/".join(_part(chance) if part in ("{}", "*") else part for part in route.path.split("/"))
    if route.method in ("GET", "HEAD", "DELETE") or route.upload:
        pairs = [f"{_quoted(name)}={_quoted(_text(value))}" for name, value in fields.items()]
        if chance.random() < 0.1:
            pairs.append(
                chance.choice(("path=%ff", "path=%ed%b0%80", "name=%c0%ae", "%zz", "&&=", "limit=%00"))
            )
        return BadRequest(route, f"{path}?{'&'.join(pairs)}", b"x" if route.upload else None)
    if chance.random() < 0.2:
        return BadRequest(route, path, chance.choice(RAW))
    return BadRequest(route, path, json.dumps(fields).encode())


def _spoiled(chance: random.Random, fields: dict[str, Any]) -> dict[str, Any]:
    """A copy in which one field is missing, or has another value, at its top or somewhere inside."""
    copy = json.loads(json.dumps(fields))
    holder: Any = copy
    name: Any = (
        chance.choice([*copy, chance.choice(tuple(field_kinds()))])
        if copy
        else chance.choice(tuple(field_kinds()))
    )
    while isinstance(inner := holder.get(name) if isinstance(holder, dict) else holder[name], (dict, list)):
        if not inner or chance.random() < 0.4:
            break
        holder, name = inner, chance.choice(list(inner) if isinstance(inner, dict) else range(len(inner)))
    if isinstance(holder, dict) and chance.random() < 0.15:
        holder.pop(name, None)
    else:
        holder[name] = chance.choice((chance.choice(NAMES), chance.choice(VALUES)))
    return dict(copy)


def _part(chance: random.Random) -> str:
    names = (
        *NAMES,
        "main",
        "main.default",
        "main.default.v",
        "jobs",
        "catalog/main",
        "none",
        "a.b.c.d",
        "%ff",
        "%80x",
    )
    name = chance.choice(names)
    return name if name.startswith("%") else _quoted(name[:2000]) or "%20"


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


@functools.cache
def _fields(handler: Any) -> tuple[str, ...]:
    """The names of GOOD that the code of a handler has, or that of the functions it calls."""
    module = inspect.getmodule(handler)
    source = inspect.getsource(handler)
    for name in set(re.findall(r"\b(_?[a-z]\w+)\(", source)):
        called = getattr(module, name, None)
        if inspect.isfunction(called):
            source += inspect.getsource(called)
    return tuple(name for name in GOOD if f'"{name}"' in source)
