"""What the ways to a session give when lakeward is on: builders, `newSession()`, `SparkContext(…)`."""

from __future__ import annotations

import inspect
import logging
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakeward.session import current, patches, refusals
from lakeward.session.catalogs import admit_spark_catalog
from lakeward.session.profiles import DEFAULT_PROFILE
from lakeward.session.settings import Settings
from lakeward.session.user_conf import contradictions, kept, local_folder, warning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["create", "get_or_create", "init_context", "new_session", "settings_for", "wants_connect"]

_log = logging.getLogger("lakeward")
_told: set[str] = set()


def wants_connect(options: Mapping[str, Any]) -> bool:
    """Whether PySpark would give a Spark Connect session: that one is not lakeward's business."""
    mode = str(options.get("spark.api.mode") or os.environ.get("SPARK_API_MODE") or "").lower()
    remote = {"SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"} & os.environ.keys()
    return "spark.remote" in options or bool(remote) or mode == "connect"


def settings_for(options: Mapping[str, str], profile: str | None) -> Settings | None:
    """The settings that a builder implies, None for those of the process.

    A warehouse folder of the user's becomes the lakehouse's; a profile that was set on purpose stays.
    """
    before = current.current_settings()
    settings = before or current.default_settings()
    folder = local_folder(options.get("spark.sql.warehouse.dir", ""))
    # In a running session the folder is what it is: Spark calls this setting static.
    if not current.is_running():
        catalog = options.get("spark.sql.defaultCatalog", settings.catalog)
        settings = settings.with_(warehouse_dir=folder, catalog=catalog)
    on_purpose = bool(os.environ.get("LAKEWARD_PROFILE"))
    if before is None and settings.profile == "serverless" and "spark.master" in options and not on_purpose:
        # Serverless compute has no master: who names one means a classic session.
        settings = settings.with_(profile=DEFAULT_PROFILE)
    if profile is not None and not on_purpose:
        settings = settings.with_(profile=profile)
    return None if settings == before else settings


def get_or_create(options: Mapping[str, Any], *, profile: str | None = None) -> SparkSession:
    """The running session with the builder's settings applied, or a new one that starts with them."""
    wanted = kept(options)
    settings = settings_for(wanted, profile)
    if not current.is_running():
        return current.session(settings, user_conf=wanted)
    spark = current.session(settings)
    _apply(spark, wanted)
    return spark


def create(options: Mapping[str, Any], *, profile: str | None = None) -> SparkSession:
    """A further session beside the running one, or the first."""
    if not current.is_running():
        return get_or_create(options, profile=profile)
    wanted = kept(options)
    spark = new_session(current.session(settings_for(wanted, profile)))
    _apply(spark, wanted)
    return spark


def new_session(spark: SparkSession) -> SparkSession:
    """`spark.newSession()`, in the same lakehouse, with everything registered."""
    from pyspark.sql import SparkSession

    fresh: SparkSession = patches.original(SparkSession, "newSession")(spark)
    settings = current.current_settings()
    if settings is not None:
        current.enter(fresh, settings)
        current.prepare(fresh)
    return fresh


def init_context(self: Any, *arguments: Any, **named: Any) -> None:
    """`SparkContext(…)` with what lakeward needs; a session of ours stands on it at once.

    One that is given a gateway, or that would be a second one, is PySpark's own business.
    """
    from pyspark import SparkContext

    from lakeward.session import launch

    refusals.refuse_context(sys._getframe(1))
    plain = patches.original(SparkContext, "__init__")
    bound = inspect.signature(plain).bind(self, *arguments, **named)
    given = bound.arguments
    conf = given.get("conf")
    options = dict(conf.getAll()) if conf is not None else {}
    busy = SparkContext._active_spark_context is not None
    if busy or given.get("gateway") is not None or given.get("jsc") is not None or wants_connect(options):
        plain(self, *arguments, **named)
        return
    for argument, key in (("master", "spark.master"), ("appName", "spark.app.name")):
        if given.get(argument):
            options[key] = given.pop(argument)
    wanted = kept(options)
    settings = settings_for(wanted, None) or current.current_settings() or current.default_settings()
    given.update(launch.context_parts(settings, wanted))
    plain(*bound.args, **bound.kwargs)
    launch.after_context(self, settings)
    current.adopt(launch.session_of(self), settings)


def _apply(spark: SparkSession, wanted: Mapping[str, str]) -> None:
    """What Spark's own builder does to a running session; what comes too late is said once."""
    from pyspark.sql import SparkSession

    module: Any = SparkSession._get_j_spark_session_module(spark._jvm)
    module.applyModifiableSettings(spark._jsparkSession, dict(wanted))
    admit_spark_catalog(spark)
    running = dict(spark._sc.getConf().getAll())
    late = contradictions(wanted, running)
    if late:
        text = warning(late)
        if text not in _told:
            _told.add(text)
            _log.warning(text)
