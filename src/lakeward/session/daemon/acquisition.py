"""Get a daemon for this process: policy, compatibility key, start or lease."""

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
from functools import wraps
from pathlib import Path
from typing import Any

from lakeward.errors import SessionError
from lakeward.patching import PatchSpec, Wrapped, install
from lakeward.session.daemon.lease import Lease, set_lease
from lakeward.session.daemon.registry import (
    Record,
    end_jvm,
    ensure_records_folder,
    identifying_option,
    is_running,
    read_record,
    remove_record,
    start_lock,
    write_record,
)
from lakeward.session.jvm.java_runtime import find_java
from lakeward.session.jvm.jvm_launcher import (
    connect,
    direct_command,
    end_unused,
    handshake,
    is_plain,
    spark_home,
)

IDLE_SECONDS = 15 * 60
_LOOPBACK = "127.0.0.1"
# A running JVM answers within milliseconds; one that is stopped or swapped out is skipped.
_PATIENCE = 3.0
# Answer of `Daemon.begin` for a JVM whose state could not be reset.
_ENDING = "it is ending"
_working_directory = Path()


def acquire(conf: Mapping[str, str], *, version: str, spark: str) -> Any:
    """Return the gateway of a daemon for a session with `conf`, leased by this process until it ends.

    `version` identifies everything that must match, `spark` the Spark version. None if no daemon can be used
    or another process holds it: the caller starts its own JVM then. Raises SetupError without Java.
    """
    folder = ensure_records_folder() if is_plain(conf) else None
    if folder is None:
        return None
    java = find_java()
    # Relative paths belong to this command, and the JVM may have another working directory.
    wanted = resolve_files(conf, Path.cwd())
    # A Spark of the same version in another environment may be deleted while its JVM runs.
    version = f"{version} in {spark_home()}"
    file = folder / f"{daemon_key(wanted, environ=os.environ, java=java, version=version)}.json"
    record = read_record(file)
    if record is not None:
        gateway, busy = _attach(file, record)
        if gateway is not None or busy:
            return gateway
    with start_lock(file) as alone:
        if not alone:
            return None
        if read_record(file) not in (record, None):  # another process was faster
            return None
        if record is not None:
            end_jvm(file, record, patience=2.0)
        remove_record(file)
        try:
            return _start(file, wanted, spark)
        except SessionError:
            # A JVM of this process fails in the same way, and prints the reason to the user.
            return None


def _attach(file: Path, record: Record) -> tuple[Any, bool]:
    """Lease the JVM of the record; return its gateway, or None and whether the JVM is busy, not dead."""
    if not is_running(file, record.pid) or not Path(record.cwd).is_dir() or not _answers(record):
        return None, False
    gateway = connect(record.port, record.secret)
    refused = gateway.jvm.lakeward.Daemon.begin(os.getpid(), gateway.java_gateway_server, _log_level())
    if refused:
        gateway.close()
        return None, refused != _ENDING
    set_lease(Lease(gateway, record.pid, file))
    use_working_directory(gateway.jvm)
    return gateway, False


def _answers(record: Record, patience: float = _PATIENCE) -> bool:
    """Return whether the gateway responds and accepts the secret: py4j itself would wait forever."""
    try:
        with socket.create_connection((_LOOPBACK, record.port), timeout=patience) as connection:
            connection.settimeout(patience)
            connection.sendall(f"A\n{record.secret}\n".encode())
            return connection.recv(16).startswith(b"!y")
    except OSError:
        return False


def find_holder(record: Record) -> int:
    """Return the id of the process that uses the JVM of the record; 0 if it waits or does not respond."""
    from py4j.protocol import Py4JError

    # One that computes with all cores may be slow to respond.
    if not _answers(record, patience=15.0):
        return 0
    gateway = connect(record.port, record.secret)
    try:
        return int(gateway.jvm.lakeward.Daemon.holderId())
    except (Py4JError, TypeError):  # a JVM of an earlier version has no such method
        return 0
    finally:
        gateway.close()


def _log_level() -> str:
    return os.environ.get("LAKEWARD_LOG_LEVEL") or "off"


def _start(file: Path, conf: Mapping[str, str], spark: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        command = direct_command(conf, spark, Path(folder))
        return None if command is None else _launch(command, file, Path(folder))


def _launch(command: list[str], file: Path, folder: Path) -> Any:
    stdin = file.with_suffix(".stdin")
    os.mkfifo(stdin, 0o600)
    reading = os.open(stdin, os.O_RDONLY | os.O_NONBLOCK)
    # As long as only this process holds the pipe, the JVM ends with this process.
    writing = os.open(stdin, os.O_WRONLY)
    os.set_blocking(reading, True)

    def start(env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        with _open_log(file.with_suffix(".out")) as out, _open_log(file.with_suffix(".err")) as err:
            return subprocess.Popen(
                [command[0], identifying_option(file), *command[1:]],
                stdin=reading,
                stdout=out,
                stderr=err,
                env={**jvm_environment(os.environ), **env},
                start_new_session=True,
            )

    try:
        process, port, secret = handshake(start, folder)
        try:
            gateway = connect(port, secret)
            java = gateway.jvm.lakeward.Daemon
            java.start(str(file), str(stdin), int(_idle_seconds() * 1000))
            refused = java.begin(os.getpid(), gateway.java_gateway_server, _log_level())
            if refused:
                raise RuntimeError(f"a JVM that was started for this process refuses it: {refused}")
            record = Record(process.pid, port, secret, str(Path.cwd()), time.time())
            write_record(file, record)
        except BaseException:  # Ctrl-C: without a record no command would find it
            end_unused(process)
            raise
    finally:
        os.close(reading)
        os.close(writing)
        stdin.unlink(missing_ok=True)
    set_lease(Lease(gateway, process.pid, file))
    # It outlives this process, which does not wait for it.
    process.returncode = 0
    return gateway


def _idle_seconds() -> float:
    try:
        return float(os.environ["LAKEWARD_DAEMON_IDLE"])
    except (KeyError, ValueError):
        return IDLE_SECONDS


def _open_log(path: Path) -> Any:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC, 0o600), "ab")


# The session applies these for every command; the others are fixed when the JVM or its context starts.
_SESSION_SETTINGS = ("spark.sql.", "spark.databricks.", "spark.delta.", "spark.hadoop.", "spark.app.name")
_FILES = ("spark.jars", "spark.files", "spark.archives", "spark.submit.pyFiles")
# Java, Spark and Hadoop's clients read these. Other variables only reach Python workers, which get the
# environment of the command.
_READ = re.compile(
    r"SPARK_|HADOOP_|YARN_|AWS_|AZURE_|GOOGLE_|GCS_|JDK_|_JAVA_|JAVA_(?!HOME$)|LC_|LANG$|LANGUAGE$|TZ$"
    r"|(?:DY)?LD_|KRB5"
)
_NEEDED = ("HOME", "PATH", "USER", "LOGNAME", "SHELL", "TMPDIR", "JAVA_HOME")


def jvm_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the JVM: the variables that it reads, and none of the command's own."""
    return {name: value for name, value in environ.items() if name in _NEEDED or _READ.match(name)}


def resolve_files(conf: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return `conf` with relative paths of files resolved against `folder`, the command's working directory.

    >>> resolve_files({"spark.files": "a.txt,hdfs:/b,/c"}, Path("/here"))
    {'spark.files': '/here/a.txt,hdfs:/b,/c'}
    """
    return {
        name: ",".join(_absolute_path(path, folder) for path in value.split(",")) if name in _FILES else value
        for name, value in conf.items()
    }


def daemon_key(conf: Mapping[str, str], *, environ: Mapping[str, str], java: Path, version: str) -> str:
    """Return the name of the daemon that serves a session with `conf`, given absolute paths.

    `version` names lakeward, Spark and Delta. Our own classes are part of it through the jar in `spark.jars`.
    """
    fixed = {
        name: value
        for name, value in conf.items()
        if name.startswith("spark.") and not name.startswith(_SESSION_SETTINGS)
    }
    read = {name: value for name, value in jvm_environment(environ).items() if name not in _NEEDED}
    parts = [version, socket.gethostname(), str(java), sorted(fixed.items()), sorted(read.items())]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


_OFF = ("", "0", "false", "no")
_by_command = False


def use_daemon() -> None:
    """Mark this process as a command of lakeward: it uses a daemon if the environment allows it."""
    global _by_command  # noqa: PLW0603  # said once, before the session exists
    _by_command = True


def is_wanted(environ: Mapping[str, str] = os.environ, *, by_command: bool | None = None) -> bool:
    """Return whether this process uses a daemon.

    Never in CI (CI is set) and never with LAKEWARD_COLD=1. Otherwise LAKEWARD_DAEMON=1 and 0 decide.
    Without it, lakeward's commands use one, but not below pytest, whose tests must not share state.
    """
    if _is_on(environ.get("CI")) or _is_on(environ.get("LAKEWARD_COLD")):
        return False
    if "LAKEWARD_DAEMON" in environ:
        return _is_on(environ["LAKEWARD_DAEMON"])
    if "PYTEST_CURRENT_TEST" in environ or "PYTEST_VERSION" in environ:
        return False
    return _by_command if by_command is None else by_command


def _is_on(value: str | None) -> bool:
    return value is not None and value.strip().lower() not in _OFF


def use_working_directory(jvm: Any) -> None:
    """Make Spark resolve relative paths against the current working directory of this process."""
    global _working_directory  # noqa: PLW0603  # one JVM a process, as in PySpark
    _working_directory = Path.cwd()
    # Spark's file systems call our Java class; these three methods resolve paths in Java before that.
    jvm.lakeward.LakehouseSettings.stand(str(_working_directory))
    install(PATCHES)


def _absolute_path(path: str, folder: Path) -> str:
    """Resolve `path` against `folder`; absolute paths and URIs are returned unchanged."""
    return path if not path or re.match(r"/|[A-Za-z][A-Za-z0-9+.-]*:", path) else str(folder / path)


def _resolving(before: Wrapped) -> Any:
    @wraps(before)
    def add(self: Any, path: Any, *arguments: Any, **named: Any) -> Any:
        return before(self, _absolute_path(str(path), _working_directory), *arguments, **named)

    return add


PATCHES = tuple(
    PatchSpec(
        "pyspark.core.context:SparkContext",
        name,
        "daemon",
        "relative paths start from the working folder of the process, not of its daemon",
        _resolving,
    )
    for name in ("addFile", "addPyFile", "addArchive")
)
