"""Start of the server: one for each target, on loopback.

Runs that the last server did not finish are failed first, and old runs and statements are removed.
"""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timezone
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lakeward.databricks_shims.local_workspace import ApiError, remove_idle_uploads
from lakeward.dbutils import Environment
from lakeward.errors import ConfigurationError
from lakeward.file_lock import FileLock
from lakeward.principals import DATABASE
from lakeward.private_folders import private_folder
from lakeward.session import Settings
from lakeward.volume_folders import rename_to_lower_case
from lakeward.workspace.api.request_types import parse_object
from lakeward.workspace.api.undeployed_resources import add_resources, remove_resources
from lakeward.workspace.command_contexts.contexts import Contexts
from lakeward.workspace.context import ServerContext, ServerRequest
from lakeward.workspace.http.listeners import Listeners, open_listeners
from lakeward.workspace.http.request_log import RequestLog
from lakeward.workspace.runs import run_state
from lakeward.workspace.runs.run_queue import Runner
from lakeward.workspace.state.connection import connection_file, read_connection
from lakeward.workspace.state.database import usable_state
from lakeward.workspace.state.serving import lock_file, server_folder, serving_file
from lakeward.workspace.state.store import Document, Store, now
from lakeward.workspace.state.tokens import Tokens
from lakeward.workspace.triggers.scheduler import ScheduledStart, TriggerScheduler, scheduled_starts
from lakeward.workspace.warehouse.client_sessions import ClientSessions
from lakeward.workspace.warehouse.engine import Warehouse
from lakeward.workspace_connection import (
    Connection,
    read_connection_file,
    use_connection,
    write_connection_file,
)

_END_OF_RUNS = 1.5  # seconds that runs get to end when the server does
_RETENTION_DELAY = 3.0  # seconds from the start to removing old runs
_MONTH = 30 * 24 * 3600
LOST = "The workspace's server ended while this run was active."
_QUERY_HISTORY_DAYS = 30
_DAY = 24 * 3600 * 1000
_LIKE_RUNS = ("run", "task_run", "idempotency", "update", "event")


def serve(
    settings: Settings,
    *,
    port: int = 0,
    https_port: int = 0,
    with_schedules: bool = False,
    listener: socket.socket | None = None,
    token: str | None = None,
    resources: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    ready: Callable[[Connection, Sequence[ScheduledStart]], None],
    warn: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the target's workspace until Ctrl-C or SIGTERM.

    Args:
        settings: The target.
        port: 0 is any free one, the last server's if possible.
        https_port: The same for the address with TLS.
        with_schedules: Whether jobs start by their schedules and triggers.
        listener: A listening socket to use instead of `port`.
        token: The token of the clients of one command, which is accepted and not stored: the connection that
            other clients are configured with stays. By default, the last server's or a new one.
        resources: Jobs and pipelines that the server has while it runs, as request bodies by kind and id.
        ready: Called once requests are answered, with the schedules and triggers of all jobs.
        warn: Called for each record that is damaged and left out, and when the state cannot be written.

    Raises:
        ConfigurationError: WORKSPACE_RUNNING when a server uses this folder already, PORT_TAKEN, and the
            conditions of `database` for a state that cannot be used.
    """
    folder = server_folder(settings)
    with ExitStack() as held:
        with usable_state():
            private_folder(settings.state)
            private_folder(folder)
            rename_to_lower_case(settings.volumes)
            ignore_in_git(settings.home)
            held.enter_context(sole_server(lock_file(settings), settings))
            if listener is not None:
                listeners = Listeners(listener)
            else:
                last = read_connection(settings)
                listeners = held.enter_context(open_listeners(port, https_port, last, folder / "tls"))
            log = RequestLog(folder / "requests.jsonl")

            def noted(text: str) -> None:
                log.add(warning=text)
                warn(text)

            store = Store(folder / DATABASE, warn=noted)
            exclude_damaged(store)
            fail_interrupted_runs(store)
            add_resources(store, resources, settings.user, noted)
            context = _context(settings, folder, store, listeners, log)
            connection = _connection(settings, context, token, listeners)
            held.enter_context(use_connection(listeners.host, serving_file(settings)))
            starts = scheduled_starts(store, datetime.now(timezone.utc), noted)
            remove_leftovers(settings, folder)
        run(
            settings,
            context,
            log,
            listeners,
            ready=lambda: ready(connection, starts),
            with_schedules=with_schedules,
        )


def _context(
    settings: Settings, folder: Path, store: Store, listeners: Listeners, log: RequestLog
) -> ServerContext:
    def report(error: BaseException) -> None:
        log.add(fault=f"{type(error).__name__}: {error}")

    warehouse = Warehouse(settings, folder)
    return ServerContext(
        store,
        Tokens(store),
        Runner(settings, folder / "runs", fault=report),
        warehouse,
        listeners.host,
        report,
        contexts=Contexts(settings, folder),
        sessions=ClientSessions(warehouse),
        https_host=listeners.https_host,
    )


def _connection(
    settings: Settings, context: ServerContext, token: str | None, listeners: Listeners
) -> Connection:
    """Write the files that lead clients to this server; with a `token` of one command, its file alone."""
    if token is None:
        ca_file = str(listeners.https.ca_file) if listeners.https is not None else ""
        own = token_for(settings, context.tokens)
        connection = Connection(context.host, own, https_host=listeners.https_host, ca_file=ca_file)
        write_connection_file(connection_file(settings), connection)
    else:
        connection = Connection(context.host, token)
        context.tokens.accept(token, settings.user)
    write_connection_file(serving_file(settings), connection)
    return connection


def exclude_damaged(store: Store) -> None:
    """Read what every answer depends on, so that damage is named at the start, not in a request.

    Settings that an earlier version accepted can have types that make clients fail at the list of all jobs.
    """
    for kind in ("token", "acl"):
        store.find(kind)
    checks = (("job", "settings", "jobs.JobSettings"), ("pipeline", "spec", "pipelines/create"))
    for kind, field, name in checks:
        for body in store.find(kind):
            try:
                parse_object(body[field], name)
            except ApiError as failure:
                store.exclude(kind, body[f"{kind}_id"], str(failure))


def remove_leftovers(settings: Settings, folder: Path) -> None:
    """Delete uploads that were not finished."""
    for leftover in (folder / "uploads").glob("*.part"):
        leftover.unlink()
    remove_idle_uploads(settings.state / "uploads")


def run(
    settings: Settings,
    context: ServerContext,
    log: RequestLog,
    listeners: Listeners,
    *,
    ready: Callable[[], None],
    with_schedules: bool,
) -> None:
    """Run the event loop until a signal ends it."""
    folder = server_folder(settings)
    # Imported here: reading the connection file needs no server.
    from lakeward.workspace.http.application import RequestHandler, application
    from lakeward.workspace.http.asgi_server import serve_until_stopped

    environment = Environment(settings=lambda: settings)
    handler = RequestHandler(environment, context, log, folder / "uploads")

    schedulers = _schedulers(environment, context, log)
    for scheduler in schedulers if with_schedules else ():
        scheduler.start()

    # Later: it must not delay the first requests.
    retention = threading.Timer(
        _RETENTION_DELAY, remove_expired, [context.store, folder / "runs", settings.jobs, now()]
    )
    retention.daemon = True
    retention.start()

    def closing() -> None:
        retention.cancel()
        for scheduler in schedulers:
            scheduler.close()
        context.runner.close("The workspace's server was stopped.")
        context.contexts.close()
        context.runner.wait(_END_OF_RUNS)
        # Here, not after the event loop: SIGTERM ends the process as soon as that has ended.
        serving_file(settings).unlink(missing_ok=True)
        remove_resources(context.store)
        context.store.close()
        log.close()

    serve_until_stopped(application(handler, closing), listeners, ready, context.warehouse.close)


def _schedulers(
    environment: Environment, context: ServerContext, log: RequestLog
) -> tuple[TriggerScheduler, TriggerScheduler]:
    """Return what starts jobs and evaluates alerts by their schedules."""
    from lakeward.workspace.api import alerts
    from lakeward.workspace.api.run_submission import trigger_run

    def start(job: Document, cause: str) -> None:
        trigger_run(ServerRequest(environment, user=job["creator_user_name"], context=context), job, cause)

    def evaluate(alert: Document, _: str) -> None:
        alerts.evaluate(ServerRequest(environment, context=context), alert["job_id"])

    def report(fault: str) -> None:
        log.add(fault=fault)

    settings = environment.settings()
    return (
        TriggerScheduler(context.store, settings, start, report),
        TriggerScheduler(context.store, settings, evaluate, report, find=alerts.schedules),
    )


def ignore_in_git(home: Path) -> None:
    """Exclude the state, which holds a token and secrets, from Git and from deployments."""
    file = home / ".gitignore"
    if not file.exists():
        file.write_text("*\n", encoding="utf-8")


@contextmanager
def sole_server(lock: Path, settings: Settings) -> Iterator[None]:
    """Lock the folder; the kernel releases the lock however this process ends."""
    held = FileLock(lock)
    if not held.acquire(wait=False):
        file = serving_file(settings)
        known = read_connection_file(file)
        raise ConfigurationError(
            "WORKSPACE_RUNNING",
            f"The workspace of the target {settings.target} is already served"
            + (f" at {known.host}." if known else "."),
            next_step=f"Use that one (its token is in {file}), or end it with Ctrl-C in its terminal.",
        )
    try:
        yield
    finally:
        held.release()


def token_for(settings: Settings, tokens: Tokens) -> str:
    """Return the token of the connection file, or a new one if that expires within a month."""
    known = read_connection(settings)
    info = tokens.owner_of(known.token) if known else None
    if known and info and info["expiry_time"] > now() + _MONTH * 1000 and info["user"] == settings.user:
        return known.token
    value, _ = tokens.create(settings.user, "lakeward workspace", 730 * 24 * 3600)
    return value


def fail_interrupted_runs(store: Store) -> None:
    """Fail runs, updates and statements that were active when the last server ended."""
    for active in store.find("run", active=True):
        store.change("run", active["run_id"], _abandoned, active=False)
    for update in store.find("update", active=True):
        store.change(
            "update", update["update_id"], lambda body: body.update(state="FAILED", error=LOST), active=False
        )
    for statement in store.find("statement", active=True):
        status = {"state": "FAILED", "error": {"error_code": "ABORTED", "message": LOST}}
        key = statement["statement_id"]
        store.change("statement", key, lambda body, status=status: body.update(status=status), active=False)  # type: ignore[misc]


def _abandoned(run: Document) -> None:
    run_state.abandon(run, LOST, now())


def remove_expired(store: Store, runs: Path, jobs: Path, now: int) -> None:
    """Delete what ended long before `now`: logs of runs in `runs`, records for repairs in `jobs`."""
    from lakeward.jobs import RETENTION_DAYS

    for kind, days in (*((kind, RETENTION_DAYS) for kind in _LIKE_RUNS), ("statement", _QUERY_HISTORY_DAYS)):
        for key in store.delete_older(kind, now - days * _DAY):
            if kind in ("run", "update") and Path(key).name == key:
                shutil.rmtree(runs / key, ignore_errors=True)
            if kind == "run" and key.isdecimal():
                for place in jobs.glob(f"*-{key}"):
                    shutil.rmtree(place, ignore_errors=True)
                for lock in jobs.glob(f"*-{key}.lock"):
                    lock.unlink(missing_ok=True)
