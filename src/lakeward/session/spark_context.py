"""Start Spark: one JVM, one context, with all of lakeward's settings before the first query."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from lakeward.errors import SetupError
from lakeward.patching import original
from lakeward.private_folders import private_folder, private_temporary_folder
from lakeward.session import daemon
from lakeward.session.cache import cache_dir
from lakeward.session.configuration import session_conf as confs
from lakeward.session.configuration.user_conf import from_submit_args
from lakeward.session.declared_catalogs import BUILT_IN_CATALOGS
from lakeward.session.hive_warehouse import link_hive_schemas
from lakeward.session.jvm import shared_jvm
from lakeward.session.jvm.interrupts import cancel_on_interrupt
from lakeward.session.jvm.jars import packaged_folders, pinned_jars
from lakeward.session.jvm.jvm_jar import compile_jar, jar_path
from lakeward.session.jvm.jvm_launcher import spark_home, start_gateway
from lakeward.session.jvm.unavailable_packages import start_with_packages
from lakeward.session.patches import numpy_import_patch
from lakeward.session.path_rules import paths_are_dbfs
from lakeward.session.paths import PathMap
from lakeward.session.runtimes.profiles import get_profile
from lakeward.session.settings import Settings
from lakeward.session.worker_paths import point_workers
from lakeward.spark_internals import (
    conf_from_java,
    current_gateway,
    hadoop_conf_of,
    jvm_view,
    new_conf,
    scala_context,
    session_state,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def known_catalogs(settings: Settings) -> list[str]:
    """Return the built-in catalogs, the session's own, and those of the warehouse.

    A built-in catalog gets its folder with its first schema.
    """
    names = {*BUILT_IN_CATALOGS, settings.catalog}
    if settings.warehouse.is_dir():
        # A user's warehouse may contain Spark's own folders, such as `sales.db`.
        names |= {p.name for p in settings.warehouse.iterdir() if p.is_dir() and "." not in p.name}
    return sorted(names - {"spark_catalog"})


def _prepare_process(settings: Settings, conf: Mapping[str, str]) -> None:
    """Set what Python and its workers need before the JVM starts."""
    numpy_import_patch.install_numpy_import_patch()
    os.environ["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON") or sys.executable
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("SPARK_USER", settings.user)  # the result of current_user()
    if conf.get("spark.sql.session.timeZone") == "Etc/UTC" and "TZ" not in os.environ:
        # collect() returns naive datetimes in the process's time zone; on Databricks that is UTC.
        os.environ["TZ"] = "Etc/UTC"
        time.tzset()
    # PySpark logs every SQL error as a JSON line in addition to the exception.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        private_folder(settings.state)
        for folder in (settings.warehouse, settings.volumes, settings.dbfs, settings.workspace):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupError(
            "STATE_FOLDER_NOT_WRITABLE",
            f"The state folder {settings.state} cannot be made: {error.strerror}.",
            next_step="Set LAKEWARD_HOME to a folder that can be written.",
        ) from None


def _versions() -> str:
    return f"spark {version('pyspark')} delta {version('delta-spark')}"


def _our_jar() -> Path:
    return jar_path(cache_dir(), _versions(), packaged_folders())


def _conf(settings: Settings, user_conf: Mapping[str, str]) -> dict[str, str]:
    users = {**settings.conf, **user_conf}
    base = confs.base_conf(
        settings,
        jars=[*pinned_jars(), _our_jar()],
        paths=PathMap.of(settings).entries,
        catalogs=known_catalogs(settings),
        cores=confs.available_cores(),
        connector=confs.has_connector(users, Path(spark_home())),
    )
    # Spark's shuffle files are readable for every user.
    temporary = private_temporary_folder()
    if temporary is not None:
        base["spark.local.dir"] = str(temporary)
    conf = confs.merge_conf(base, users)
    if re.fullmatch(r"local(\[.*\])?", conf["spark.master"]):
        # Other users can reach Spark's ports on loopback. A local master creates a secret for them.
        conf.setdefault("spark.authenticate", "true")
    return conf


def start_jvm(settings: Settings, conf: Mapping[str, str] | None = None) -> Any:
    """Return the gateway of a JVM with lakeward's classes, started on first use, without a Spark context."""

    wanted = dict(conf or _conf(settings, {}))
    _prepare_process(settings, wanted)
    jar = _our_jar()
    gateway: Any = current_gateway()
    compiled = jar.exists()
    if gateway is None:
        if not compiled:
            wanted["spark.jars"] = ",".join(j for j in wanted["spark.jars"].split(",") if j != str(jar))
        elif daemon.is_wanted():
            gateway = daemon.acquire(wanted, version=_versions(), spark=version("pyspark"))
        gateway = gateway or start_with_packages(wanted, lambda conf: start_gateway(conf, version("pyspark")))
    if not compiled:
        compile_jar(gateway.jvm, jar)
        loader = gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
        loader.addURL(gateway.jvm.java.io.File(str(jar)).toURI().toURL())
    gateway.jvm.lakeward.GatewaySockets.sendAtOnce(gateway.java_gateway_server)
    point_jvm(gateway.jvm, settings)
    return gateway


def compiled_jar() -> Path:
    """Return the jar with lakeward's Java classes, compiled in a JVM if it is missing. Raises SetupError."""
    jar = _our_jar()
    if not jar.exists():
        with TemporaryDirectory() as home:
            start_jvm(Settings.here().with_(home=Path(home)))
    return jar


def point_jvm(jvm: Any, settings: Settings) -> None:
    """Point the JVM at the folders of a lakehouse."""
    link_hive_schemas(settings.warehouse)
    entries = PathMap.of(settings).entries
    jvm.lakeward.LakehouseSettings.use(confs.folder_text(settings.warehouse), confs.path_map_text(entries))


def apply_path_rule(spark: SparkSession) -> None:
    """Let Spark resolve paths without a scheme as DBFS or local paths, see `path_rules`.

    A default file system chosen by the user is kept.
    """
    conf = hadoop_conf_of(spark.sparkContext)
    ours = ("file:///", "dbfs:///")
    wanted = ours[paths_are_dbfs()]
    if conf.get("fs.defaultFS") in ours and conf.get("fs.defaultFS") != wanted:
        conf.set("fs.defaultFS", wanted)


def context_parts(settings: Settings, user_conf: Mapping[str, str]) -> dict[str, Any]:
    """Return the arguments of the SparkContext for `settings`: gateway, conf and the daemon's context.

    `user_conf` overrides ours. Raises SetupError (Java, jars, state folder).
    """
    shared = shared_jvm.shared_gateway()
    if shared is not None:
        _prepare_process(settings, get_profile(settings.profile).conf())
        return shared_jvm.shared_context_parts(shared)
    submitted, rest = from_submit_args(os.environ.get("PYSPARK_SUBMIT_ARGS", ""))
    conf = _conf(settings, {**submitted, **user_conf})
    with _submit_args(rest):
        gateway = start_jvm(settings, conf)
    # File system instances cached during start-up are unmapped and would write to the real paths.
    gateway.jvm.org.apache.hadoop.fs.FileSystem.closeAll()
    lease = daemon.current_lease()
    there = lease.find_context(conf) if lease else None
    if there is not None:
        return {"gateway": gateway, "conf": conf_from_java(there.getConf()), "jsc": there}
    return {"gateway": gateway, "conf": new_conf(gateway, conf)}


@contextmanager
def _submit_args(rest: str) -> Iterator[None]:
    """Return the arguments without those that became settings: spark-submit would resolve Delta twice."""
    before = os.environ.get("PYSPARK_SUBMIT_ARGS")
    if before is None:
        yield
        return
    if rest in ("", "pyspark-shell"):
        del os.environ["PYSPARK_SUBMIT_ARGS"]
    else:
        os.environ["PYSPARK_SUBMIT_ARGS"] = rest
    try:
        yield
    finally:
        os.environ["PYSPARK_SUBMIT_ARGS"] = before


def after_context(context: Any, settings: Settings) -> None:
    """Complete the set-up of a newly started context."""
    lease = daemon.current_lease()
    if lease:
        lease.record_context(context)
    point_workers(context, PathMap.of(settings), stay=lease is None, bind_mounts=settings.bind_mounts)
    cancel_on_interrupt(context, shared_jvm.shared_gateway())


def session_of(context: Any) -> SparkSession:
    """Return the session of a new context."""
    from pyspark.sql import SparkSession

    session = SparkSession(context)
    if shared_jvm.shared_gateway() is None:
        return session
    # Not the owner's default session: temporary views and settings of tasks are isolated.
    fresh: SparkSession = original(SparkSession, "newSession")(session)
    return fresh


def launch(settings: Settings, user_conf: Mapping[str, str]) -> SparkSession:
    """Start a Spark context and a new session for `settings`; arguments and errors as of `context_parts`."""
    from pyspark import SparkContext

    context = SparkContext(**context_parts(settings, user_conf))
    after_context(context, settings)
    return session_of(context)


def point_at(spark: SparkSession, settings: Settings, before: Settings) -> SparkSession:
    """Return a session of the running context on another lakehouse: warehouse, paths and catalogs.

    `before` are the settings of `spark`. The runtime profile's settings are applied only if the profile
    changes, because the user may have started the context with other values.
    """
    point_context(spark, settings)
    session: SparkSession = original(type(spark), "newSession")(spark)
    session.conf.set("spark.sql.defaultCatalog", settings.catalog)
    if settings.profile != before.profile:
        for key, value in get_profile(settings.profile).conf().items():
            session.conf.set(key, value)
    modifiable = session_state(session).conf().isModifiable
    for key, value in settings.conf.items():
        if modifiable(key):  # settings of the JVM cannot be changed
            session.conf.set(key, value)
    return session


def point_context(spark: SparkSession, settings: Settings) -> None:
    """Point the running context and this process at a lakehouse; sessions that exist keep their catalogs."""
    _prepare_process(settings, {})
    point_jvm(jvm_view(spark), settings)
    point_workers(
        spark.sparkContext,
        PathMap.of(settings),
        stay=daemon.current_lease() is None,
        bind_mounts=settings.bind_mounts,
    )
    context_conf = scala_context(spark.sparkContext).conf()
    hadoop_conf = hadoop_conf_of(spark.sparkContext)
    running = dict(spark.sparkContext.getConf().getAll())
    file_systems = confs.file_system_conf(
        PathMap.of(settings).entries, connector=confs.has_connector(running, Path(spark_home()))
    )
    for key, value in {**confs.catalog_conf(known_catalogs(settings)), **file_systems}.items():
        context_conf.set(key, value)
        if key.startswith("spark.hadoop."):
            hadoop_conf.set(key.removeprefix("spark.hadoop."), value)
