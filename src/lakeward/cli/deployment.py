"""`lakeward bundle deploy`, `run` and `destroy`: the bundle in the target's local workspace."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import click

from lakeward.cli.options import bundle_options, mapping_option
from lakeward.errors import JobError, UsageError

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings

__all__ = ["deploy", "destroy", "run"]

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command()
@bundle_options
def deploy(target: str | None, variables: dict[str, str]) -> int:
    """Deploy the bundle to the target's local workspace, which is started if it is not running.

    Other workspaces are for the Databricks CLI.
    """
    from lakeward.bundle import deploy as deploy_to
    from lakeward.bundle import findings

    bundle, settings = of_target(target, variables)
    wrong = [each for each in findings(bundle) if each.severity == "error"]
    if wrong:
        for each in wrong:
            print(each, file=sys.stderr)
        return 2
    with (
        tempfile.TemporaryDirectory(prefix="lakeward-wheels-") as scratch,
        workspace(bundle, settings) as api,
    ):
        user = bundle.config["workspace"]["current_user"]["userName"]
        done = deploy_to(bundle, api, wheels_of(bundle, Path(scratch)), user=user)
    for what in ("created", "updated", "deleted"):
        for name in getattr(done, what):
            print(f"  {what} {name}")
    changed = sum(len(names) for names in (done.created, done.updated, done.deleted))
    print(f"Deployed {bundle.name} as {bundle.target}: {done.files} files, {changed} resources changed.")
    return 0


@click.command()
@bundle_options
@click.option("--auto-approve", is_flag=True, help="Delete without asking.")
def destroy(target: str | None, variables: dict[str, str], auto_approve: bool) -> int:
    """Delete everything that the bundle has deployed to the target's local workspace."""
    from lakeward.bundle import destroy as destroy_in

    bundle, settings = of_target(target, variables)
    if not auto_approve:
        click.confirm(
            f"Delete all resources of {bundle.name} in target {bundle.target}?", abort=True, err=True
        )
    with workspace(bundle, settings) as api:
        done = destroy_in(bundle, api)
    for name in done.deleted:
        print(f"  deleted {name}")
    print(f"Destroyed {bundle.name} in target {bundle.target}: {len(done.deleted)} resources.")
    return 0


@click.command()
@click.argument("key")
@bundle_options
@mapping_option("--params", "parameters", help="Value of a job parameter.")
def run(key: str, target: str | None, variables: dict[str, str], parameters: dict[str, str]) -> int:
    """Run the job or pipeline KEY that was deployed to the target's local workspace."""
    from lakeward.bundle import deployed_id

    bundle, settings = of_target(target, variables)
    kind = bundle.kind_of(key)
    with workspace(bundle, settings) as api:
        identifier = deployed_id(bundle, api, f"{kind}s", key)
        return run_job(api, identifier, parameters) if kind == "job" else run_pipeline(api, identifier)


def of_target(target: str | None, variables: dict[str, str]) -> tuple[Bundle, Settings]:
    """The bundle of this folder and where its target's state is."""
    from lakeward.cli.target import here

    place = here(target, variables)
    return place.the_bundle("bundle"), place.settings


def wheels_of(bundle: Bundle, scratch: Path) -> dict[str, Path]:
    """Every wheel of the bundle, built into `scratch`, by the folder that tasks name it in."""
    from lakeward.bundle import artifacts_of
    from lakeward.jobs import built_wheels

    built = built_wheels(bundle, scratch)
    return {
        str((artifact.folder / pattern).parent.relative_to(bundle.root)): built[artifact.key]
        for artifact in artifacts_of(bundle)
        if artifact.key in built
        for pattern in artifact.patterns
    }


class Rest:
    """The workspace's REST API through databricks-sdk."""

    def __init__(self, host: str, token: str) -> None:
        from databricks.sdk import WorkspaceClient

        self._client = WorkspaceClient(host=host, token=token, auth_type="pat").api_client
        self.user = str(self.ask("GET", "/api/2.0/preview/scim/v2/Me")["userName"])

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The answer.

        Raises LookupError for what is not there, FileExistsError for what is there already, JobError for
        what was refused.
        """
        from databricks.sdk.errors import NotFound
        from databricks.sdk.errors.base import DatabricksError

        try:
            return self._client.do(method, path, body=dict(body) if body is not None else None)
        except NotFound as error:
            raise LookupError(str(error)) from None
        except DatabricksError as error:
            if str(error.error_code).endswith("ALREADY_EXISTS"):
                raise FileExistsError(str(error)) from None
            raise JobError(str(error.error_code or "WORKSPACE_ERROR"), str(error)) from None

    def upload(self, path: str, content: bytes) -> None:
        """Write a file, and the folders above it."""
        self.ask("POST", "/api/2.0/workspace/mkdirs", {"path": path.rpartition("/")[0]})
        name = quote(path.removeprefix("/"), safe="")
        route = f"/api/2.0/workspace-files/import-file/{name}"
        self._client.do("POST", route, query={"overwrite": "true"}, data=content)

    def download(self, path: str) -> bytes:
        """The content of a file."""
        from databricks.sdk.errors import NotFound

        query = {"path": path, "direct_download": "true"}
        try:
            found = self._client.do("GET", "/api/2.0/workspace/export", query=query, raw=True)
        except NotFound as error:
            raise LookupError(str(error)) from None
        with found["contents"] as stream:
            return bytes(stream.read())


@contextmanager
def workspace(bundle: Bundle, settings: Settings) -> Iterator[Rest]:
    """The target's workspace: the one that runs, else one for the time of the block.

    Raises UsageError(HOST_NOT_LOCAL) where the bundle itself names another one.
    """
    from lakeward.workspace import read_connection

    host = bundle.config["workspace"].get("host")
    if host and urlsplit(str(host)).hostname not in _LOOPBACK:
        raise UsageError(
            "HOST_NOT_LOCAL",
            f"The bundle goes to {host}, and this command only to a workspace on this machine.",
            next_step=f"Use the Databricks CLI: databricks bundle deploy -t {bundle.target}",
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
                    "WORKSPACE_NOT_STARTED", "The local workspace did not start; it says why above."
                )
            yield Rest(started.host, started.token)
        finally:
            server.terminate()


def answering(settings: Settings) -> Rest | None:
    """The target's workspace if it answers; what an ended server left is no workspace."""
    from databricks.sdk.errors.base import DatabricksError

    from lakeward.workspace import read_connection

    known = read_connection(settings)
    if known is None or not listens(known.host):
        return None
    with suppress(DatabricksError, JobError, LookupError):
        return Rest(known.host, known.token)
    return None


def listens(host: str) -> bool:
    """Whether anybody is there: databricks-sdk would ask for minutes."""
    place = urlsplit(host)
    try:
        with socket.create_connection((place.hostname or "", place.port or 80), timeout=1):
            return True
    except OSError:
        return False


def run_job(api: Rest, identifier: str, parameters: Mapping[str, str]) -> int:
    """Run a job and say how its tasks ended."""
    body = {"job_id": int(identifier), "job_parameters": dict(parameters)}
    run_id = api.ask("POST", "/api/2.2/jobs/run-now", body)["run_id"]
    while True:
        told = api.ask("GET", f"/api/2.2/jobs/runs/get?run_id={run_id}")
        if told["state"]["life_cycle_state"] in ("TERMINATED", "SKIPPED", "INTERNAL_ERROR"):
            break
        time.sleep(0.5)
    for task in told.get("tasks") or ():
        state = task.get("state") or {}
        print(f"  {task['task_key']}  {state.get('result_state') or state.get('life_cycle_state')}")
        if state.get("result_state") not in ("SUCCESS", "EXCLUDED"):
            output = api.ask("GET", f"/api/2.2/jobs/runs/get-output?run_id={task['run_id']}")
            print(f"    {output.get('error') or state.get('state_message') or ''}", file=sys.stderr)
    result = told["state"].get("result_state") or told["state"]["life_cycle_state"]
    print(f"{told.get('run_name')}  {result}  {told.get('run_page_url', '')}")
    return 0 if result == "SUCCESS" else 1


def run_pipeline(api: Rest, identifier: str) -> int:
    """Update a pipeline and say how that ended."""
    path = f"/api/2.0/pipelines/{identifier}"
    update = api.ask("POST", f"{path}/updates", {})["update_id"]
    while (state := api.ask("GET", f"{path}/updates/{update}")["update"]["state"]) not in _OVER:
        time.sleep(0.5)
    if state != "COMPLETED":
        for event in api.ask("GET", f"{path}/events?max_results=100").get("events") or ():
            if event.get("level") == "ERROR":
                print(f"  {event.get('message')}", file=sys.stderr)
    print(f"update {update}  {state}")
    return 0 if state == "COMPLETED" else 1


_OVER = ("COMPLETED", "FAILED", "CANCELED")
