"""Starting the JVM itself, fast.

spark-submit is a shell script that starts a JVM to compute the command line of the real one. For a
local master that command line is always the same, so it is made here from what Spark told once.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakeward.errors import SessionError
from lakeward.session.cache import cache_dir
from lakeward.session.classes import class_options
from lakeward.session.java import find_java

__all__ = ["start_gateway"]

# Our classes are not on the class path while spark-submit resolves its own arguments.
_NOT_YET = ("spark.hadoop.", "spark.sql.", "spark.delta.", "spark.databricks.")
# A warning on every start, for a module that only machine learning profits from.
_INCUBATOR = "--add-modules=jdk.incubator.vector"


def start_gateway(conf: Mapping[str, str], version: str) -> Any:
    """The gateway to a new JVM that dies with this process. `version` names Spark's for the cache.

    Raises SetupError when there is no Java, SessionError when the JVM does not come up.
    """
    java = find_java()
    os.environ["JAVA_HOME"] = str(java.parent.parent)
    # spark-submit complains about settings of other names; the context takes them later.
    at_start = {k: v for k, v in conf.items() if k.startswith("spark.") and not k.startswith(_NOT_YET)}
    options = cache_dir() / "java" / f"options-{version}"
    if not _is_plain(conf):
        return _by_spark_submit(at_start)
    if not options.exists():
        gateway = _by_spark_submit(at_start)
        _remember(options, gateway.jvm.org.apache.spark.launcher.JavaModuleOptions.defaultModuleOptions())
        return gateway
    return _directly(java, at_start, options.read_text(encoding="utf-8"), version)


def _is_plain(conf: Mapping[str, str]) -> bool:
    """Whether nothing but our own settings decides how the JVM starts."""
    if any(
        os.environ.get(v)
        for v in ("SPARK_HOME", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "PYSPARK_GATEWAY_PORT")
    ):
        return False
    return conf.get("spark.master", "").startswith("local") and "spark.jars.packages" not in conf


def _remember(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{os.getpid()}")
        aside.write_text(text, encoding="utf-8")
        aside.replace(path)
    except OSError:
        return  # only the next start's speed is lost


def _by_spark_submit(conf: Mapping[str, str]) -> Any:
    from pyspark import SparkConf
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    spark_conf = SparkConf(loadDefaults=False)
    for key, value in conf.items():
        spark_conf.set(key, value)
    try:
        return launch_gateway(conf=spark_conf)  # type: ignore[no-untyped-call]  # PySpark types it not
    except PySparkRuntimeError as error:
        raise _not_started(str(error)) from None


def _not_started(reason: str) -> SessionError:
    return SessionError(
        "JVM_NOT_STARTED",
        f"Spark's JVM did not come up: {reason}.",
        next_step="Its own message is above; with LAKEWARD_LOG_LEVEL=info it says more.",
    )


def _directly(java: Path, conf: Mapping[str, str], module_options: str, version: str) -> Any:
    from pyspark.find_spark_home import _find_spark_home
    from pyspark.java_gateway import launch_gateway

    home = Path(_find_spark_home())
    class_path = f"{home}/conf:{home}/jars/*"
    command = [str(java), "-cp", class_path, f"-Xmx{conf.get('spark.driver.memory', '1g')}"]
    command += shlex.split(conf.get("spark.driver.extraJavaOptions", ""))
    command += [option for option in shlex.split(module_options) if option != _INCUBATOR]
    command += class_options(java, class_path, version)
    command += ["org.apache.spark.deploy.SparkSubmit"]
    for key, value in conf.items():
        command += ["--conf", f"{key}={value}"]
    process, port, secret = _handshake([*command, "pyspark-shell"], home)
    os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"] = str(port), secret
    try:
        gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]  # PySpark types it not
    finally:
        del os.environ["PYSPARK_GATEWAY_PORT"], os.environ["PYSPARK_GATEWAY_SECRET"]
    # The JVM ends when this pipe closes: keep it as long as the gateway.
    gateway.proc = process
    return gateway


def _handshake(command: list[str], home: Path) -> tuple[subprocess.Popen[bytes], int, str]:
    """Start the JVM and learn from it where its gateway listens."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "connection"
        env = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_CONNECT_MODE": "0",
            "_PYSPARK_DRIVER_CONN_INFO_PATH": str(told),
        }
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            env=env,
            preexec_fn=_ignore_interrupts,  # noqa: PLW1509  # as PySpark: Ctrl-C is for Python to handle
        )
        while not told.exists():
            if process.poll() is not None:
                raise _not_started(f"it ended with exit code {process.returncode}")
            time.sleep(0.02)
        content = told.read_bytes()
    port = int.from_bytes(content[:4], "big")
    length = int.from_bytes(content[4:8], "big")
    return process, port, content[8 : 8 + length].decode()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
