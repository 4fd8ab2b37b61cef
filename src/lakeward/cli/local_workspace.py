"""The target's local workspace for a command: its client, its start, and runs of what is deployed."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from lakeward.cli.formatting import plain
from lakeward.errors import JobError, UsageError

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings

# A local server that does not answer within this time has ended.
_PATIENCE_SECONDS = 15


class Rest:
    """Client of one workspace with one token; `lasts` is whether it outlives the command."""

    def __init__(self, host: str, token: str, *, lasts: bool = True) -> None:
        from databricks.sdk import WorkspaceClient
        from databricks.sdk.core import Config

        self._host, self.lasts = host, lasts
        config = Config(host=host, token=token, auth_type="pat", retry_timeout_seconds=_PATIENCE_SECONDS)
        self._client = WorkspaceClient(config=config).api_client
        self.user = str(self.ask("GET", "/api/2.0/preview/scim/v2/Me")["userName"])

    @property
    def host(self) -> str:
        """Return the address of the workspace."""
        return self._host

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Return the answer.

        Raises LookupError if the object does not exist, FileExistsError if it exists already, JobError for
        refused requests and for a server that does not answer (WORKSPACE_GONE).
        """
        with self._refusals():
            return self._client.do(method, path, body=dict(body) if body is not None else None)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        from databricks.sdk.errors import NotFound
        from databricks.sdk.errors.base import DatabricksError

        try:
            yield
        except NotFound as error:
            raise LookupError(str(error)) from None
        except DatabricksError as error:
            if str(error.error_code).endswith("ALREADY_EXISTS"):
                raise FileExistsError(str(error)) from None
            raise JobError(str(error.error_code or "WORKSPACE_ERROR"), str(error)) from None
        except OSError:
            raise JobError(
                "WORKSPACE_GONE",
                f"The workspace at {self._host} does not answer.",
                next_step="Start it again with `lakeward workspace`: its runs have failed.",
            ) from None

    def upload(self, path: str, content: bytes) -> None:
        """Write a file, and the folders above it."""
        self.ask("POST", "/api/2.0/workspace/mkdirs", {"path": path.rpartition("/")[0]})
        name = quote(path.removeprefix("/"), safe="")
        route = f"/api/2.0/workspace-files/import-file/{name}"
        with self._refusals():
            self._client.do("POST", route, query={"overwrite": "true"}, data=content)

    def download(self, path: str) -> bytes:
        """Return the content of a file."""
        query = {"path": path, "direct_download": "true"}
        with self._refusals():
            found = self._client.do("GET", "/api/2.0/workspace/export", query=query, raw=True)
            with found["contents"] as stream:
                return bytes(stream.read())


_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@contextmanager
def workspace(bundle: Bundle, settings: Settings, *, local: bool = False) -> Iterator[Rest]:
    """Yield the target's workspace: the one that runs, else one that is started for the block.

    Raises UsageError(HOST_NOT_LOCAL) if the bundle names another host, unless `local` overrides it.
    """
    from lakeward.workspace import read_connection

    host = bundle.config["workspace"].get("host")
    if host and not local and urlsplit(str(host)).hostname not in _LOOPBACK:
        raise UsageError(
            "HOST_NOT_LOCAL",
            f"The bundle goes to {host}, and this command only to a workspace on this machine.",
            next_step=f"Add --local to use this machine's workspace: lakeward bundle deploy -t "
            f"{bundle.target} --local. For {host}, use the Databricks CLI: databricks bundle deploy.",
        )
    running = answering(settings)
    if running is not None:
        yield running
        return
    command = [sys.executable, "-m", "lakeward", "workspace", "-t", bundle.target, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=bundle.root, text=True) as server:
        try:
            assert server.stdout is not None
            answered = json.loads(server.stdout.readline() or "null")
            started = read_connection(settings)
            if not answered or started is None:
                raise JobError(
                    "WORKSPACE_NOT_STARTED", "The local workspace did not start; see its output above."
                )
            yield Rest(started.host, started.token, lasts=False)
        finally:
            server.terminate()


def answering(settings: Settings) -> Rest | None:
    """Return the target's workspace if its server answers, None otherwise."""
    from databricks.sdk.errors.base import DatabricksError

    from lakeward.workspace import read_connection

    known = read_connection(settings)
    if known is None or not listens(known.host):
        return None
    with suppress(DatabricksError, JobError, LookupError):
        return Rest(known.host, known.token)
    return None


def listens(host: str) -> bool:
    """Return whether the port accepts connections; databricks-sdk would retry for minutes."""
    place = urlsplit(host)
    try:
        with socket.create_connection((place.hostname or "", place.port or 80), timeout=1):
            return True
    except OSError:
        return False


_JOB_OVER = ("TERMINATED", "SKIPPED", "INTERNAL_ERROR")
_UPDATE_OVER = ("COMPLETED", "FAILED", "CANCELED")
_STATES = {"SUCCESS": "COMPLETED", "CANCELED": "CANCELED"}
_POLL_SECONDS = 0.5


def run_job(
    api: Rest, identifier: str, parameters: Mapping[str, str], only: Sequence[str], *, quiet: bool
) -> dict[str, Any]:
    """Run a job, print its progress unless `quiet`, and return the object that `-o json` prints."""
    body = {"job_id": int(identifier), "job_parameters": dict(parameters), "only": list(only)}
    run_id = api.ask("POST", "/api/2.2/jobs/run-now", body)["run_id"]
    said: dict[str, str] = {}
    while True:
        run = api.ask("GET", f"/api/2.2/jobs/runs/get?run_id={run_id}")
        over = run["state"]["life_cycle_state"] in _JOB_OVER
        for task in run.get("tasks") or ():
            state = _state(task)
            if not quiet and said.get(task["task_key"]) != state:
                said[task["task_key"]] = state
                _say(task)
        if over:
            break
        time.sleep(_POLL_SECONDS)
    result = _state(run)
    tasks = [
        {
            "task_key": task["task_key"],
            "state": _state(task),
            "seconds": task["run_duration"] / 1000,
            "error": _error(api, task),
        }
        for task in run.get("tasks") or ()
    ]
    if not quiet:
        for task in tasks:
            if task["error"]:
                print(plain(f"  {task['task_key']}: {task['error']}"), file=sys.stderr)
        # A workspace that ends with this command cannot answer at its address later.
        page = f"  {run['run_page_url']}" if api.lasts else ""
        print(plain(f"{run['run_name']}  {result}{page}", keep=""))
    return {
        "state": _STATES.get(result, "FAILED"),
        "run_id": run_id,
        "run_page_url": run["run_page_url"],
        "tasks": tasks,
        "seconds": run["run_duration"] / 1000,
    }


def run_pipeline(api: Rest, identifier: str, *, quiet: bool) -> dict[str, Any]:
    """Update a pipeline, print the result unless `quiet`, and return the object that `-o json` prints."""
    path = f"/api/2.0/pipelines/{identifier}"
    update_id = api.ask("POST", f"{path}/updates", {})["update_id"]
    while True:
        update = api.ask("GET", f"{path}/updates/{update_id}")["update"]
        if update["state"] in _UPDATE_OVER:
            break
        time.sleep(_POLL_SECONDS)
    events = api.ask("GET", f"{path}/events?max_results=100").get("events") or ()
    errors = [str(event.get("message")) for event in events if event.get("level") == "ERROR"]
    if not quiet:
        for error in errors:
            print(plain(f"  {error}"), file=sys.stderr)
        print(f"update {update_id}  {update['state']}")
    return {
        "state": update["state"],
        "update_id": update_id,
        "datasets": update.get("datasets") or [],
        "errors": errors,
    }


def _say(task: Mapping[str, Any]) -> None:
    """Report the state of a task: its result on stdout, progress on stderr."""
    key, state = task["task_key"], _state(task)
    if state == "RUNNING":
        print(f"  {key}  {state}", file=sys.stderr)
    elif "result_state" in task["state"]:
        took = f"  {task['run_duration'] / 1000:.1f} s" if task["run_duration"] else ""
        print(f"  {key}  {state}{took}", flush=True)


def _state(run: Mapping[str, Any]) -> str:
    return str(run["state"].get("result_state") or run["state"]["life_cycle_state"])


def _error(api: Rest, task: Mapping[str, Any]) -> str | None:
    if _state(task) in ("SUCCESS", "EXCLUDED", "DISABLED"):
        return None
    output = api.ask("GET", f"/api/2.2/jobs/runs/get-output?run_id={task['run_id']}")
    return output.get("error") or task["state"].get("state_message") or None
