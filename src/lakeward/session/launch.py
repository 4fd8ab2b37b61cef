"""Starting Spark: one JVM, one context, with everything of ours in place before the first query."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import SessionError
from lakeward.session import conf as confs
from lakeward.session.cache import cache_dir
from lakeward.session.compiler import compile_jar, jar_path
from lakeward.session.gateway import start_gateway
from lakeward.session.jars import delta_jars
from lakeward.session.paths import PathMap
from lakeward.session.settings import Settings
from lakeward.session.worker_paths import point_workers

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["launch", "point_at", "start_jvm"]


def known_catalogs(settings: Settings) -> list[str]:
    """Catalogs that exist in the warehouse, the session's own and `main`."""
    names = {"main", settings.catalog}
    if settings.warehouse.is_dir():
        names |= {p.name for p in settings.warehouse.iterdir() if p.is_dir() and not p.name.startswith(".")}
    return sorted(names - {"spark_catalog"})


def _prepare_process(settings: Settings, conf: Mapping[str, str]) -> None:
    """What Python and its workers must have before the JVM starts."""
    os.environ["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON") or sys.executable
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if conf.get("spark.sql.session.timeZone") == "Etc/UTC" and "TZ" not in os.environ:
        # collect() gives naive datetimes in the process's zone; on Databricks that is UTC.
        os.environ["TZ"] = "Etc/UTC"
        time.tzset()
    # Spark's Python side repeats every SQL error as a JSON line; the exception says it already.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    for folder in (settings.warehouse, settings.volumes, settings.dbfs, settings.workspace):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SessionError(
                "STATE_FOLDER_NOT_WRITABLE",
                f"The state folder {settings.state} cannot be made: {error.strerror}.",
                next_step="Set LAKEWARD_HOME to a folder that can be written.",
            ) from None


def _our_jar() -> Path:
    return jar_path(cache_dir(), f"spark {version('pyspark')} delta {version('delta-spark')}")


def _conf(settings: Settings, user_conf: Mapping[str, str]) -> dict[str, str]:
    base = confs.base_conf(
        settings,
        jars=[*delta_jars(), _our_jar()],
        paths=PathMap.of(settings).entries,
        catalogs=known_catalogs(settings),
        cores=confs.cores(),
    )
    return confs.merged(base, {**settings.conf, **user_conf})


def start_jvm(settings: Settings, conf: Mapping[str, str] | None = None) -> Any:
    """The gateway to a JVM that knows our classes, started on first use. No Spark context yet."""
    from pyspark import SparkContext

    wanted = dict(conf or _conf(settings, {}))
    _prepare_process(settings, wanted)
    jar = _our_jar()
    gateway: Any = SparkContext._gateway
    compiled = jar.exists()
    if gateway is None:
        if not compiled:
            wanted["spark.jars"] = ",".join(j for j in wanted["spark.jars"].split(",") if j != str(jar))
        gateway = start_gateway(wanted, version("pyspark"))
    if not compiled:
        compile_jar(gateway.jvm, jar)
        loader = gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
        loader.addURL(gateway.jvm.java.io.File(str(jar)).toURI().toURL())
    _point_jvm(gateway.jvm, settings)
    return gateway


def _point_jvm(jvm: Any, settings: Settings) -> None:
    entries = PathMap.of(settings).entries
    jvm.lakeward.Home.use(settings.warehouse.as_uri(), confs.path_map_text(entries))


def launch(settings: Settings, user_conf: Mapping[str, str]) -> SparkSession:
    """A new Spark context and session for `settings`; `user_conf` wins over ours.

    Raises SetupError (Java, jars), SessionError (state folder).
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    conf = _conf(settings, user_conf)
    gateway = start_jvm(settings, conf)
    # An instance of an unmapped file system, cached while the JVM started, would write to the real paths.
    gateway.jvm.org.apache.hadoop.fs.FileSystem.closeAll()
    spark_conf = SparkConf(loadDefaults=False, _jvm=gateway.jvm)
    for key, value in conf.items():
        spark_conf.set(key, value)
    context = SparkContext(gateway=gateway, conf=spark_conf)
    point_workers(context, PathMap.of(settings))
    return SparkSession(context)


def point_at(spark: SparkSession, settings: Settings) -> SparkSession:
    """A session of the running context on another lakehouse: its warehouse, paths and catalogs."""
    _prepare_process(settings, {})
    _point_jvm(spark._jvm, settings)
    point_workers(spark.sparkContext, PathMap.of(settings))
    context_conf = spark.sparkContext._jsc.sc().conf()
    for key, value in confs.catalog_conf(known_catalogs(settings)).items():
        context_conf.set(key, value)
    session = spark.newSession()
    session.conf.set("spark.sql.defaultCatalog", settings.catalog)
    modifiable = session._jsparkSession.sessionState().conf().isModifiable
    for key, value in settings.conf.items():
        if modifiable(key):  # what the JVM was started with stays as it is
            session.conf.set(key, value)
    return session
