"""Get a resident JVM for this process: policy, compatibility key, start or lease."""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.errors import SessionError
from lakeward.session.jvm.java_runtime import find_java
from lakeward.session.jvm.jvm_launcher import connect, direct_command, handshake, is_plain, spark_home
from lakeward.session.resident.lease import Lease, hold
from lakeward.session.resident.registry import (
    Record,
    end,
    forget,
    is_running,
    keep,
    load,
    mark,
    place,
    starting_one,
)
from lakeward.session.resident.working_directory import absolute_path, stand_here

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
        if load(file) not in (record, None):  # another process was faster
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
        with socket.create_connection((_LOOPBACK, record.port), timeout=_PATIENCE) as connection:
            connection.settimeout(_PATIENCE)
            connection.sendall(f"A\n{record.secret}\n".encode())
            return connection.recv(16).startswith(b"!y")
    except OSError:
        return False


def _level() -> str:
    return os.environ.get("LAKEWARD_LOG_LEVEL") or "off"


def _started(file: Path, conf: Mapping[str, str], spark: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        command = direct_command(conf, spark, Path(folder))
        return None if command is None else _started_by(command, file, Path(folder))


def _started_by(command: list[str], file: Path, folder: Path) -> Any:
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
        process, port, secret = handshake(start, folder)
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


# The session takes these again for every command; the rest is decided when the JVM or its context starts.
WHATEVER = ("spark.sql.", "spark.databricks.", "spark.delta.", "spark.hadoop.", "spark.app.name")
_FILES = ("spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles")
# Java, Spark and Hadoop's clients read these themselves. Everything else reaches Python workers only, which
# get the command's own environment.
_READ = re.compile(
    r"SPARK_|HADOOP_|YARN_|AWS_|AZURE_|GOOGLE_|GCS_|JDK_|_JAVA_|JAVA_(?!HOME$)|LC_|LANG$|LANGUAGE$|TZ$"
    r"|(?:DY)?LD_|KRB5"
)
_NEEDED = ("HOME", "PATH", "USER", "LOGNAME", "SHELL", "TMPDIR", "JAVA_HOME")


def jvm_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment that the JVM starts with: what it reads itself, and nothing of the command's own."""
    return {name: value for name, value in environ.items() if name in _NEEDED or _READ.match(name)}


def absolute(conf: Mapping[str, str], folder: Path) -> dict[str, str]:
    """`conf` with the relative paths of files resolved against `folder`, where the command stands.

    >>> absolute({"spark.files": "a.txt,hdfs:/b,/c"}, Path("/here"))
    {'spark.files': '/here/a.txt,hdfs:/b,/c'}
    """
    return {
        name: ",".join(absolute_path(path, folder) for path in value.split(",")) if name in _FILES else value
        for name, value in conf.items()
    }


def key(conf: Mapping[str, str], *, environ: Mapping[str, str], java: Path, version: str) -> str:
    """The name of the JVM that serves a session with `conf`, given absolute paths.

    `version` names lakeward, Spark and Delta. Our own classes count through the jar in `spark.jars`.
    """
    fixed = {
        name: value
        for name, value in conf.items()
        if name.startswith("spark.") and not name.startswith(WHATEVER)
    }
    read = {name: value for name, value in jvm_environment(environ).items() if name not in _NEEDED}
    parts = [version, socket.gethostname(), str(java), sorted(fixed.items()), sorted(read.items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


_OFF = ("", "0", "false", "no")

_by_command = False


def use_resident() -> None:
    """Say that this process is a command of ours: it uses a resident JVM where the environment allows it."""
    global _by_command  # noqa: PLW0603  # said once, before the session exists
    _by_command = True


def is_wanted(environ: Mapping[str, str] = os.environ, *, by_command: bool | None = None) -> bool:
    """Whether this process is to use one.

    Never in CI (CI is set) and never with LAKEWARD_COLD=1. Else LAKEWARD_RESIDENT=1 and 0 decide; without
    it our own commands do, but not below pytest, whose tests would share what they are to keep apart.
    """
    if _is_on(environ.get("CI")) or _is_on(environ.get("LAKEWARD_COLD")):
        return False
    if "LAKEWARD_RESIDENT" in environ:
        return _is_on(environ["LAKEWARD_RESIDENT"])
    if "PYTEST_CURRENT_TEST" in environ or "PYTEST_VERSION" in environ:
        return False
    return _by_command if by_command is None else by_command


def _is_on(value: str | None) -> bool:
    return value is not None and value.strip().lower() not in _OFF
