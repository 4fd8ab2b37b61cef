"""Start the JVM without spark-submit's overhead.

spark-submit is a shell script that starts a JVM to compute the command line of the real one. For a local
master that command line is always the same, so it is built from what Spark printed once.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write
from lakeward.errors import SessionError
from lakeward.session.cache import cache_dir
from lakeward.session.jvm.class_data_sharing import class_options
from lakeward.session.jvm.java_runtime import find_java
from lakeward.session.jvm.launch_files import argument_file, properties_file, submit_arguments
from lakeward.session.worker_paths import worker_python_path

# Our classes are not on the class path while spark-submit resolves its own arguments.
_NOT_YET = ("spark.hadoop.", "spark.sql.", "spark.delta.", "spark.databricks.")
# Avoids a warning on every start about a module that only machine learning uses.
_INCUBATOR = "--add-modules=jdk.incubator.vector"


def start_gateway(conf: Mapping[str, str], version: str) -> Any:
    """Start a JVM that ends with this process and return its gateway. `version` names Spark's for the cache.

    Raises SetupError without Java, SessionError if the JVM does not start.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = direct_command(conf, version, folder)
        if command is not None:
            process, port, secret = _handshake(command, folder)
            gateway = connect(port, secret)
            # The JVM exits when this pipe closes: keep it as long as the gateway.
            gateway.proc = process
            return gateway
        gateway = _by_spark_submit(_at_start(conf), folder)
    if is_plain(conf):
        options = gateway.jvm.org.apache.spark.launcher.JavaModuleOptions.defaultModuleOptions()
        _remember(_options_file(version), options)
    return gateway


def direct_command(conf: Mapping[str, str], version: str, folder: Path) -> list[str] | None:
    """Return the command line of the JVM; None if only spark-submit can compute it. Sets JAVA_HOME.

    The settings are in files in `folder`, which only this user may read. Raises SetupError without Java.
    """
    java = find_java()
    os.environ["JAVA_HOME"] = str(java.parent.parent)
    options = _options_file(version)
    if not is_plain(conf) or not options.exists():
        return None
    class_path = f"{spark_home()}/conf:{spark_home()}/jars/*"
    command = [str(java), "-cp", class_path, f"-Xmx{conf.get('spark.driver.memory', '1g')}"]
    command += argument_file(shlex.split(conf.get("spark.driver.extraJavaOptions", "")), folder)
    command += [o for o in shlex.split(options.read_text(encoding="utf-8")) if o != _INCUBATOR]
    command += class_options(java, class_path, version)
    command += ["org.apache.spark.deploy.SparkSubmit", *properties_file(_at_start(conf), folder)]
    return [*command, "pyspark-shell"]


def _at_start(conf: Mapping[str, str]) -> dict[str, str]:
    # spark-submit warns about settings with other names; the context applies them later.
    return {k: v for k, v in conf.items() if k.startswith("spark.") and not k.startswith(_NOT_YET)}


def _options_file(version: str) -> Path:
    return cache_dir() / "java" / f"options-{version}"


def spark_home() -> str:
    """Return the folder of the Spark that PySpark starts."""
    from pyspark.find_spark_home import _find_spark_home

    return str(_find_spark_home())


def is_plain(conf: Mapping[str, str]) -> bool:
    """Return whether only lakeward's own settings decide how the JVM starts."""
    if any(
        os.environ.get(v)
        for v in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "PYSPARK_GATEWAY_PORT")
    ):
        return False
    # Executors in other processes need the environment that spark-submit's script sets.
    is_local = re.fullmatch(r"local(\[.*\])?", conf.get("spark.master", ""))
    return is_local is not None and "spark.jars.packages" not in conf


def _remember(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, text)
    except OSError:
        return  # only the next start is slower


def _by_spark_submit(conf: Mapping[str, str], folder: Path) -> Any:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    before = os.environ.get("PYSPARK_SUBMIT_ARGS")
    os.environ["PYSPARK_SUBMIT_ARGS"] = submit_arguments(conf, folder, before or "")
    try:
        return launch_gateway()  # type: ignore[no-untyped-call]  # PySpark types it not
    except PySparkRuntimeError as error:
        packages = conf.get("spark.jars.packages")
        raise _without_packages(packages) if packages else _not_started(str(error)) from None
    finally:
        if before is None:
            del os.environ["PYSPARK_SUBMIT_ARGS"]
        else:
            os.environ["PYSPARK_SUBMIT_ARGS"] = before


def _without_packages(packages: str) -> SessionError:
    # The JVM resolves them first, and prints those that it did not find.
    return SessionError(
        "JVM_NOT_STARTED",
        f"Spark's JVM did not come up with the packages {packages}.",
        next_step="Its own message is above. Packages come from Maven Central; "
        "spark.jars.repositories or spark.jars.ivySettings names another place.",
    )


def _not_started(reason: str) -> SessionError:
    return SessionError(
        "JVM_NOT_STARTED",
        f"Spark's JVM did not come up: {reason.rstrip('.')}.",
        next_step="Its own message is above; with LAKEWARD_LOG_LEVEL=info it says more.",
    )


def connect(port: int, secret: str) -> Any:
    """Return PySpark's gateway to the JVM that listens on local `port`."""
    from pyspark.java_gateway import launch_gateway

    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = str(port), secret
    try:
        gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]  # PySpark types it not
        # Java releases Python objects by number and notifies the currently connected process. A JVM that
        # served another process before once released this process's first object by mistake.
        gateway.gateway_property.pool.next_id = time.time_ns()
        return gateway
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]


def _handshake(command: list[str], folder: Path) -> tuple[subprocess.Popen[bytes], int, str]:
    """Start the JVM and read the port of its gateway."""

    def start(env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            # Spark starts some Python processes without an environment, such as the look-up of data sources.
            env={**os.environ, **env, "PYTHONPATH": worker_python_path()},
            preexec_fn=_ignore_interrupts,  # noqa: PLW1509  # as PySpark: Ctrl-C is for Python to handle
        )

    return handshake(start, folder)


def handshake(
    start: Callable[[Mapping[str, str]], subprocess.Popen[bytes]], folder: Path
) -> tuple[subprocess.Popen[bytes], int, str]:
    """Start a JVM with `start(environment)`; return the process, and the port and secret of its gateway.

    The environment is added to the JVM's own. The JVM writes its port into `folder`. Raises SessionError if
    it does not start.
    """
    connection_file = folder / "connection"
    process = start(
        {
            "SPARK_HOME": spark_home(),
            "SPARK_CONNECT_MODE": "0",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(connection_file),
        }
    )
    while not connection_file.exists():
        if process.poll() is not None:
            if process.stdin is not None:
                process.stdin.close()
            raise _not_started(f"it ended with exit code {process.returncode}")
        time.sleep(0.02)
    content = connection_file.read_bytes()
    port = int.from_bytes(content[:4], "big")
    length = int.from_bytes(content[4:8], "big")
    return process, port, content[8 : 8 + length].decode()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
