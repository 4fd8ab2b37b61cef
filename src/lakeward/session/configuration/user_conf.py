"""The user's own Spark settings: sources, precedence and conflicts. Pure functions."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from lakeward.file_uris import local_folder
from lakeward.session.configuration.spark_packages import adapt_packages, entries_of, without_included

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"
AUTO_COMPACT = "spark.databricks.delta.autoCompact.enabled"
AUTOMATIC_VALUES = {SHUFFLE_PARTITIONS: ("auto",), AUTO_COMPACT: ("auto", "legacy")}
"""Values that leave a setting to the platform. Spark and Delta refuse them."""
_SPARK_CATALOG = ("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
_DELTA_CLASSES = {"io.delta.sql.DeltaSparkSessionExtension"}
# Tables are in the session's own catalogs; the platform ignores enableHiveSupport() too.
_MEANINGLESS = ("spark.sql.catalogImplementation",)
# The name of a running session cannot be changed and has no effect.
_UNIMPORTANT = ("spark.app.name", "spark.app.id", "spark.submit.deployMode", "spark.submit.pyFiles")
_LISTS = (
    "spark.jars",
    "spark.jars.packages",
    "spark.sql.extensions",
    "spark.sql.streaming.streamingQueryListeners",
)
# Additional JVM options; they cannot be compared with the running JVM's.
_ADDED = ("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions")
_CHANGEABLE = ("spark.sql.", "spark.databricks.", "spark.hadoop.", "spark.delta.")

_SUBMIT = {
    "--master": "spark.master",
    "--name": "spark.app.name",
    "--packages": "spark.jars.packages",
    "--jars": "spark.jars",
    "--repositories": "spark.jars.repositories",
    "--exclude-packages": "spark.jars.excludes",
    "--driver-memory": "spark.driver.memory",
    "--driver-cores": "spark.driver.cores",
    "--driver-java-options": "spark.driver.extraJavaOptions",
    "--driver-class-path": "spark.driver.extraClassPath",
    "--driver-library-path": "spark.driver.extraLibraryPath",
    "--executor-memory": "spark.executor.memory",
    "--executor-cores": "spark.executor.cores",
    "--num-executors": "spark.executor.instances",
    "--py-files": "spark.submit.pyFiles",
    "--files": "spark.files",
}


def is_automatic(key: str, value: object) -> bool:
    """Return whether it leaves the number of shuffle partitions to the platform.

    >>> is_automatic("spark.sql.shuffle.partitions", "auto"), is_automatic("spark.sql.x", "auto")
    (True, False)
    """
    return key == SHUFFLE_PARTITIONS and _leaves_to_platform(key, value)


def _leaves_to_platform(key: str, value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in AUTOMATIC_VALUES.get(key, ())


def accepted_value(key: str, value: object) -> object:
    """Return the value that Delta accepts: `auto` and `legacy` choose the size of files on Databricks.

    Source: https://docs.databricks.com/aws/en/delta/tune-file-size

    >>> [accepted_value(key, "auto") for key in (AUTO_COMPACT, "spark.x")]
    ['true', 'auto']
    """
    return "true" if key == AUTO_COMPACT and _leaves_to_platform(key, value) else value


def usable_settings(user: Mapping[str, object]) -> dict[str, str]:
    """Return the user's settings that a new session uses: all but included jars and Hive's catalog.

    A user who configures Delta's catalog for `spark_catalog` has built a session of open-source Spark. Such a
    session starts in that catalog: `spark_catalog.s.t` and `s.t` must be one table.
    """
    out = {
        key: _text(accepted_value(key, value))
        for key, value in user.items()
        if value is not None and not is_automatic(key, value)
    }
    if _SPARK_CATALOG in out.items() and "spark.sql.defaultCatalog" not in out:
        out["spark.sql.lakeward.sparkCatalogIsDefault"] = "true"
    for key in _MEANINGLESS:
        out.pop(key, None)
    for key, change in (("spark.jars", without_included), ("spark.jars.packages", adapt_packages)):
        if key in out:
            out[key] = change(out[key])
            if not out[key]:
                del out[key]
    return out


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def contradictions(user: Mapping[str, str], running: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return the builder's settings that differ from those at start-up: key → (wanted, current).

    `running` are the settings of the running context. Only settings that Spark reads once, at start-up, are
    included; the others are changed in the session. Only the JVM knows whether a `spark.sql.` setting is
    static.
    """
    found = {}
    for key, wanted in user.items():
        there = running.get(key, "")
        if key in _UNIMPORTANT or key in _ADDED or not key.startswith("spark.") or wanted == there:
            continue
        if key.startswith(_CHANGEABLE) and key not in _LISTS and key != "spark.sql.warehouse.dir":
            continue
        if key in _LISTS and {*entries_of(wanted)} <= {*entries_of(there), *_DELTA_CLASSES}:
            continue
        if key == "spark.sql.warehouse.dir" and local_folder(wanted) == local_folder(there):
            continue
        found[key] = (wanted, there)
    return found


def late_settings_warning(found: Mapping[str, tuple[str, str]]) -> str:
    """Return one sentence about settings that cannot take effect any more.

    >>> late_settings_warning({"spark.master": ("local[1]", "local[2]")})
    'Using the running Spark session, in which spark.master=local[1] (it is local[2]) takes no effect; \
call stop() on it first for a session with that setting.'
    """
    each = [
        f"{key}={wanted}" + (f" (it is {there})" if there else "") for key, (wanted, there) in found.items()
    ]
    verb, what = ("take", "these settings") if len(each) > 1 else ("takes", "that setting")
    return (
        f"Using the running Spark session, in which {', '.join(each)} {verb} no effect; "
        f"call stop() on it first for a session with {what}."
    )


def from_submit_args(text: str) -> tuple[dict[str, str], str]:
    """Parse PYSPARK_SUBMIT_ARGS into its settings and the remaining arguments of spark-submit.

    >>> from_submit_args("--packages org.x:y:1 --conf spark.a=b --verbose pyspark-shell")
    ({'spark.jars.packages': 'org.x:y:1', 'spark.a': 'b'}, '--verbose pyspark-shell')
    """
    conf: dict[str, str] = {}
    rest: list[str] = []
    words = iter(shlex.split(text))
    for word in words:
        option, equals, value = word.partition("=")
        if option not in _SUBMIT and option not in ("--conf", "-c"):
            rest.append(word)
            continue
        argument = value if equals else next(words, "")
        if option in _SUBMIT:
            conf[_SUBMIT[option]] = argument
        else:
            key, _, setting = argument.partition("=")
            conf[key] = setting
    return conf, shlex.join(rest)
