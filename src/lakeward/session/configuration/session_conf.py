"""Spark settings for a lakehouse on one machine. The user's settings always win."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from lakeward.session.configuration.user_conf import usable_settings
from lakeward.session.declared_catalogs import CATALOGS_WITH_DEFAULT
from lakeward.session.runtimes.profiles import get_profile
from lakeward.session.settings import Settings

CATALOG_CLASS = "lakeward.Catalog"
# List-valued settings: the user's entries are added to ours instead of replacing them.
_LISTS = ("spark.jars", "spark.sql.extensions")
_OPTIONS = ("spark.driver.extraJavaOptions",)
# HotSpot's defaults times 10. Its optimizing compiler took half of the processor time of small runs, on two
# cores at the expense of the tasks. Loops over many rows reach these numbers soon.
_COMPILER_OPTIONS = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=6000 "
    "-XX:Tier4CompileThreshold=150000 -XX:Tier4BackEdgeThreshold=400000"
)
CLOUD_SCHEMES = frozenset(("s3", "s3a", "abfss", "abfs", "wasbs", "gs", "r2"))
"""The schemes of external locations."""
# Hadoop has a file system for these, too.
_OLD_SCHEMES = frozenset(("s3n", "wasb", "adl"))
_JAR_SETTINGS = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")
_CONNECTORS = ("hadoop-aws", "hadoop-azure", "gcs-connector", "hadoop-gcp", "hadoop-cloud")
# Spark matches these as globs.
_INCLUDED_MODULES = (
    *("io.delta:delta-spark*", "io.delta:delta-storage*", "io.delta:delta-kernel*"),
    "org.apache.spark:spark-avro*",
)
# Spark writes the plan of each query as text for these alone. It took a twentieth of a small statement.
_READERS_OF_PLANS = ("spark.ui.enabled", "spark.eventLog.enabled")
_PLAN_TEXT = "spark.sql.ui.explainMode"
_FIXED = {
    "spark.app.name": "lakeward",
    "spark.driver.memory": "2g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    _PLAN_TEXT: "simple",
    "spark.sql.streaming.streamingQueryListeners": "lakeward.StreamSessions",
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,lakeward.Extension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.sources.default": "delta",
    # Parts of Databricks SQL that Spark has behind settings.
    "spark.sql.collation.schemaLevel.enabled": "true",
    "spark.sql.scripting.continueHandlerEnabled": "true",
    "spark.sql.scripting.cursorEnabled": "true",
    "spark.sql.timeType.enabled": "true",
    # Flows of a pipeline have pools of their own: a small one does not wait for all tasks of a large one.
    "spark.scheduler.mode": "FAIR",
    # The defaults start 10,000 listing tasks per VACUUM, and one job per folder of a file stream.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "4",
    "spark.databricks.delta.snapshotPartitions": "2",
    # An update of some datasets runs more generated classes than Spark keeps (100): each update compiled
    # the same ones again.
    "spark.sql.codegen.cache.maxEntries": "2000",
    # The hash table of a broadcast join takes at least one page, and it is kept until the whole heap is
    # collected. Spark's size for this heap is 16 MB, also for ten rows.
    "spark.buffer.pageSize": "2m",
    # Partitions of non-Delta tables are found by listing: the catalog is the folder, not a database.
    "spark.sql.hive.manageFilesourcePartitions": "false",
    # FileContext bypasses fs.<scheme>.impl, and with it the path mapping.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    # Spark 4.2 passes a file's columnar batches to a Python UDF and hangs, in plain PySpark too.
    "spark.sql.execution.arrow.pythonUDF.columnarInput.enabled": "false",
    "spark.python.daemon.module": "lakeward.session.worker_daemon",
}
"""Settings of every session."""


def path_map_text(entries: Iterable[tuple[str, str]]) -> str:
    """Return the mapping in the JVM's format: `prefix TAB folder`, one per line."""
    return "\n".join(f"{prefix}\t{folder}" for prefix, folder in entries)


def folder_text(folder: Path) -> str:
    """Return a local folder as a Hadoop path. Hadoop decodes `%20`, so percent signs are escaped."""
    return f"file://{folder}"


def catalog_conf(catalogs: Iterable[str]) -> dict[str, str]:
    """Return the settings of catalogs: the class, and whether a schema `default` exists from the start."""
    names = list(catalogs)
    with_default = [name for name in names if name in CATALOGS_WITH_DEFAULT]
    return {
        **{f"spark.sql.catalog.{name}": CATALOG_CLASS for name in names},
        **{f"spark.sql.catalog.{name}.hasDefault": "true" for name in with_default},
    }


def _schemes(entries: Iterable[tuple[str, str]]) -> set[str]:
    return {"file", "dbfs"} | {prefix.split(":", 1)[0] for prefix, _ in entries if ":" in prefix}


def has_connector(conf: Mapping[str, str], spark_home: Path) -> bool:
    """Return whether the settings bring a connector to cloud storage, or Spark's own jars have one."""
    named = [conf.get(key, "") for key in _JAR_SETTINGS] + [jar.name for jar in spark_home.glob("jars/*.jar")]
    return any(word in each for word in _CONNECTORS for each in named)


def file_system_conf(entries: Iterable[tuple[str, str]], *, connector: bool = False) -> dict[str, str]:
    """Return the file system and Delta's log store of each scheme that the path map serves.

    Without a `connector`, cloud storage that is not mounted gets a file system whose errors name the fix.
    """
    served = _schemes(entries)
    unmapped = () if connector else sorted((CLOUD_SCHEMES | _OLD_SCHEMES) - served)
    # Spark writes checkpoints on the local disk through the second interface of Hadoop, whose default for it
    # keeps a hidden checksum next to each file.
    plain = {"spark.hadoop.fs.AbstractFileSystem.file.impl": "org.apache.hadoop.fs.local.RawLocalFs"}
    refused = {f"spark.hadoop.fs.{scheme}.impl": "lakeward.UnmappedFileSystem" for scheme in unmapped}
    return (
        plain
        | refused
        | {
            key: value
            for scheme in sorted(served)
            for key, value in (
                (f"spark.hadoop.fs.{scheme}.impl", "lakeward.MappedFileSystem"),
                (f"spark.delta.logStore.{scheme}.impl", "lakeward.LinkLogStore"),
            )
        }
    )


def base_conf(
    settings: Settings,
    *,
    jars: Iterable[Path],
    paths: Iterable[tuple[str, str]],
    catalogs: Iterable[str],
    cores: int,
    connector: bool = False,
) -> dict[str, str]:
    """Return all settings that a session needs, before the user's own.

    `paths` are (prefix, folder) pairs; `catalogs` the names that exist; `cores` the machine's; `connector`
    whether cloud storage can be reached.
    """
    entries = list(paths)
    log4j = Path(__file__).parents[1] / "log4j2.properties"
    # Without a size for its classes, a JVM collects its whole heap several times while Spark's are loaded.
    # Conditions of hundreds of columns need deep stacks; Databricks gives its threads as much.
    java_options = (
        f"-Dlog4j2.configurationFile={log4j.as_uri()} -XX:+UseSerialGC -XX:MetaspaceSize=256m -Xss4m "
        f"{_COMPILER_OPTIONS}"
    )
    return {
        **_FIXED,
        "spark.master": f"local[{cores}]",
        "spark.driver.extraJavaOptions": java_options,
        "spark.jars": ",".join(str(j) for j in jars),
        "spark.sql.defaultCatalog": settings.catalog,
        "spark.sql.warehouse.dir": folder_text(settings.warehouse),
        "spark.sql.shuffle.partitions": str(cores),
        "spark.hadoop.lakeward.path.map": path_map_text(entries),
        **catalog_conf(catalogs),
        **get_profile(settings.profile).conf(),
        **file_system_conf(entries, connector=connector),
    }


def merge_conf(base: Mapping[str, str], user: Mapping[str, str]) -> dict[str, str]:
    """Return `base` overlaid with the user's settings; list-valued ones are joined, ours first.

    Jars that every session has are removed from the user's packages and jars.
    """
    out = dict(base)
    if any(user.get(key, "").lower() == "true" for key in _READERS_OF_PLANS):
        out.pop(_PLAN_TEXT, None)
    for key, value in usable_settings(user).items():
        if key in _LISTS and base.get(key):
            ours = base[key].split(",")
            out[key] = ",".join([*ours, *(v for v in value.split(",") if v and v not in ours)])
        elif key in _OPTIONS and base.get(key):
            # After stop(), a SparkConf repeats the settings with which the JVM was started.
            out[key] = value if base[key] in value else f"{base[key]} {value}"
        else:
            out[key] = value
    if out.get("spark.jars.packages"):
        excluded = out.get("spark.jars.excludes")
        out["spark.jars.excludes"] = ",".join([*([excluded] if excluded else []), *_INCLUDED_MODULES])
    return out


def available_cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
