"""Every file of the state, damaged in every way: the server says what is wrong, or serves what is left."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.server import Server, command, running, started

STATE = Path(".lakeward", "local")
JOB = {"name": "kept", "tasks": [{"task_key": "a", "spark_python_task": {"python_file": "/Workspace/a.py"}}]}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with one of each: job, pipeline, run, token, secret, access control list, file."""
    root = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("LAKEWARD_SECRET_KEY_FILE", str(root / "secrets.key"))
        server = started(root)
        server.file("/Workspace/a.py", "print('ran')")
        job_id = server.post("/api/2.2/jobs/create", JOB)["job_id"]
        server.ended(server.run_now(job_id))
        server.post("/api/2.0/pipelines", {"name": "kept"})
        server.post("/api/2.0/token/create", {"comment": "kept"})
        server.post("/api/2.0/secrets/scopes/create", {"scope": "s"})
        server.post("/api/2.0/secrets/put", {"scope": "s", "key": "k", "string_value": "v" * 50})
        server.post("/api/2.0/dbfs/put", {"path": "/f", "contents": "eA=="})
        server.stop()
    return root


@pytest.fixture
def copy(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "copy"
    shutil.copytree(template, root)
    monkeypatch.setenv("LAKEWARD_SECRET_KEY_FILE", str(root / "secrets.key"))
    return root


def _remove(place: Path) -> None:
    shutil.rmtree(place) if place.is_dir() else place.unlink()


def _write(data: bytes) -> Callable[[Path], None]:
    def write(place: Path) -> None:
        if place.is_dir():
            shutil.rmtree(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(0o600)

    return write


def _truncate(place: Path) -> None:
    os.truncate(place, place.stat().st_size // 2)


def _replace_by_folder(place: Path) -> None:
    if place.exists():
        place.unlink()
    place.mkdir(parents=True)
    (place / "x").touch()


def _pipe(place: Path) -> None:
    place.unlink(missing_ok=True)
    os.mkfifo(place, 0o600)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "missing": _remove,
    "empty": _write(b""),
    "truncated": _truncate,
    "random": _write(bytes(range(256)) * 40),
    "of another type": _write(b"[1]"),
    "a folder": _replace_by_folder,
    "a file": _write(b"x"),
    "a pipe": _pipe,
    "of mode 000": lambda place: place.chmod(0),
    "of mode 644": lambda place: place.chmod(0o644),
    "of another owner": lambda place: os.chown(place, 12345, 12345),
}

_GONE, _BROKEN, _UNUSABLE = (
    "WORKSPACE_DATABASE_MISSING",
    "WORKSPACE_DATABASE_DAMAGED",
    "WORKSPACE_STATE_UNUSABLE",
)
_ANY_FILE = ("missing", "empty", "truncated", "random", "of another type")

# (file, damage) -> the condition with which the server refuses to start; or what it answers then, by request.
CELLS: dict[tuple[str, str], Any] = {
    ("server/workspace.db", "missing"): _GONE,
    ("server/workspace.db", "empty"): _GONE,
    ("server/workspace.db", "truncated"): _BROKEN,
    ("server/workspace.db", "random"): _BROKEN,
    ("server/workspace.db", "of another type"): _BROKEN,
    ("server/workspace.db", "a folder"): _UNUSABLE,
    ("server/workspace.db", "of mode 000"): _UNUSABLE,
    ("server/workspace.db", "of mode 644"): {},
    ("server/workspace.db-wal", "empty"): {},
    ("server/workspace.db-wal", "random"): {},
    ("server/workspace.db-wal", "a folder"): _UNUSABLE,
    ("server/workspace.db-shm", "random"): {},
    **{("server/workspace.created", damage): {} for damage in (*_ANY_FILE, "a folder")},
    ("server", "missing"): {"jobs": 0, "run": None},
    ("server", "a file"): _UNUSABLE,
    ("server/lock", "random"): {},
    ("server/lock", "a folder"): _UNUSABLE,
    **{("server/requests.jsonl", damage): {} for damage in _ANY_FILE},
    ("server/requests.jsonl", "a folder"): _UNUSABLE,
    ("server/runs", "missing"): {},
    ("server/runs", "a file"): {"run": "FAILED"},
    ("server/uploads", "a file"): {"upload": "IO_ERROR"},
    **{("workspace/connection.json", damage): {} for damage in _ANY_FILE},
    ("workspace/connection.json", "of mode 644"): {},
    ("workspace/connection.json", "a folder"): _UNUSABLE,
    ("workspace", "a file"): _UNUSABLE,
    ("workspace", "missing"): {"run": "FAILED"},
    ("../../secrets.key", "missing"): {"secret": "SECRET_KEY_WRONG"},
    ("../../secrets.key", "empty"): {"secret": "SECRET_KEY_DAMAGED"},
    ("../../secrets.key", "truncated"): {"secret": "SECRET_KEY_DAMAGED"},
    ("../../secrets.key", "random"): {"secret": "SECRET_KEY_DAMAGED"},
    ("../../secrets.key", "a folder"): {"secret": "SECRET_KEY_"},
    ("../../secrets.key", "of mode 644"): {"secret": "SECRET_KEY_EXPOSED"},
    ("secrets/s/k", "missing"): {"secret": "RESOURCE_DOES_NOT_EXIST"},
    ("secrets/s/k", "empty"): {"secret": "SECRET_FILE_DAMAGED"},
    ("secrets/s/k", "truncated"): {"secret": "SECRET_KEY_WRONG"},
    ("secrets/s/k", "random"): {"secret": "SECRET_FILE_DAMAGED"},
    ("secrets/s/k", "a folder"): {"secret": "SECRET_FILE_"},
    ("secrets/s/k", "of mode 644"): {"secret": "SECRET_FILE_EXPOSED"},
    ("secrets/s/.acls.json", "missing"): {},
    **{
        ("secrets/s/.acls.json", damage): {"acls": "SECRET_ACLS_DAMAGED"}
        for damage in (*_ANY_FILE[1:], "a folder")
    },
    ("secrets/s", "a file"): {"secret": "RESOURCE_DOES_NOT_EXIST", "acls": "RESOURCE_DOES_NOT_EXIST"},
    ("secrets", "a file"): {"secret": "RESOURCE_DOES_NOT_EXIST", "acls": "RESOURCE_DOES_NOT_EXIST"},
    ("secrets", "missing"): {"secret": "RESOURCE_DOES_NOT_EXIST", "acls": "RESOURCE_DOES_NOT_EXIST"},
    ("dbfs", "missing"): {},
    ("dbfs", "a file"): {},
    **{
        (file, "of another owner"): {}
        for file in ("server/workspace.db", "server", "workspace/connection.json", "secrets/s/k", "dbfs")
    },
    ("server", "of mode 000"): {},
    ("server", "of mode 644"): {},
    ("secrets", "of mode 644"): {},
    ("workspace", "of mode 644"): {},
    ("server/requests.jsonl", "a pipe"): _UNUSABLE,
    ("server/requests.jsonl.1", "a folder"): {},
    ("workspace/connection.json", "a pipe"): {},
    ("secrets/s/k", "a pipe"): {"secret": "It is not a regular file"},
    ("secrets/s/.acls.json", "a pipe"): {"acls": "SECRET_ACLS_DAMAGED"},
    ("../../secrets.key", "a pipe"): {"secret": "It is not a regular file"},
    ("pipelines", "a file"): {},
    ("jobs", "missing"): {},
    ("jobs", "a file"): {"run": "FAILED"},
}
_FAST = [("server/workspace.db", "empty"), ("server/workspace.db", "random"), ("secrets/s/k", "empty")]


@pytest.mark.parametrize(
    ("file", "damage"),
    [pytest.param(*cell, marks=() if cell in _FAST else pytest.mark.slow) for cell in CELLS],
)
def test_a_damaged_state_is_named_or_served_as_far_as_it_goes(copy: Path, file: str, damage: str) -> None:
    if damage == "of mode 000" and not os.geteuid():
        pytest.skip("root reads files of any mode")
    if damage == "of another owner" and os.geteuid():
        pytest.skip("only root gives files to other users")
    expected = CELLS[file, damage]
    DAMAGE[damage](copy / STATE / file)
    if isinstance(expected, str):
        process = command(copy)
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        assert process.returncode in (1, 2)
        assert f"[{expected}]" in err and file.rpartition("/")[2].removesuffix("-wal") in err and "→" in err
        assert "Traceback" not in err and "INTERNAL_ERROR" not in err + out
        return
    with running(copy) as server:
        _check(server, expected)


def _check(server: Server, expected: dict[str, Any]) -> None:
    jobs = server.get("/api/2.2/jobs/list").get("jobs", [])
    assert len(jobs) == expected.get("jobs", 1)
    if jobs and expected.get("run", "SUCCESS"):
        state = server.ended(server.run_now(jobs[0]["job_id"]))["state"]
        assert state["result_state"] == expected.get("run", "SUCCESS")
        assert state["result_state"] == "SUCCESS" or state["state_message"]
    answers = {
        "secret": server.answer("GET", "/api/2.0/secrets/get?scope=s&key=k"),
        "acls": server.answer("GET", "/api/2.0/secrets/acls/list?scope=s"),
        "dbfs": server.answer("GET", "/api/2.0/dbfs/list?path=/"),
        "upload": server.answer("POST", "/api/2.0/workspace-files/import-file/up.txt", data=b"x"),
        "pipelines": server.answer("GET", "/api/2.0/pipelines"),
        "workspace": server.answer("GET", "/api/2.0/workspace/list?path=/"),
    }
    for name, answer in answers.items():
        assert answer.status_code < 500, (name, answer.text)
        assert "INTERNAL_ERROR" not in answer.text and "Traceback" not in answer.text
        if name in expected:
            assert answer.status_code >= 400 and expected[name] in answer.text, (name, answer.text)
    lines = (server.state / "server" / "requests.jsonl").read_bytes().splitlines()
    assert not [line for line in lines if b'"fault"' in line] or expected.get("run") == "FAILED"


_BODIES = {
    "no JSON": b"\x00\xff{",
    "cut off": b'{"job_id": 1, "settings": {"na',
    "a list": b"[]",
    "no settings": b'{"job_id": 1}',
    "settings of another type": b'{"job_id": 1, "settings": "x"}',
    "a schedule of another type": json.dumps(
        {
            "job_id": 1,
            "creator_user_name": "x",
            "run_as_user_name": "x",
            "settings": {"name": "n", "schedule": "daily"},
        }
    ).encode(),
}


@pytest.mark.parametrize("kind", ["job", "pipeline", "run", "update", "acl", "token", "statement", "event"])
def test_a_damaged_record_is_named_and_left_out(copy: Path, kind: str) -> None:
    file = copy / STATE / "server" / "workspace.db"
    bodies = _BODIES if kind == "job" else {name: _BODIES[name] for name in ("no JSON", "a list")}
    with sqlite3.connect(file) as connection:
        for number, template_body in enumerate(bodies.values(), 900):
            body = template_body.replace(b'"job_id": 1', f'"job_id": {number}'.encode())
            values = (kind, str(number), None, kind in ("run", "update", "statement"), number, body)
            connection.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?)", values)
    connection.close()
    process = command(copy, "--with-schedules")
    assert process.stdout is not None and process.stderr is not None
    server = Server(copy, process, json.loads(process.stdout.readline())["host"])
    try:
        _check(server, {})
        server.get("/api/2.2/jobs/runs/list")
        if kind == "job":
            for number in range(900, 900 + len(bodies)):
                assert server.answer("GET", f"/api/2.2/jobs/get?job_id={number}").status_code == 400
                server.post("/api/2.2/jobs/delete", {"job_id": number})
    finally:
        process.terminate()
        _, err = process.communicate(timeout=60)
        server.session.close()
    named = [number for number in range(900, 900 + len(bodies)) if f"The {kind} {number} in {file}" in err]
    assert len(named) == len(bodies) or kind in ("event", "statement", "update", "run")
    assert "Traceback" not in err
