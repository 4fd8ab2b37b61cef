"""The local workspace of a command that runs user code: clients reach it without a setting."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakeward.bundle import Bundle
    from lakeward.session import Settings
    from lakeward.workspace_connection import Connection

_POLL_SECONDS = 1.0
_REQUEST_SECONDS = 30


@contextmanager
def workspace_on_demand(
    settings: Settings, say: Callable[[str], None], bundle: Bundle | None
) -> Iterator[None]:
    """Connect clients of this process and its children to the target's workspace within the block.

    It is the server that serves the target already, else one that starts with the first request. On the
    platform, runs that code has started go on when it has ended: the server of this command ends after them.

    Args:
        settings: The target.
        say: Called with a line for the user when runs are waited for.
        bundle: The bundle whose jobs and pipelines code finds there.
    """
    from lakeward.workspace import ServerProcess, running_connection, serving_file
    from lakeward.workspace_connection import process_connection, use_connection

    if process_connection() is not None:
        yield  # A run of a workspace.
        return
    running = running_connection(settings)
    if running is not None:
        with use_connection(running.host, serving_file(settings)):
            yield
        return

    def resources() -> Mapping[str, Any]:
        from lakeward.bundle import undeployed_bodies

        return {} if bundle is None else undeployed_bodies(bundle)

    server = ServerProcess(settings, resources)
    server.start()
    try:
        with use_connection(server.connection.host, server.file):
            yield
        if server.started:
            _wait_for_runs(server.connection, say)
    finally:
        server.close()


def _wait_for_runs(connection: Connection, say: Callable[[str], None]) -> None:
    said: set[str] = set()
    while active := _active(connection):
        if not active <= said:
            said |= active
            say(f"waiting for {', '.join(sorted(active))} (Ctrl-C ends them)\n")
        time.sleep(_POLL_SECONDS)


def _active(connection: Connection) -> set[str]:
    """Return what runs, for the user; empty if the server does not answer."""
    try:
        runs = _get(connection, "/api/2.2/jobs/runs/list?active_only=true").get("runs") or ()
        pipelines = _get(connection, "/api/2.0/pipelines").get("statuses") or ()
    except (OSError, ValueError):
        return set()
    names = {f"run {run['run_id']} of {run.get('run_name') or 'a job'}" for run in runs}
    return names | {f"pipeline {each['name']}" for each in pipelines if each.get("state") == "RUNNING"}


def _get(connection: Connection, path: str) -> dict[str, Any]:
    import urllib.request

    request = urllib.request.Request(  # noqa: S310  # an address on loopback
        connection.host + path, headers={"Authorization": f"Bearer {connection.token}"}
    )
    with urllib.request.urlopen(request, timeout=_REQUEST_SECONDS) as answer:  # noqa: S310
        return dict(json.load(answer))
