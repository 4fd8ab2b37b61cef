"""Starting the server: one a folder, on loopback, and what an earlier one left undone is settled first."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

from lakeward.dbutils import Environment
from lakeward.errors import ConfigurationError
from lakeward.session import Settings
from lakeward.workspace import run_states
from lakeward.workspace.call import Office, ServerCall, now
from lakeward.workspace.connection import Connection, connection_file, read_connection, write_connection
from lakeward.workspace.firing import Firing, Start, starts_of
from lakeward.workspace.request_log import RequestLog
from lakeward.workspace.retention import forget_old
from lakeward.workspace.runner import Runner
from lakeward.workspace.store import Document, Store
from lakeward.workspace.tokens import Tokens
from lakeward.workspace.warehouse import Warehouse

__all__ = ["serve", "server_folder"]

_MONTH = 30 * 24 * 3600
LOST = "The workspace's server ended while this run was active."


def server_folder(settings: Settings) -> Path:
    """The folder of the server's state: what it knows, logs of runs, the request log."""
    return settings.state / "server"


def serve(
    settings: Settings,
    *,
    port: int = 0,
    with_schedules: bool = False,
    ready: Callable[[Connection, Sequence[Start]], None],
) -> None:
    """Serve the target's workspace until Ctrl-C or SIGTERM.

    `ready` is called once it can be asked, with how its jobs start by themselves: they do so only
    `with_schedules`. `port` 0 is any free one, the one of the last time if it can be had. Raises
    ConfigurationError: WORKSPACE_RUNNING when a server has this folder already, PORT_TAKEN.
    """
    folder = server_folder(settings)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    keep_out_of_git(settings.home)
    with sole_server(folder / "lock", settings), listening(port, last_port(settings)) as listener:
        store = Store(folder / "workspace.db")
        settle(store)
        tokens = Tokens(store)
        host = f"http://127.0.0.1:{listener.getsockname()[1]}"
        office = Office(store, tokens, Runner(settings, folder / "runs"), Warehouse(settings, folder), host)
        connection = Connection(host, token_for(settings, tokens))
        write_connection(settings, connection)
        starts = starts_of(store, datetime.now(timezone.utc))
        run(settings, office, folder, listener, lambda: ready(connection, starts), with_schedules)


def run(
    settings: Settings,
    office: Office,
    folder: Path,
    listener: socket.socket,
    ready: Callable[[], None],
    with_schedules: bool,
) -> None:
    """The event loop, until it is told to end."""
    # Loaded here: whoever only looks for a connection needs no server.
    from lakeward.workspace.app import Door, application
    from lakeward.workspace.loop import serve_until_told
    from lakeward.workspace.run_starting import fire

    log = RequestLog(folder / "requests.jsonl")
    for leftover in (folder / "uploads").glob("*.part"):
        leftover.unlink()
    environment = Environment(settings=lambda: settings)
    door = Door(environment, office, log, folder / "uploads")

    def start(job: Document, cause: str) -> None:
        fire(ServerCall(environment, user=job["creator_user_name"], office=office), job, cause)

    firing = Firing(office.store, settings, start, lambda fault: log.add(fault=fault))
    if with_schedules:
        firing.start()

    # Beside the first requests: nobody waits for it.
    places = (folder / "runs", settings.jobs)
    threading.Thread(target=forget_old, args=(office.store, *places, now()), daemon=True).start()

    def closing() -> None:
        firing.close()
        office.runner.close("The workspace's server was stopped.")
        office.warehouse.close()

    serve_until_told(application(door, closing), listener, ready)
    log.close()
    office.store.close()


def keep_out_of_git(home: Path) -> None:
    """Let Git, and deployments that go by its rules, pass by the state: a token and secrets are in it."""
    file = home / ".gitignore"
    if not file.exists():
        file.write_text("*\n", encoding="utf-8")


@contextmanager
def sole_server(lock: Path, settings: Settings) -> Iterator[None]:
    """Hold the folder; the kernel gives it back however this process ends."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        known = read_connection(settings)
        raise ConfigurationError(
            "WORKSPACE_RUNNING",
            f"The workspace of the target {settings.target} is already served"
            + (f" at {known.host}." if known else "."),
            next_step=f"Use that one (its token is in {connection_file(settings)}), or stop it.",
        ) from None
    finally:
        os.close(descriptor)


@contextmanager
def listening(port: int, last: int) -> Iterator[socket.socket]:
    """A socket on loopback. Raises ConfigurationError(PORT_TAKEN)."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bind(listener, port, last)
        yield listener
    finally:
        listener.close()


def bind(listener: socket.socket, port: int, last: int) -> None:
    try:
        listener.bind(("127.0.0.1", port or last))
    except OSError as error:
        if port:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            why = "is taken by another program" if error.errno == errno.EADDRINUSE else "may not be used"
            raise ConfigurationError(
                "PORT_TAKEN", f"Port {port} {why}.", next_step="Give another one, or leave --port out."
            ) from None
        listener.bind(("127.0.0.1", 0))


def last_port(settings: Settings) -> int:
    """The port of the target's last server, so that what people configured goes on working; else 0."""
    known = read_connection(settings)
    tail = known.host.rpartition(":")[2] if known else ""
    return int(tail) if tail.isdecimal() and int(tail) < 2**16 else 0


def token_for(settings: Settings, tokens: Tokens) -> str:
    """The token of the connection file: the last one while it is good for another month, else a new one."""
    known = read_connection(settings)
    info = tokens.owner_of(known.token) if known else None
    if known and info and info["expiry_time"] > now() + _MONTH * 1000 and info["user"] == settings.user:
        return known.token
    value, _ = tokens.create(settings.user, "lakeward workspace", 730 * 24 * 3600)
    return value


def settle(store: Store) -> None:
    """Whatever was going on when the last server ended is over: nothing is active for ever."""
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
    run_states.abandon(run, LOST, now())
