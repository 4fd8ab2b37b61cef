"""What goes wrong with the server and its runs, and what is left afterwards."""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from lakeward.bundle import Bundle
from lakeward.bundle.sync import synced_files
from lakeward.dbutils import Redactor
from lakeward.workspace.runs.run_log import Log, read_log
from lakeward.workspace.server import remove_expired
from lakeward.workspace.state.store import Store
from tests.processes import is_alive
from tests.workspace.server import Server, command, running, started, until


def test_a_run_of_a_killed_server_is_an_internal_error_and_its_process_is_gone(root: Path) -> None:
    first = started(root)
    job_id = first.job(only="import os, time\nprint('pid', os.getpid(), flush=True)\ntime.sleep(120)")
    run_id = first.run_now(job_id)
    # Python writes the word and the number one after the other.
    pid = int(until(lambda: first.log_of(first.run(run_id)).split()[1:])[0])
    first.kill()
    first.stop()
    until(lambda: not is_alive(pid))
    with running(root) as second:
        assert (second.host, second.token) == (first.host, first.token)
        state = second.run(run_id)["state"]
        assert (state["life_cycle_state"], state["result_state"]) == ("INTERNAL_ERROR", "FAILED")
        assert "server ended while this run was active" in state["state_message"]
        assert second.get("/api/2.2/jobs/runs/list", active_only="true")["runs"] == []
        assert second.get("/api/2.2/jobs/get", job_id=job_id)["settings"]["name"] == "story"


def test_a_second_server_on_one_folder_refuses_and_names_the_first(server: Server) -> None:
    process = command(server.root)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "WORKSPACE_RUNNING" in err and server.host in err and "Traceback" not in err
    assert "WORKSPACE_RUNNING" in out  # --json prints its object in this case, too
    assert server.get("/api/2.0/preview/scim/v2/Me")["userName"]


@pytest.mark.parametrize("option", ["--port", "--https-port"])
def test_a_port_that_is_taken_is_reported(root: Path, option: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        process = command(root, option, str(port))
        _, err = process.communicate(timeout=60)
        assert process.returncode == 2
        assert f"[PORT_TAKEN] Port {port} is taken by another program." in err
        assert f"or leave {option} out" in err


@pytest.mark.slow
def test_a_port_of_the_last_time_is_given_up_if_it_is_taken(root: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        file = root / ".lakeward" / "local" / "workspace" / "connection.json"
        file.parent.mkdir(parents=True)
        file.write_text(f'{{"host": "http://127.0.0.1:{port}", "token": "old"}}')
        with running(root) as server:
            assert not server.host.endswith(f":{port}")
            assert server.token != "old"


def test_it_listens_on_loopback_alone(server: Server) -> None:
    port = server.host.rpartition(":")[2]
    wanted = f":{int(port):04X}"
    lines = Path("/proc/net/tcp").read_text().splitlines() if Path("/proc/net/tcp").exists() else []
    listening = [line.split()[1] for line in lines if line.split()[3] == "0A" and wanted in line.split()[1]]
    assert listening in ([], [f"0100007F{wanted}"])


def test_a_full_disk_keeps_half_of_nothing(
    full_disk: Callable[[int], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = full_disk(1024 * 1024)
    (tmp_path / ".lakeward").symlink_to(home)
    with running(tmp_path) as server:
        server.post("/api/2.0/workspace/mkdirs", {"path": "/in"})
        path = "/api/2.0/workspace-files/import-file/in%2Ffile.bin"
        assert server.answer("POST", path, data=b"old").status_code == 200
        answer = server.answer("POST", f"{path}?overwrite=true", data=os.urandom(3 * 1024 * 1024))
        assert (answer.status_code, answer.json()["error_code"]) == (507, "IO_ERROR")
        assert "No space left" in answer.json()["message"]
        kept = server.answer("GET", "/api/2.0/workspace/export?path=/in/file.bin&direct_download=true")
        assert kept.content == b"old"
        assert [file.name for file in (server.state / "workspace" / "in").iterdir()] == ["file.bin"]
        assert not list((server.state / "server" / "uploads").iterdir())


def test_an_upload_that_is_broken_off_leaves_nothing(server: Server) -> None:
    server.post("/api/2.0/workspace/mkdirs", {"path": "/broken"})
    port = int(server.host.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port)) as plain:
        plain.sendall(
            b"POST /api/2.0/workspace-files/import-file/broken%2Fx HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            + f"Authorization: Bearer {server.token}\r\nContent-Length: 1000\r\n\r\nhalf".encode()
        )
    uploads = server.state / "server" / "uploads"
    until(lambda: any("broken" in line["path"] and line["status"] == 400 for line in server.requests()))
    assert not list(uploads.iterdir())
    assert not list((server.state / "workspace" / "broken").iterdir())


def test_a_task_that_kills_its_process_fails_with_its_last_lines(server: Server) -> None:
    code = "import os, signal\nprint('last words', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
    run = server.ended(server.run_now(server.job(only=code)))
    assert run["state"]["result_state"] == "FAILED"
    output = server.get("/api/2.2/jobs/runs/get-output", run_id=run["tasks"][0]["run_id"])
    assert "SIGKILL" in output["error"] and "last words" in output["error"]


@pytest.mark.slow
def test_a_run_that_takes_too_long_is_ended_with_all_that_it_started(server: Server) -> None:
    code = (
        "import signal, subprocess, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '120'])\nprint(child.pid, flush=True)\ntime.sleep(120)"
    )
    job_id = server.job(only=code)
    server.post("/api/2.2/jobs/update", {"job_id": job_id, "new_settings": {"timeout_seconds": 10}})
    run = server.ended(server.run_now(job_id))
    assert run["state"]["result_state"] == "TIMEDOUT"
    child = int(server.log_of(run))
    until(lambda: not is_alive(child))


@pytest.mark.slow
def test_a_task_that_takes_too_long_is_tried_again_and_ended_with_all_that_it_started(server: Server) -> None:
    code = (
        "import signal, subprocess, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['sleep', '120'])\nprint(child.pid, flush=True)\ntime.sleep(120)"
    )
    limits = {"timeout_seconds": 8, "max_retries": 1, "retry_on_timeout": True}
    run = server.ended(server.run_now(server.job(hangs={"code": code, **limits}, other="print('fine')")))
    hangs, other = run["tasks"]
    assert (hangs["state"]["result_state"], hangs["attempt_number"]) == ("TIMEDOUT", 1)
    assert "longer than 8 seconds" in hangs["state"]["state_message"]
    assert (other["state"]["result_state"], server.log_of(run, 1)) == ("SUCCESS", "fine\n")
    children = [int(line) for line in server.log_of(run).split()]
    assert len(children) == 2
    for child in children:
        until(lambda pid=child: not is_alive(pid))


def test_independent_tasks_of_a_run_go_on_at_the_same_time_with_a_log_each(server: Server) -> None:
    meet = (
        "import pathlib, sys, time\nme, other = sys.argv[1:]\nprint('I am', me)\n"
        "here = pathlib.Path(__file__).parent\n(here / me).touch()\nend = time.monotonic() + 100\n"
        "while not (here / other).exists():\n    assert time.monotonic() < end\n    time.sleep(0.01)\n"
    )
    names = (("first", "second"), ("second", "first"))
    run = server.ended(
        server.run_now(server.job(**{a: {"code": meet, "task": {"parameters": [a, b]}} for a, b in names}))
    )
    assert run["state"]["result_state"] == "SUCCESS"
    assert [server.log_of(run, number) for number in (0, 1)] == ["I am first\n", "I am second\n"]


def test_a_job_that_cannot_run_says_what_is_wrong_with_it(server: Server) -> None:
    task = {"task_key": "a", "spark_python_task": {"python_file": "/Workspace/nowhere.py"}}
    job_id = server.post("/api/2.2/jobs/create", {"name": "broken", "tasks": [task]})["job_id"]
    run = server.ended(server.run_now(job_id))
    assert run["state"]["life_cycle_state"] == "INTERNAL_ERROR"
    assert "nowhere.py" in run["state"]["state_message"]


@pytest.mark.slow
def test_fifty_clients_at_once_are_all_answered(server: Server) -> None:
    run_id = server.run_now(server.job(only="pass"))
    server.ended(run_id)
    failures: list[object] = []

    def poll() -> None:
        import requests

        with requests.Session() as session:
            for _ in range(4):
                answer = session.get(
                    f"{server.host}/api/2.2/jobs/runs/get?run_id={run_id}",
                    headers={"Authorization": f"Bearer {server.token}"},
                    timeout=120,
                )
                if answer.status_code != 200 or answer.json()["run_id"] != run_id:
                    failures.append(answer.text)

    threads = [threading.Thread(target=poll) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_what_ended_long_ago_is_forgotten_with_its_logs(tmp_path: Path) -> None:
    days = 24 * 3600
    runs, jobs = tmp_path / "runs", tmp_path / "jobs"
    kept = {}
    # What records of all these kinds need to be read.
    bodies = {
        "run": {"run_id": 1, "job_id": 1, "run_name": "r", "settings": {}, "state": {}, "tasks": []},
        "task_run": {},
        "update": {"update_id": "u", "pipeline_id": "p", "state": "FAILED"},
        "statement": {"statement_id": "s", "status": {}},
    }
    job = {"job_id": 1, "settings": {}, "creator_user_name": "u", "run_as_user_name": "u"}
    for age in (61, 59):
        store = Store(tmp_path / "store.db", clock=lambda age=age: 100 * days - age * days)
        for kind, body in bodies.items():
            kept[kind, age] = store.number()
            store.put(kind, kept[kind, age], body)
        store.put("job", f"job {age}", job)
        store.put("run", f"active {age}", bodies["run"], active=True)
        (runs / str(kept["run", age])).mkdir(parents=True)
        (jobs / f"daily-{kept['run', age]}").mkdir(parents=True)
        (jobs / f"daily-{kept['run', age]}.lock").touch()
        store.close()
    store = Store(tmp_path / "store.db")
    remove_expired(store, runs, jobs, 100 * days * 1000)
    young = kept["run", 59]
    assert [store.get("run", kept["run", age]) is None for age in (59, 61)] == [False, True]
    assert [store.get("update", kept["update", age]) is None for age in (59, 61)] == [False, True]
    assert [store.get("statement", kept["statement", age]) is None for age in (59, 61)] == [True, True]
    assert len(store.find("job")) == 2 and len(store.find("run", active=True)) == 2
    assert [folder.name for folder in runs.iterdir()] == [str(young)]
    assert {place.name for place in jobs.iterdir()} == {f"daily-{young}", f"daily-{young}.lock"}
    store.close()


@pytest.mark.parametrize(
    "parts",
    [(2**16 - 3,), (2**16 + 3,), (70_000, 70_004, 140_000), tuple(range(4096, 240_000, 4096))],
    ids=["before 64 KB", "after 64 KB", "large parts", "parts of 4 KB"],
)
def test_a_secret_in_a_line_of_any_length_is_redacted(tmp_path: Path, parts: tuple[int, ...]) -> None:
    secret = "s3cret"
    text = "".join("x" * 4093 + secret for _ in range(60))
    log = Log(tmp_path, lambda: Redactor([secret]))
    for begin, end in itertools.pairwise((0, *parts, len(text))):
        log.take(text[begin:end])
    log.finish()
    assert read_log(tmp_path, "")[0] == text.replace(secret, "[REDACTED]")


def test_a_secret_of_several_lines_is_redacted_in_each_part(tmp_path: Path) -> None:
    log = Log(tmp_path, lambda: Redactor(["first line\nsecond line"]))
    for part in ("a first l", "ine\nsec", "ond line\nb"):
        log.take(part)
    log.finish()
    assert read_log(tmp_path, "")[0] == "a [REDACTED]\nb"
    assert log.last == ["a [REDACTED]", "b"]


def test_a_log_is_cut_where_it_has_no_end_and_takes_any_bytes(tmp_path: Path) -> None:
    log = Log(tmp_path, lambda: Redactor(["s3cret"]), most=1000)
    log.take("before\n")
    log.take("bin \ufffd\x00 s3c", "a")
    log.take("unended", "b")
    log.take("ret\n" + "x" * 5000 + "\n", "a")
    log.take("more\n", "a")
    log.finish()
    assert read_log(tmp_path, "")[0] == "before\n"
    text, end, more = read_log(tmp_path, "a")
    assert text.startswith("bin \ufffd\x00 [REDACTED]\n\n… cut here")
    assert not more and end == (tmp_path / "task-a.log").stat().st_size
    assert read_log(tmp_path, "b")[0] == "unended"
    assert read_log(tmp_path, "a", offset=4, most=3)[2] is True


@pytest.mark.slow
def test_a_server_that_has_to_end_ends_its_runs(root: Path) -> None:
    server = started(root)
    job_id = server.job(only="import time\nprint('begun', flush=True)\ntime.sleep(120)")
    run_id = server.run_now(job_id)
    until(lambda: server.log_of(server.run(run_id)))
    server.process.send_signal(signal.SIGINT)
    try:
        # The task would run for two minutes.
        assert server.process.wait(60) == 0
    except subprocess.TimeoutExpired:  # pragma: no cover
        server.kill()
        raise
    server.stop()
    with running(root) as again:
        assert again.run(run_id)["state"]["result_state"] in ("CANCELED", "FAILED")


@pytest.mark.slow
def test_a_task_that_prints_100_megabytes_has_a_log_that_says_what_it_lacks(server: Server) -> None:
    code = "for number in range(102_400):\n    print('x' * 1023)\nprint('the end')"
    run = server.ended(server.run_now(server.job(only=code)))
    assert run["state"]["result_state"] == "SUCCESS"
    (log,) = (server.state / "server" / "runs" / str(run["run_id"])).rglob("task-only.log")
    assert log.stat().st_size < 9 * 2**20
    text = log.read_text()
    assert text.startswith("xxxx") and text.endswith("x\nthe end\n")
    assert "the log is kept up to 8,388,608 bytes; 96,469,000 more were printed" in text
    assert server.get("/api/2.2/jobs/runs/get-output", run_id=run["tasks"][0]["run_id"])["logs_truncated"]


@pytest.mark.slow
def test_a_job_runs_another_job_of_the_workspace(server: Server) -> None:
    inner = server.job(only="print('inner')")
    task = {"task_key": "outer", "run_job_task": {"job_id": inner}}
    job_id = server.post("/api/2.2/jobs/create", {"name": "outer", "tasks": [task]})["job_id"]
    run = server.ended(server.run_now(job_id))
    assert (run["state"]["result_state"], server.log_of(run)) == ("SUCCESS", "inner\n")


def test_the_state_with_its_token_is_neither_committed_nor_deployed(server: Server) -> None:
    assert (server.root / ".lakeward" / ".gitignore").read_text() == "*\n"
    (server.root / "source.py").write_text("")
    bundle = Bundle(server.root, "b", "dev", None, {})
    assert synced_files(bundle) == ("source.py",)
    (server.root / ".lakeward" / ".gitignore").rename(server.root / "away")
    assert synced_files(bundle) == ("away", "source.py")
    (server.root / "away").rename(server.root / ".lakeward" / ".gitignore")
