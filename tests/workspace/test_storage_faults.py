"""Writes that fail: on a full disk and in a locked file runs end, cancel works, and requests say why."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lakeward.databricks_shims.local_workspace import ApiError
from lakeward.dbutils import Environment
from lakeward.session import Settings
from lakeward.workspace.api import models, run_start, run_submission, runs
from lakeward.workspace.api.record_kind import RecordKind
from lakeward.workspace.api.records import KINDS
from lakeward.workspace.api.securables import GRANTS
from lakeward.workspace.context import ServerContext, ServerRequest
from lakeward.workspace.runs import run_state
from lakeward.workspace.runs.run_queue import Runner
from lakeward.workspace.state.document_table import DocumentTable
from lakeward.workspace.state.store import Store
from lakeward.workspace.state.tokens import Tokens
from tests.workspace.server import running, until

WAIT = """
import pathlib, time
print('begun', flush=True)
while not pathlib.Path({!r}).exists():
    time.sleep(0.05)
"""
FINAL = ("TERMINATED", "INTERNAL_ERROR", "SKIPPED")


@contextmanager
def _filled(folder: Path) -> Iterator[None]:
    """Fill the disk of a folder."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (2**16, 2**10, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    try:
        yield
    finally:
        filler.unlink()


def test_runs_end_on_a_full_disk_and_requests_are_refused_with_507(
    full_disk: Callable[[int], Path], tmp_path: Path
) -> None:
    home = full_disk(24 * 2**20)
    (tmp_path / ".lakeward").symlink_to(home)
    with running(tmp_path) as server:
        go = tmp_path / "go"
        jobs = [server.job(only=WAIT.format(str(go))) for _ in range(2)]
        for job_id in jobs:
            settings = {"max_concurrent_runs": 1}
            server.post("/api/2.2/jobs/update", {"job_id": job_id, "new_settings": settings})
        first, second = map(server.run_now, jobs)
        for run_id in (first, second):
            until(lambda run_id=run_id: server.log_of(server.run(run_id)))
        with _filled(home):
            refused = (
                ("/api/2.2/jobs/create", {"name": "x" * 4000}),
                (
                    "/api/2.2/jobs/runs/submit",
                    {"tasks": [{"task_key": "a", "description": "x" * 5000, "notebook_task": {}}]},
                ),
                ("/api/2.0/token/create", {"comment": "x" * 5000}),
                ("/api/2.0/pipelines", {"name": "x" * 5000}),
            )
            for path, body in refused:
                answers = [server.answer("POST", path, body) for _ in range(3)]
                codes = {(each.status_code, each.json().get("error_code")) for each in answers}
                assert (507, "IO_ERROR") in codes and codes <= {(507, "IO_ERROR"), (200, None)}, path
            server.post("/api/2.2/jobs/runs/cancel", {"run_id": first})
            go.touch()
            # Their ends are served, though they cannot be written.
            assert server.ended(first)["state"]["result_state"] == "CANCELED"
            assert server.ended(second)["state"]["life_cycle_state"] in FINAL
            assert server.get("/api/2.2/jobs/runs/list", active_only="true")["runs"] == []
        # The slots are free.
        for job_id in jobs:
            again = server.ended(server.run_now(job_id))
            assert again["state"]["result_state"] == "SUCCESS"
    with running(tmp_path) as server:
        assert server.run(first)["state"]["result_state"] == "CANCELED"
        assert server.run(second)["state"]["life_cycle_state"] in FINAL


def test_a_locked_file_loses_no_end_of_a_run_and_is_answered_with_503(root: Path) -> None:
    with running(root) as server:
        go = root / "go"
        run_id = server.run_now(server.job(only=WAIT.format(str(go))))
        until(lambda: server.log_of(server.run(run_id)))
        file = server.state / "server" / "workspace.db"
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answer = server.answer("POST", "/api/2.2/jobs/create", {"name": "x"})
        assert (answer.status_code, answer.json()["error_code"]) == (503, "TEMPORARILY_UNAVAILABLE")
        go.touch()
        assert server.ended(run_id)["state"]["result_state"] == "SUCCESS"
        other.execute("ROLLBACK")
        read = "SELECT active FROM documents WHERE kind = 'run' AND id = ?"
        until(lambda: other.execute(read, (str(run_id),)).fetchone() == (0,))
        other.close()


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ServerContext]:
    settings = Settings.here(tmp_path, environ={})
    faults: list[BaseException] = []
    store = Store(tmp_path / "workspace.db")
    runner = Runner(settings, tmp_path / "runs", at_once=1, fault=faults.append)
    context = ServerContext(
        store, Tokens(store), runner, None, "", faults.append, contexts=None, sessions=None
    )  # type: ignore[arg-type]  # neither is used here
    yield context
    runner.close("over")
    store.close()


def _call(context: ServerContext, tmp_path: Path, body: Mapping[str, Any]) -> ServerRequest:
    settings = Settings.here(tmp_path, environ={})
    return ServerRequest(
        Environment(settings=lambda: settings), data=json.dumps(body).encode(), context=context
    )


def _raising(error: BaseException) -> Callable[..., Any]:
    def fail(*_: object, **__: object) -> Any:
        raise error

    return fail


@pytest.fixture
def fail_to_delete(
    context: ServerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., None]:
    """Return what sends a request about one object while the store fails after some deletions."""

    def send(
        handler: Callable[[ServerRequest], Any], name: str, body: Mapping[str, Any], *, deletions: int = 0
    ) -> None:
        delete, left = Store.delete, iter(range(deletions))

        def fail(*given: Any) -> Any:
            if next(left, None) is None:
                raise OSError(28, "No space left on device", "db")
            return delete(*given)

        with monkeypatch.context() as patched:
            patched.setattr(Store, "delete", fail)
            with pytest.raises(OSError, match="No space"):
                handler(replace(_call(context, tmp_path, body), path_parameter=name))

    return send


def test_a_rename_that_ends_before_its_last_write_leaves_no_reference_without_its_record(
    context: ServerContext, tmp_path: Path, fail_to_delete: Callable[..., None]
) -> None:
    kinds = {kind.kind: kind for kind in KINDS}
    credentials, locations = kinds["storage_credential"], kinds["external_location"]
    credentials.create(_call(context, tmp_path, {"name": "old"}))
    location = {"name": "place", "url": "s3://bucket/a", "credential_name": "old"}
    locations.create(_call(context, tmp_path, location))
    fail_to_delete(credentials.update, "old", {"new_name": "new"})
    names = {each["name"] for each in context.store.find("storage_credential")}
    assert names == {"old", "new"}
    assert [each["credential_name"] for each in context.store.find("external_location")] == ["new"]


RECORDS: list[tuple[str, dict[str, Any]]] = [
    ("storage_credential", {}),
    ("external_location", {"url": "s3://bucket/a", "credential_name": "used"}),
    ("connection", {"connection_type": "MYSQL", "options": {"host": "h"}}),
]


@pytest.fixture
def record(
    context: ServerContext, tmp_path: Path, request: pytest.FixtureRequest
) -> tuple[RecordKind, dict[str, list[str]]]:
    """Return the kind of a record `old` that exists, and its grants."""
    name, fields = request.param
    kinds = {each.kind: each for each in KINDS}
    kinds["storage_credential"].create(_call(context, tmp_path, {"name": "used"}))
    kinds[name].create(_call(context, tmp_path, {"name": "old", **fields}))
    held = {"analysts": ["MANAGE"]}
    context.store.put(GRANTS, f"/{name}/old", held)
    return kinds[name], held


@pytest.mark.parametrize("record", RECORDS, indirect=True, ids=lambda value: value[0])
def test_a_record_that_is_renamed_on_a_full_disk_keeps_its_grants(
    context: ServerContext, record: tuple[RecordKind, Any], fail_to_delete: Callable[..., None]
) -> None:
    kind, held = record
    fail_to_delete(kind.update, "old", {"new_name": "new"})
    assert {each["name"] for each in context.store.find(kind.kind)} >= {"old", "new"}
    assert context.store.get(GRANTS, f"/{kind.kind}/new") == held


@pytest.mark.parametrize("record", RECORDS, indirect=True, ids=lambda value: value[0])
@pytest.mark.parametrize("deletions", [0, 1])
def test_a_rename_that_ends_early_is_repeated(
    context: ServerContext,
    tmp_path: Path,
    record: tuple[RecordKind, Any],
    fail_to_delete: Callable[..., None],
    deletions: int,
) -> None:
    kind, held = record
    fail_to_delete(kind.update, "old", {"new_name": "new"}, deletions=deletions)
    again = replace(_call(context, tmp_path, {"new_name": "new"}), path_parameter="old")
    kind.update(again)
    assert not {each["name"] for each in context.store.find(kind.kind)} & {"old"}
    assert context.store.get(GRANTS, f"/{kind.kind}/new") == held


@pytest.mark.parametrize("record", RECORDS, indirect=True, ids=lambda value: value[0])
@pytest.mark.parametrize("deletions", [0, 1])
def test_a_record_whose_deletion_ends_early_is_deleted_again_with_its_grants(
    context: ServerContext,
    tmp_path: Path,
    record: tuple[RecordKind, Any],
    fail_to_delete: Callable[..., None],
    deletions: int,
) -> None:
    kind, _ = record
    fail_to_delete(kind.delete, "old", {}, deletions=deletions)
    kind.delete(replace(_call(context, tmp_path, {}), path_parameter="old"))
    assert context.store.get(GRANTS, f"/{kind.kind}/old") is None


@pytest.mark.parametrize("deletions", [0, 1, 2])
def test_a_model_whose_deletion_ends_early_is_deleted_again_with_its_grants(
    context: ServerContext, tmp_path: Path, fail_to_delete: Callable[..., None], deletions: int
) -> None:
    names = {"name": "old", "catalog_name": "main", "schema_name": "default"}
    models.MODELS.create(_call(context, tmp_path, names))
    context.store.put(GRANTS, "/model/main.default.old", {"analysts": ["EXECUTE"]})
    fail_to_delete(models.MODELS.delete, "main.default.old", {}, deletions=deletions)
    models.MODELS.delete(replace(_call(context, tmp_path, {}), path_parameter="main.default.old"))
    assert context.store.get(GRANTS, "/model/main.default.old") is None


def test_a_model_that_is_renamed_on_a_full_disk_keeps_its_grants(
    context: ServerContext, tmp_path: Path, fail_to_delete: Callable[..., None]
) -> None:
    names = {"name": "old", "catalog_name": "main", "schema_name": "default"}
    models.MODELS.create(_call(context, tmp_path, names))
    held = {"privilege_assignments": []}
    context.store.put(GRANTS, "/model/main.default.old", held)
    fail_to_delete(models.MODELS.update, "main.default.old", {"new_name": "new"})
    found = {each["full_name"] for each in context.store.find("uc_model")}
    assert found == {"main.default.old", "main.default.new"}
    assert context.store.get(GRANTS, "/model/main.default.new") == held


# Each step of a run, from its order to its end: where it is, and the name that is replaced.
STEPS = [
    "lakeward.workspace.api.run_start.build_job_run_spec",
    "lakeward.workspace.runs.run_state.begin",
    "lakeward.workspace.runs.run_state.finish",
    "lakeward.workspace.runs.run_state.task_changed",
    "lakeward.workspace.runs.run_queue.settings_to_json",
    "lakeward.workspace.runs.run_queue.FileSecrets",
    "lakeward.workspace.runs.run_process.Log",
    "lakeward.workspace.runs.run_process.RunOutputReader",
    "lakeward.workspace.runs.run_process.os.pipe",
    "lakeward.workspace.runs.run_process.subprocess.Popen",
    "lakeward.workspace.runs.run_process.selectors.DefaultSelector",
    "lakeward.workspace.runs.run_process.kill_left",
    "lakeward.workspace.runs.run_process.threading.Thread",
    "lakeward.workspace.runs.run_log.Log.take",
    "lakeward.workspace.runs.run_process.RunOutputReader.take",
    "lakeward.workspace.runs.update_recorder.TaskUpdates.task_changed",
    "lakeward.workspace.runs.update_recorder.TaskUpdates.close",
]
ERRORS = [
    ValueError("a value"),
    OSError(28, "No space left on device"),
    MemoryError(),
    RuntimeError("threads"),
]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "error",
    [ERRORS[0], *(pytest.param(error, marks=pytest.mark.slow) for error in ERRORS[1:])],
    ids=[type(error).__name__ for error in ERRORS],
)
def test_a_run_ends_whatever_is_raised_in_whichever_step(
    context: ServerContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: Exception
) -> None:
    body = {"tasks": [{"task_key": "a", "spark_python_task": {"python_file": "/Workspace/nowhere.py"}}]}
    call = _call(context, tmp_path, body)
    assert call.body == body  # parsed before anything is replaced
    with monkeypatch.context() as patched:
        patched.setattr(step, _raising(error))
        run_id = run_submission.submit(call)["run_id"]
        state = until(
            lambda: state if _is_final(state := context.store.get("run", run_id)["state"]) else None
        )
        assert state["state_message"]
    assert context.store.find("run", active=True) == []
    # Its slot is free: there is one.
    until(lambda: not context.runner._running)
    until(lambda: f"run {run_id}" not in {thread.name for thread in threading.enumerate()})


def _is_final(state: Mapping[str, Any]) -> bool:
    return state["life_cycle_state"] in FINAL


def test_a_run_that_was_canceled_before_its_turn_never_starts(context: ServerContext, tmp_path: Path) -> None:
    run = run_state.new_run(
        7, {"tasks": []}, numbers=context.store.number, at=1, job_id=0, creator_user_name="x"
    )
    context.store.put("run", 7, {**run, "run_type": "SUBMIT_RUN"}, active=True)
    call = _call(context, tmp_path, {"run_id": 7})
    runs.cancel(call)
    assert context.store.get("run", 7)["state"]["result_state"] == "CANCELED"
    assert context.store.find("run", active=True) == []
    run_start.launch(call, context.store.get("run", 7))
    assert context.store.get("run", 7)["state"]["result_state"] == "CANCELED"
    assert context.runner._running == {}


def test_what_cannot_be_written_is_served_from_memory_and_written_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    store = Store(tmp_path / "db", warn=warnings.append)
    for number in range(3):
        store.put("thing", number, {"n": number}, parent="p", active=True)
    writes = DocumentTable.write
    monkeypatch.setattr(DocumentTable, "write", _raising(OSError(28, "No space left on device", "db")))
    with pytest.raises(OSError, match="No space"):
        store.put("thing", 5, {})
    assert store.change("thing", 1, lambda body: body.update(n=10), active=False, retry=True) == {"n": 10}
    store.put("thing", 4, {"n": 4}, parent="p", retry=True)
    assert store.get("thing", 1) == {"n": 10} and store.get("thing", 5) is None
    assert [each["n"] for each in store.find("thing")] == [0, 10, 2, 4]
    assert [each["n"] for each in store.find("thing", active=False, newest_first=True)] == [4, 10]
    assert [each["n"] for each in store.find("thing", parent="p", limit=2, offset=1)] == [10, 2]
    assert len(warnings) == 1 and "kept in memory" in warnings[0]
    monkeypatch.setattr(DocumentTable, "write", writes)
    until(lambda: not store._unwritten)
    store.close()
    again = Store(tmp_path / "db")
    assert [each["n"] for each in again.find("thing")] == [0, 10, 2, 4]
    assert [each["n"] for each in again.find("thing", active=False)] == [10, 4]
    again.close()


def test_an_edit_of_what_cannot_be_read_is_made_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path / "db")
    store.put("thing", 1, {"n": 1}, active=True)
    with monkeypatch.context() as patched:
        patched.setattr(DocumentTable, "_execute", _raising(OSError(5, "disk I/O error")))
        assert store.change("thing", 1, lambda body: body.update(n=2), active=False, retry=True) is None
    until(lambda: store.get("thing", 1) == {"n": 2})
    assert store.find("thing", active=True) == []
    store.close()


def test_a_failure_of_the_store_is_one_of_three() -> None:
    from lakeward.errors import ConfigurationError
    from lakeward.workspace.state.document_table import _storage_error

    file = Path("db")
    full = _storage_error(sqlite3.OperationalError("database or disk is full"), file)
    assert isinstance(full, OSError) and full.errno == 28
    assert isinstance(_storage_error(sqlite3.OperationalError("database is locked"), file), ApiError)
    assert isinstance(_storage_error(sqlite3.OperationalError("disk I/O error"), file), OSError)
    assert isinstance(_storage_error(sqlite3.DatabaseError("malformed"), file), ConfigurationError)
