"""Getting hold of a resident JVM: the one that is there, else a new one, else none."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.errors import SessionError
from lakeward.session.gateway import connect, direct_command, handshake, is_plain, spark_home
from lakeward.session.java import find_java
from lakeward.session.resident.identity import absolute, jvm_environment, key
from lakeward.session.resident.lease import Lease, hold
from lakeward.session.resident.processes import end, is_running, mark
from lakeward.session.resident.records import Record, forget, keep, load, place, starting_one
from lakeward.session.resident.standing import stand_here

__all__ = ["acquire"]

IDLE_SECONDS = 15 * 60
_LOOPBACK = "127.0.0.1"
# A live JVM answers within milliseconds; one that is stopped or swapped out is not worth the wait.
_PATIENCE = 3.0
# What `Resident.begin` says of a JVM that could not be made as new.
_ENDING = "it is ending"


def acquire(conf: Mapping[str, str], *, version: str, spark: str) -> Any:
    """The gateway to a resident JVM for a session with `conf`, held by this process until it ends.

    `version` names everything that has to be the same, `spark` Spark's own. None where there can be none or
    another process holds it: then a JVM of one's own does. Raises SetupError when there is no Java.
    """
    where = place() if is_plain(conf) else None
    if where is None:
        return None
    java = find_java()
    # Relative names of files are the command's, and the JVM may have been started elsewhere.
    wanted = absolute(conf, Path.cwd())
    # A Spark of the same version in another environment may be gone tomorrow, and its JVM with it.
    version = f"{version} in {spark_home()}"
    file = where / f"{key(wanted, environ=os.environ, java=java, version=version)}.json"
    record = load(file)
    if record is not None:
        gateway, busy = _attached(file, record)
        if gateway is not None or busy:
            return gateway
    with starting_one(file) as alone:
        if not alone:
            return None
        if load(file) not in (record, None):  # somebody was faster
            return None
        if record is not None:
            end(file, record, patience=2.0)
        forget(file)
        try:
            return _started(file, wanted, spark)
        except SessionError:
            # A JVM of one's own fails in the same way, and says why where the user sees it.
            return None


def _attached(file: Path, record: Record) -> tuple[Any, bool]:
    """The gateway, or None and whether the JVM is merely busy rather than dead."""
    if not is_running(file, record) or not Path(record.cwd).is_dir() or not _answers(record):
        return None, False
    gateway = connect(record.port, record.secret)
    refused = gateway.jvm.lakeward.Resident.begin(os.getpid(), gateway.java_gateway_server, _level())
    if refused:
        gateway.close()
        return None, refused != _ENDING
    hold(Lease(gateway, record.pid, file))
    stand_here(gateway.jvm)
    return gateway, False


def _answers(record: Record) -> bool:
    """Whether the gateway is there and knows the secret: py4j itself would wait for ever."""
    try:
        with socket.create_connection((_LOOPBACK, record.port), timeout=_PATIENCE) as asked:
            asked.settimeout(_PATIENCE)
            asked.sendall(f"A\n{record.secret}\n".encode())
            return asked.recv(16).startswith(b"!y")
    except OSError:
        return False


def _level() -> str:
    return os.environ.get("LAKEWARD_LOG_LEVEL") or "off"


def _started(file: Path, conf: Mapping[str, str], spark: str) -> Any:
    command = direct_command(conf, spark)
    if command is None:
        return None
    stdin = file.with_suffix(".stdin")
    os.mkfifo(stdin, 0o600)
    reading = os.open(stdin, os.O_RDONLY | os.O_NONBLOCK)
    # While this process alone writes to it, the JVM ends with this process.
    writing = os.open(stdin, os.O_WRONLY)
    os.set_blocking(reading, True)

    def start(env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with _log(file.with_suffix(".out")) as out, _log(file.with_suffix(".err")) as err:
            return subprocess.Popen(
                [command[0], mark(file), *command[1:]],
                stdin=reading,
                stdout=out,
                stderr=err,
                env={**jvm_environment(os.environ), **env},
                start_new_session=True,
            )

    try:
        process, port, secret = handshake(start)
        gateway = connect(port, secret)
        resident = gateway.jvm.lakeward.Resident
        resident.start(str(file), str(stdin), int(_idle_seconds() * 1000))
        refused = resident.begin(os.getpid(), gateway.java_gateway_server, _level())
    finally:
        os.close(reading)
        os.close(writing)
        stdin.unlink(missing_ok=True)
    if refused:
        raise RuntimeError(f"a JVM that was started for this process refuses it: {refused}")
    hold(Lease(gateway, process.pid, file))
    keep(file, Record(process.pid, port, secret, str(Path.cwd()), time.time()))
    # It outlives this process: nothing waits for it.
    process.returncode = 0
    return gateway


def _idle_seconds() -> float:
    try:
        return float(os.environ["LAKEWARD_RESIDENT_IDLE"])
    except (KeyError, ValueError):
        return IDLE_SECONDS


def _log(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC, 0o600), "ab")
