"""Start the JVM without spark-submit's overhead.

spark-submit is a shell script that starts a JVM to compute the command line of the real one. For a local
master that command line is always the same, so it is built from what Spark printed once.

The command line of a process is visible to every user of the machine, and a setting may be a secret
(`spark_conf` with `{{secrets/scope/key}}`). Settings are therefore passed in files of mode 600, which are
removed after the JVM has read them.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lakeward.atomic_files import atomic_write
from lakeward.errors import SessionError
from lakeward.session.cache import cache_dir
from lakeward.session.jvm.class_data_sharing import class_options
from lakeward.session.jvm.java_runtime import find_java
from lakeward.session.worker_paths import worker_python_path

# Our classes are not on the class path while spark-submit resolves its own arguments.
_NOT_YET = ("spark.hadoop.", "spark.sql.", "spark.delta.", "spark.databricks.")
# Avoids a warning on every start about a module that only machine learning uses.
_INCUBATOR = "--add-modules=jdk.incubator.vector"
_PROPERTIES = "--properties-file"
# Without it, spark-submit ignores conf/spark-defaults.conf when it is given a file.
_DEFAULTS = "--load-spark-defaults"


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
        gateway = _launch_spark_submit(_start_settings(conf), folder)
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
    command += ["org.apache.spark.deploy.SparkSubmit", *properties_file(_start_settings(conf), folder)]
    return [*command, "pyspark-shell"]


def _start_settings(conf: Mapping[str, str]) -> dict[str, str]:
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


def _launch_spark_submit(conf: Mapping[str, str], folder: Path) -> Any:
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    before = os.environ.get("PYSPARK_SUBMIT_ARGS")
    os.environ["PYSPARK_SUBMIT_ARGS"] = submit_arguments(conf, folder, before or "")
    try:
        return launch_gateway()  # type: ignore[no-untyped-call]  # PySpark types it not
    except PySparkRuntimeError as error:
        packages = conf.get("spark.jars.packages")
        raise _packages_error(packages) if packages else _start_error(str(error)) from None
    finally:
        if before is None:
            del os.environ["PYSPARK_SUBMIT_ARGS"]
        else:
            os.environ["PYSPARK_SUBMIT_ARGS"] = before


def _packages_error(packages: str) -> SessionError:
    # The JVM resolves them first, and prints those that it did not find.
    return SessionError(
        "JVM_NOT_STARTED",
        f"Spark's JVM did not come up with the packages {packages}.",
        next_step="Its own message is above. Packages come from Maven Central; "
        "spark.jars.repositories or spark.jars.ivySettings names another place.",
    )


def _start_error(reason: str) -> SessionError:
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
    try:
        while not connection_file.exists():
            if process.poll() is not None:
                raise _start_error(f"it ended with exit code {process.returncode}")
            time.sleep(0.02)
    except BaseException:
        end_unused(process)
        raise
    content = connection_file.read_bytes()
    port = int.from_bytes(content[:4], "big")
    length = int.from_bytes(content[4:8], "big")
    return process, port, content[8 : 8 + length].decode()


def end_unused(process: subprocess.Popen[bytes]) -> None:
    """Kill a JVM whose start was interrupted.

    Its input has ended, but it does not: it fails to write its port into a folder that has been removed, and
    threads of its gateway keep it.
    """
    process.kill()
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def properties_file(conf: Mapping[str, str], folder: Path, *, included: str | None = None) -> list[str]:
    """Write the settings for spark-submit into `folder`; return the options that name the file.

    `included` is the content of another properties file, over which `conf` wins; without it, the settings of
    conf/spark-defaults.conf apply as they do for settings on the command line.
    """
    file = folder / "spark.properties"
    lines = [f"{_escape(name)}={_escape(value)}\n" for name, value in conf.items()]
    atomic_write(file, "".join([f"{included or ''}\n", *lines]), mode=0o600)
    return [_PROPERTIES, str(file), *([_DEFAULTS] if included is None else [])]


def submit_arguments(conf: Mapping[str, str], folder: Path, rest: str) -> str:
    """Return PYSPARK_SUBMIT_ARGS that pass `conf` in a file, followed by the user's own arguments `rest`.

    A properties file that `rest` names is included in ours: spark-submit takes only one.
    """
    words = shlex.split(rest) or ["pyspark-shell"]
    named = [word.partition("=")[2] for word in words if word.startswith(f"{_PROPERTIES}=")]
    words = [word for word in words if not word.startswith(f"{_PROPERTIES}=")]
    while _PROPERTIES in words[:-1]:
        at = words.index(_PROPERTIES)
        named.append(words[at + 1])
        del words[at : at + 2]
    included = Path(named[-1]).read_text(encoding="utf-8") if named else None
    return shlex.join([*properties_file(conf, folder, included=included), *words])


def argument_file(options: Iterable[str], folder: Path) -> list[str]:
    """Write options of the JVM into `folder`; return the argument that makes `java` read them.

    https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html#java-command-line-argument-files
    """
    text = "".join(f"{_quote(option)}\n" for option in options)
    if not text:
        return []
    file = folder / "java.options"
    atomic_write(file, text, mode=0o600)
    return [f"@{file}"]


def _quote(option: str) -> str:
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t") + '"'


def _escape(text: str) -> str:
    """Escape text for `java.util.Properties`."""
    return "".join(_PROPERTY_ESCAPES.get(char, char) for char in text)


_PROPERTY_ESCAPES = {
    **{char: f"\\{char}" for char in "\\ =:#!"},
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\f": "\\f",
}
