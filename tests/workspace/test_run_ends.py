"""Every run reaches a final state with a reason, and leaves no process behind."""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.processes import is_alive
from tests.workspace.server import Server, until

# Each leaves the task's session or process group in another way; they print their process ids.
_DETACHED = """
import os, signal, subprocess, sys, time
sleep = [sys.executable, "-c", "import time; time.sleep(300)"]
quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
children = [
    subprocess.Popen(sleep, **quiet),
    subprocess.Popen(sleep, start_new_session=True, **quiet),
    subprocess.Popen(sleep, process_group=0, **quiet) if sys.version_info >= (3, 11) else None,
    {no_environment}
    # It keeps the task's output open.
    subprocess.Popen(sleep, start_new_session=True, stdin=subprocess.DEVNULL),
]
print(*(child.pid for child in children if child))
# A daemon: its parent is gone, its session is its own.
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    daemon = os.fork()
    if daemon == 0:
        os.execv(sys.executable, sleep)
    os.write(writing, str(daemon).encode())
    os._exit(0)
print(os.read(reading, 20).decode(), "begun", flush=True)
"""
# The process of the run, and never the server, which adopts a task whose run has ended already.
_KILL_PARENT = """
assert b"run_main" in open(f"/proc/{os.getppid()}/cmdline", "rb").read(), "this is not the run"
os.kill(os.getppid(), signal.SIGKILL)
"""
_BARE = "subprocess.Popen(sleep, start_new_session=True, env={}, **quiet),"


def _begun(server: Server, run_id: int) -> list[int]:
    log = until(lambda: log if "begun" in (log := server.log_of(server.run(run_id))) else None)
    return [int(word) for word in log.split() if word.isdecimal()]


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="guaranteed on Linux alone")
@pytest.mark.parametrize(
    ("ending", "state", "bare"),
    [
        ("", "SUCCESS", True),
        pytest.param("raise ValueError('no')", "FAILED", True, marks=pytest.mark.slow),
        pytest.param("os._exit(3)", "FAILED", True, marks=pytest.mark.slow),
        ("os.kill(os.getpid(), signal.SIGKILL)", "FAILED", True),
        # Without the root and without a mark there is nothing to find such a process by.
        (f"time.sleep(1)\n{_KILL_PARENT}\ntime.sleep(60)", "FAILED", False),
        pytest.param("time.sleep(60)", "CANCELED", True, marks=pytest.mark.slow),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(60)", "CANCELED", True),
    ],
)
def test_no_process_outlives_its_run(server: Server, ending: str, state: str, bare: bool) -> None:
    code = _DETACHED.replace("{no_environment}", _BARE if bare else "") + ending
    run_id = server.run_now(server.job(only=code))
    pids = _begun(server, run_id)
    if state == "CANCELED":
        assert len([pid for pid in pids if is_alive(pid)]) == len(pids)
        server.post("/api/2.2/jobs/runs/cancel", {"run_id": run_id})
    run = server.ended(run_id)
    # A child in a process group of its own needs Python 3.11.
    assert len(pids) == 4 + bare + (sys.version_info >= (3, 11))
    assert run["state"]["result_state"] == state
    # A killed process may take a moment to leave the table.
    until(lambda: not any(map(is_alive, pids)))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="guaranteed on Linux alone")
def test_no_process_outlives_a_killed_server(root: Path) -> None:
    from tests.workspace.server import started

    served = started(root)
    code = _DETACHED.replace("{no_environment}", _BARE) + "time.sleep(60)"
    pids = _begun(served, served.run_now(served.job(only=code)))
    assert all(map(is_alive, pids))
    served.kill()
    served.stop()
    until(lambda: not any(map(is_alive, pids)))


def _exposed(folder: Path) -> None:
    (folder / "key").write_text("a secret that others may read")
    (folder / "key").chmod(0o644)


def _of_another_key(folder: Path) -> None:
    from cryptography.fernet import Fernet

    (folder / "key").write_bytes(b"lakeward-secret-1\n" + Fernet(Fernet.generate_key()).encrypt(b"secret"))
    (folder / "key").chmod(0o600)


def _damaged(folder: Path) -> None:
    (folder / "key").write_bytes(b"lakeward-secret-1\n\xff\xfe\x00")
    (folder / "key").chmod(0o600)


def _misnamed(folder: Path) -> None:
    (folder / "k copy").write_text("a secret")
    (folder / "k copy").chmod(0o600)


@pytest.mark.parametrize(
    ("scope", "plant"),
    [
        ("exposed", _exposed),
        ("another", _of_another_key),
        ("damaged", _damaged),
        ("folder", lambda folder: (folder / "key").mkdir()),
        ("copied", _misnamed),
        ("my scope", _exposed),
        ("dangling", lambda folder: (folder / "key").symlink_to("nowhere")),
    ],
)
def test_a_run_is_not_affected_by_a_secret_that_cannot_be_read(
    server: Server, scope: str, plant: Callable[[Path], object]
) -> None:
    if not (server.state / "secrets" / "good").exists():
        server.post("/api/2.0/secrets/scopes/create", {"scope": "good"})
    server.post("/api/2.0/secrets/put", {"scope": "good", "key": "k", "string_value": "s3cret-value"})
    folder = server.state / "secrets" / scope
    folder.mkdir(parents=True)
    try:
        plant(folder)
        code = (
            "from databricks.sdk.runtime import dbutils\n"
            "print('value', dbutils.secrets.get('good', 'k'))\nprint('s3cret-value'.upper())"
        )
        run = server.ended(server.run_now(server.job(only=code)))
        assert (run["state"]["result_state"], server.log_of(run)) == (
            "SUCCESS",
            "value [REDACTED]\nS3CRET-VALUE\n",
        )
    finally:
        shutil.rmtree(folder)


def test_a_run_with_variables_that_no_process_takes_is_named(server: Server) -> None:
    """What is known only with the values of secrets: their size."""
    server.post("/api/2.0/secrets/scopes/create", {"scope": "vars"})
    server.post("/api/2.0/secrets/put", {"scope": "vars", "key": "k", "string_value": "v" * 60_000})
    variables = {"A": "{{secrets/vars/k}}", "B": "{{secrets/vars/k}}"}
    cluster = {"spark_version": "15.4.x-scala2.12", "node_type_id": "x", "num_workers": 0}
    run = server.ended(
        server.run_now(
            server.job(
                only={
                    "code": "print(1)",
                    "task": {},
                    "new_cluster": {**cluster, "spark_env_vars": variables},
                }
            )
        )
    )
    assert run["state"]["result_state"] == "FAILED"
    assert "[SPARK_ENV_VARS_INVALID]" in run["state"]["state_message"]
    assert "120002 bytes" in run["state"]["state_message"]
    assert "Traceback" not in run["state"]["state_message"]


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="the system has no real-time signals")
@pytest.mark.parametrize("whom", ["getpid", "getppid"])
def test_a_signal_without_a_name_ends_a_task_or_a_run(server: Server, whom: str) -> None:
    code = f"import os, time\nos.kill(os.{whom}(), 40)\ntime.sleep(60)"
    last = {"code": code, "depends_on": [{"task_key": "first"}]}
    run = server.ended(server.run_now(server.job(first="print(1)", last=last)))
    assert run["state"]["result_state"] == "FAILED"
    assert "signal 40" in run["state"]["state_message"]
    assert run["tasks"][0]["state"]["result_state"] == "SUCCESS"


def test_a_failed_submitted_run_is_an_internal_error(server: Server) -> None:
    """dbt-databricks looks at the life cycle state alone, and took a Python model that failed for built."""
    task = {
        "task_key": "a",
        "spark_python_task": {"python_file": server.file("/Workspace/code/fails.py", "1 / 0")},
    }
    run = server.ended(server.post("/api/2.2/jobs/runs/submit", {"tasks": [task]})["run_id"])
    assert (run["state"]["life_cycle_state"], run["state"]["result_state"]) == ("INTERNAL_ERROR", "FAILED")
    assert run["state"]["state_message"].startswith("Task a failed with message: ")
