"""`lakeward bundle deploy`, `run` and `destroy`: commands in the local workspace of a target."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import click

from lakeward.cli.formatting import plain
from lakeward.cli.missing_inputs import hints_of
from lakeward.cli.options import bundle_options, local_option, mappings_option, names_option, output_option
from lakeward.errors import JobError, UsageError

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings

# A local server that does not answer within this time has ended.
_PATIENCE_SECONDS = 15


@click.command()
@bundle_options
@local_option
@output_option
def deploy(target: str | None, variables: dict[str, str], local: bool, output: str) -> int:
    """Deploy the bundle to the target's local workspace, which is started if it is not running.

    Other workspaces are for the Databricks CLI.
    """
    from lakeward.bundle import LOCAL_RULES, findings
    from lakeward.bundle import deploy as deploy_to

    bundle, settings = bundle_and_settings(target, variables)
    found = findings(bundle)
    wrong = [each for each in found if each.severity == "error"]
    left_out = [each for each in found if each.rule in LOCAL_RULES]
    if wrong:
        for each in wrong:
            print(plain(str(each)), file=sys.stderr)
        if output == "json":
            show({"findings": [each.as_json() for each in wrong]})
        return 2
    for each in left_out:
        print(plain(str(each)), file=sys.stderr)
    from lakeward.jobs import require_packages

    require_packages(bundle, settings)
    with (
        tempfile.TemporaryDirectory(prefix="lakeward-wheels-") as scratch,
        workspace(bundle, settings, local=local) as api,
    ):
        user = bundle.config["workspace"]["current_user"]["userName"]
        done = deploy_to(bundle, api, wheels_of(bundle, Path(scratch)), user=user)
    if output == "json":
        show({**asdict(done), "findings": [each.as_json() for each in left_out]})
        return 0
    for what in ("created", "updated", "deleted"):
        for name in getattr(done, what):
            print(plain(f"  {what} {name}", keep=""))
    changed = sum(len(names) for names in (done.created, done.updated, done.deleted))
    title = plain(f"{bundle.name} as {bundle.target}", keep="")
    print(f"Deployed {title}: {done.files} files, {changed} resources changed.")
    runnable = next(iter((*bundle.jobs, *bundle.pipelines)), None)
    if runnable is not None:
        try_next = f"try next  lakeward bundle run {runnable} -t {bundle.target}{' --local' * local}"
        print(plain(try_next, keep=""))
        print(f"          lakeward workspace -t {bundle.target}")
    return 0


@click.command()
@bundle_options
@local_option
@output_option
@click.option("--auto-approve", is_flag=True, help="Delete without asking.")
def destroy(
    target: str | None, variables: dict[str, str], local: bool, output: str, auto_approve: bool
) -> int:
    """Delete everything that the bundle has deployed to the target's local workspace."""
    from lakeward.bundle import destroy as destroy_in

    bundle, settings = bundle_and_settings(target, variables)
    if not auto_approve and not approved(f"Delete all of {bundle.name} in target {bundle.target}?"):
        print("Nothing was deleted.")
        return 1
    with workspace(bundle, settings, local=local) as api:
        done = destroy_in(bundle, api)
    if output == "json":
        show({"deleted": done.deleted})
        return 0
    for name in done.deleted:
        print(plain(f"  deleted {name}", keep=""))
    title = plain(f"{bundle.name} in target {bundle.target}", keep="")
    print(f"Destroyed {title}: {len(done.deleted)} resources.")
    return 0


@click.command()
@click.argument("key", default="")
@bundle_options
@local_option
@output_option
@mappings_option("--params", "parameters", help="Value of a job parameter.")
@names_option("--only", metavar="TASK", help="Run these tasks of the job alone.")
def run(
    key: str,
    target: str | None,
    variables: dict[str, str],
    local: bool,
    output: str,
    parameters: dict[str, str],
    only: tuple[str, ...],
) -> int:
    """Run the job or pipeline KEY that was deployed to the target's local workspace."""
    from lakeward.bundle import deployed_id

    bundle, settings = bundle_and_settings(target, variables)
    kind = bundle.kind_of(key)
    with workspace(bundle, settings, local=local) as api:
        identifier = deployed_id(bundle, api, f"{kind}s", key)
        quiet = output == "json"
        if kind == "job":
            done = run_job(api, identifier, parameters, only, quiet=quiet)
        else:
            done = run_pipeline(api, identifier, quiet=quiet)
    if quiet:
        show(done)
    errors = [each["error"] for each in done.get("tasks", ()) if each["error"]] + done.get("errors", [])
    for hint in hints_of("\n".join(errors), settings):
        print(plain(f"  → {hint}"), file=sys.stderr)
    return 0 if done["state"] == "COMPLETED" else 1


def approved(question: str) -> bool:
    """Ask on the terminal. Raises UsageError(APPROVAL_NEEDED) without a terminal."""
    if not sys.stdin.isatty():
        raise UsageError(
            "APPROVAL_NEEDED",
            f"Approval is needed, and stdin is not a terminal: {question}",
            next_step="Add --auto-approve.",
        )
    return bool(click.confirm(question, err=True))


def show(summary: Mapping[str, Any]) -> None:
    """Print the one object of `-o json`."""
    print(json.dumps(summary, ensure_ascii=False, indent=2))


def bundle_and_settings(target: str | None, variables: dict[str, str]) -> tuple[Bundle, Settings]:
    """Return the bundle of this folder and where its target's state is."""
    from lakeward.cli.command_context import find_context

    context = find_context(target, variables)
    return context.require_bundle("bundle"), context.settings


def wheels_of(bundle: Bundle, scratch: Path) -> dict[str, Path]:
    """Return every wheel of the bundle, built into `scratch`, by the folder that tasks name it in."""
    from lakeward.bundle import artifacts_of
    from lakeward.jobs import build_wheels

    built = build_wheels(bundle, scratch)
    return {
        str((artifact.folder / pattern).parent.relative_to(bundle.root)): built[artifact.key]
        for artifact in artifacts_of(bundle)
        if artifact.key in built
        for pattern in artifact.patterns
    }


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

    if not local and not goes_here(bundle):
        host = bundle.config["workspace"]["host"]
        raise UsageError(
            "HOST_NOT_LOCAL",
            f"The bundle goes to {host}, and this command only to a workspace on this machine.",
            next_step=f"Add --local to use this machine's workspace: lakeward bundle deploy -t "
            f"{bundle.target} --local. For {host}, use the Databricks CLI: databricks bundle deploy.",
        )
    running = running_workspace(settings)
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


def goes_here(bundle: Bundle) -> bool:
    """Return whether the bundle is deployed to a workspace on this machine."""
    host = bundle.config["workspace"].get("host")
    return not host or urlsplit(str(host)).hostname in _LOOPBACK


def running_workspace(settings: Settings) -> Rest | None:
    """Return the target's workspace if its server answers, None otherwise."""
    from databricks.sdk.errors.base import DatabricksError

    from lakeward.workspace import read_connection, running_connection

    known = running_connection(settings) or read_connection(settings)
    if known is None or not listens(known.host):
        return None
    with suppress(DatabricksError, JobError, LookupError):
        return Rest(known.host, known.token)
    return None


def listens(host: str) -> bool:
    """Return whether the port accepts connections; databricks-sdk would retry for minutes."""
    address = urlsplit(host)
    try:
        with socket.create_connection((address.hostname or "", address.port or 80), timeout=1):
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
