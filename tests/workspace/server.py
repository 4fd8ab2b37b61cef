"""A server as users have it: the command in a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from tests.processes import SharedDaemon, environ_without, until

USER = "ada@example.com"
WAREHOUSE = "/sql/1.0/warehouses/1a6e3a4d00000001"


class Server:
    """A running server; `answer` is a plain request with its token."""

    def __init__(self, root: Path, process: subprocess.Popen[str], host: str) -> None:
        self.root, self.process, self.host = root, process, host
        self.state = root / ".lakeward" / "local"
        self.token: str = self.connection()["token"]
        self.session = requests.Session()

    def connection(self) -> dict[str, str]:
        return json.loads((self.state / "workspace" / "connection.json").read_text())

    def answer(
        self, method: str, path: str, body: Any = None, *, token: str | None = None, **options: Any
    ) -> requests.Response:
        headers = {"Authorization": f"Bearer {token or self.token}", **options.pop("headers", {})}
        return self.session.request(
            method, self.host + path, json=body, headers=headers, timeout=120, **options
        )

    def get(self, path: str, **query: Any) -> Any:
        answer = self.answer("GET", path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any = None) -> Any:
        answer = self.answer("POST", path, body or {})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def file(self, path: str, text: str) -> str:
        """Put a file into the workspace by the disk; gives its path there."""
        place = self.state / "workspace" / path.removeprefix("/Workspace/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return path

    def job(self, **tasks: Any) -> int:
        """A job whose tasks are Python texts, or dicts with `code` and further settings."""
        listed = []
        for key, given in tasks.items():
            settings = dict(given) if isinstance(given, dict) else {"code": given}
            name = f"/Workspace/code/{time.monotonic_ns()}_{key}.py"
            task = {"python_file": self.file(name, settings.pop("code")), **settings.pop("task", {})}
            listed.append({"task_key": key, "spark_python_task": task, **settings})
        return int(self.post("/api/2.2/jobs/create", {"name": "story", "tasks": listed})["job_id"])

    def run_now(self, job_id: int, **options: Any) -> int:
        return int(self.post("/api/2.2/jobs/run-now", {"job_id": job_id, **options})["run_id"])

    def run(self, run_id: int) -> Any:
        return self.get("/api/2.2/jobs/runs/get", run_id=run_id)

    def ended(self, run_id: int, seconds: float = 120) -> Any:
        """The run once it has ended."""
        return until(lambda: run if "result_state" in (run := self.run(run_id))["state"] else None, seconds)

    def log_of(self, run: Any, task: int = 0) -> str:
        output = self.get("/api/2.2/jobs/runs/get-output", run_id=run["tasks"][task]["run_id"])
        return str(output["logs"])

    def requests(self) -> list[dict[str, Any]]:
        lines = (self.state / "server" / "requests.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(60)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.kill()
        self.session.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def command(
    root: Path,
    *arguments: str,
    home: Path | None = None,
    descriptors: int | None = None,
    daemon: SharedDaemon | None = None,
) -> subprocess.Popen[str]:
    """Start the command, with at most so many file descriptors; its JVM is that of `daemon`, or its own."""
    environ = environ_without("DATABRICKS_")
    environ = daemon.environ(environ) if daemon is not None else {**environ, "LAKEWARD_DAEMON": "0"}
    environ["USER"] = USER
    environ.pop("LAKEWARD_HOME", None)
    if home is not None:
        environ["LAKEWARD_HOME"] = str(home)
    limit = [] if descriptors is None else ["sh", "-c", f'ulimit -Sn {descriptors}; exec "$0" "$@"']
    return subprocess.Popen(
        [*limit, sys.executable, "-m", "lakeward", "workspace", "--json", *arguments],
        cwd=root,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def started(root: Path, *arguments: str, **options: Any) -> Server:
    process = command(root, *arguments, **options)
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        _, said = process.communicate(timeout=60)
        raise AssertionError(said)
    return Server(root, process, json.loads(line)["host"])


@contextmanager
def running(root: Path, *arguments: str, **options: Any) -> Iterator[Server]:
    server = started(root, *arguments, **options)
    try:
        yield server
    finally:
        server.stop()
