"""Patches that make builders, `newSession()` and `SparkContext(…)` return lakeward's session."""

from __future__ import annotations

import inspect
import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from lakeward import patching
from lakeward.file_uris import local_folder
from lakeward.patching import PatchSpec, Wrapped, original
from lakeward.session import active_session
from lakeward.session.active_session import map_paths, on_databricks, set_default_settings
from lakeward.session.configuration.user_conf import contradictions, late_settings_warning, usable_settings
from lakeward.session.entry_points import columns_before_session
from lakeward.session.patches import connect_finder, serverless_enforcement, star_import_patch
from lakeward.session.paths import PathMap
from lakeward.session.runtimes.profiles import DEFAULT_PROFILE
from lakeward.session.settings import Settings
from lakeward.session.tables.catalogs import admit_spark_catalog
from lakeward.spark_internals import activated, activated_session, active_context, apply_modifiable_settings
from lakeward.user_code import is_user_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_log = logging.getLogger("lakeward")
_warned: set[str] = set()
_starts_on_access = False
# The process's profile, where a builder has chosen another one for its session.
_replaced_profile: str | None = None
# PySpark's `active` and its decorator, which call `getActiveSession`.
_OF_ACTIVE = ("active", "wrapped")


def wants_connect(options: Mapping[str, Any]) -> bool:
    """Return whether PySpark would create a Spark Connect session, which is left to PySpark."""
    mode = str(options.get("spark.api.mode") or os.environ.get("SPARK_API_MODE") or "").lower()
    remote = {"SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"} & os.environ.keys()
    return "spark.remote" in options or bool(remote) or mode == "connect"


def settings_for(options: Mapping[str, str], profile: str | None) -> Settings | None:
    """Return the settings that a builder implies, None for those of the process.

    The user's warehouse folder becomes the lakehouse's; a profile that was chosen explicitly is kept.
    """
    global _replaced_profile  # noqa: PLW0603  # one session a process
    before = active_session.current_settings()
    settings = before or active_session.default_settings()
    if _replaced_profile is not None and not active_session.is_running():
        # The session of the builder that chose another profile was stopped, and its choice ends with it.
        settings, _replaced_profile = settings.with_(profile=_replaced_profile), None
    folder = local_folder(options.get("spark.sql.warehouse.dir", ""))
    if folder is not None:
        # The folder may be below a mount; the lakehouse's own folder is not mapped.
        folder = Path(PathMap.of(settings).of_python().local(str(folder)))
    # The folder of a running session cannot be changed: the setting is static.
    if not active_session.is_running():
        catalog = options.get("spark.sql.defaultCatalog", settings.catalog)
        settings = settings.with_(warehouse_dir=folder, catalog=catalog)
    on_purpose = bool(os.environ.get("LAKEWARD_PROFILE"))
    if before is None and settings.profile == "serverless" and "spark.master" in options and not on_purpose:
        # Serverless compute has no master: a builder that sets one needs a classic session.
        settings = settings.with_(profile=DEFAULT_PROFILE)
    if profile is not None and profile != settings.profile and not on_purpose:
        _replaced_profile = _replaced_profile or settings.profile
        settings = settings.with_(profile=profile)
    return None if settings == before else settings


def get_or_create(options: Mapping[str, Any], *, profile: str | None = None) -> SparkSession:
    """Return the running session with the builder's settings applied, or create one with them."""
    wanted = usable_settings(options)
    settings = settings_for(wanted, profile)
    if not active_session.is_running():
        return active_session.session(settings, user_conf=wanted)
    spark = active_session.session(settings)
    _apply(spark, wanted)
    return spark


def create_session(options: Mapping[str, Any], *, profile: str | None = None) -> SparkSession:
    """Create a further session, or the first."""
    if not active_session.is_running():
        return get_or_create(options, profile=profile)
    wanted = usable_settings(options)
    spark = new_session(active_session.session(settings_for(wanted, profile)))
    _apply(spark, wanted)
    return spark


def new_session(spark: SparkSession) -> SparkSession:
    """Create a session as `spark.newSession()` does, in the same lakehouse with all extensions."""
    from pyspark.sql import SparkSession

    fresh: SparkSession = original(SparkSession, "newSession")(spark)
    settings = active_session.current_settings()
    if settings is not None:
        # Spark loads the catalogs of the new session with the settings of the thread's active one.
        with activated(fresh):
            active_session.use_catalog_and_schema(fresh, settings)
            active_session.install_extensions(fresh)
    return fresh


def init_context(self: Any, *arguments: Any, **named: Any) -> None:
    """Start `SparkContext(…)` with lakeward's settings and register a session for it.

    A context with an explicit gateway, and a second context, are left to PySpark.
    """
    from pyspark import SparkContext

    from lakeward.session import spark_context

    serverless_enforcement.refuse_context(sys._getframe(1))
    plain = original(SparkContext, "__init__")
    bound = inspect.signature(plain).bind(self, *arguments, **named)
    given = bound.arguments
    conf = given.get("conf")
    options = dict(conf.getAll()) if conf is not None else {}
    busy = active_context() is not None
    if busy or given.get("gateway") is not None or given.get("jsc") is not None or wants_connect(options):
        plain(self, *arguments, **named)
        return
    for argument, key in (("master", "spark.master"), ("appName", "spark.app.name")):
        if given.get(argument):
            options[key] = given.pop(argument)
    wanted = usable_settings(options)
    settings = settings_for(wanted, None) or active_session.current_settings()
    settings = settings or active_session.default_settings()
    given.update(spark_context.context_parts(settings, wanted))
    plain(*bound.args, **bound.kwargs)
    spark_context.after_context(self, settings)
    active_session.register_session(spark_context.session_of(self), settings)


def _apply(spark: SparkSession, wanted: Mapping[str, str]) -> None:
    """Apply a builder's settings to a running session as Spark does; warn once about static ones."""
    apply_modifiable_settings(spark, wanted)
    admit_spark_catalog(spark)
    running = dict(spark.sparkContext.getConf().getAll())
    late = contradictions(wanted, running)
    if late:
        text = late_settings_warning(late)
        if text not in _warned:
            _warned.add(text)
            _log.warning(text)


def is_enabled() -> bool:
    """Return whether lakeward may patch PySpark: not with LAKEWARD_DISABLE=1, and not on Databricks."""
    return os.environ.get("LAKEWARD_DISABLE") != "1" and not on_databricks()


def install_connect_hook() -> None:
    """Make `databricks.connect` importable and return lakeward's session. Imports no pyspark."""
    if is_enabled():
        connect_finder.install()


def install_builder_hook() -> None:
    """Make every entry point return lakeward's session; the user's settings are kept and win.

    The entry points are `SparkSession.builder`, `SparkContext(…)`, `newSession()` and `DatabricksSession`.
    Nothing is installed with LAKEWARD_DISABLE=1, on Databricks, or under Databricks Connect; a builder with
    `.remote(…)` is left alone.
    """
    if not is_enabled():
        return
    install_connect_hook()
    patching.install(PATCHES)


def serve_on_demand(settings: Settings) -> None:
    """Use the lakehouse of `settings` in this process; the first access starts the session."""
    set_default_settings(lambda: settings)
    install_builder_hook()
    map_paths(settings)


def start_on_access(wanted: bool) -> None:
    """Let `SparkSession.getActiveSession()` and `active()` of user code start the first session.

    Notebooks and tasks on Databricks have a session before their first line, and so do tests that run there.
    """
    global _starts_on_access  # noqa: PLW0603  # the process's, as the session is
    _starts_on_access = wanted


def uninstall_builder_hook() -> None:
    """Restore PySpark's own builder."""
    patching.uninstall(PATCHES)
    connect_finder.uninstall()


def _get_or_create(before: Wrapped) -> Any:
    def getOrCreate(self: Any) -> SparkSession:  # noqa: N802  # PySpark's name
        if wants_connect(self._options):
            return before(self)  # type: ignore[no-any-return]
        return get_or_create(self._options)

    return getOrCreate


def _create(before: Wrapped) -> Any:
    def create(self: Any) -> SparkSession:
        if wants_connect(self._options):
            return before(self)  # type: ignore[no-any-return]
        return create_session(self._options)

    return create


def _active_session(before: classmethod[Any, ..., Any]) -> Any:
    def getActiveSession(cls: Any) -> SparkSession | None:  # noqa: N802  # PySpark's name
        # PySpark returns the session that any thread has activated last.
        found: SparkSession | None = activated_session() or before.__func__(cls)
        if found is None and _starts_on_access and _is_first_access_of_user(sys._getframe(1)):
            return get_or_create({})
        return found

    return classmethod(getActiveSession)


def _is_first_access_of_user(caller: FrameType) -> bool:
    """Return whether no session was made yet and `caller` is code of users, directly or by `active()`."""
    if active_session.current_settings() is not None:
        return False
    while caller.f_code.co_name in _OF_ACTIVE and caller.f_back is not None:
        caller = caller.f_back
    code = caller.f_code
    # A function that builds a session looks for one to end, or to keep. It fails on one that it has not made.
    if code.co_name != "<module>" and "builder" in code.co_names:
        return False
    # Packages such as mlflow look whether there is a session. They need none.
    return is_user_file(code.co_filename)


_SESSION, _BUILDER = "pyspark.sql.session:SparkSession", "pyspark.sql.session:SparkSession.Builder"
_BUILDS = "SparkSession.builder gives lakeward's session"
PATCHES = (
    PatchSpec(_BUILDER, "getOrCreate", "session", _BUILDS, _get_or_create),
    PatchSpec(_BUILDER, "create", "session", _BUILDS, _create),
    PatchSpec(
        _SESSION, "newSession", "session", "newSession() gives lakeward sessions", lambda _: new_session
    ),
    PatchSpec(
        _SESSION,
        "getActiveSession",
        "session",
        "getActiveSession() gives a notebook's own session",
        _active_session,
    ),
    PatchSpec(
        "pyspark.core.context:SparkContext",
        "__init__",
        "session",
        "a SparkContext that the user makes has lakeward's settings",
        lambda _: init_context,
    ),
    *columns_before_session.PATCHES,
    *star_import_patch.PATCHES,
)
