"""Options that Databricks refuses together (auto-loader.md §1.3, assumed)."""

from __future__ import annotations

from lakeward.autoloader.options.declared import PREFIX, declared
from lakeward.autoloader.options.options import Options
from lakeward.errors import CloudFilesError

__all__ = ["check_together"]

_NOT_WITH_MANAGED_EVENTS = (
    *("useNotifications", "useIncrementalListing", "backfillInterval", "fetchParallelism", "pathRewrites"),
    *("resourceTag", "queueUrl", "queueName", "subscription"),
)


def check_together(options: Options) -> None:
    """Raise the CloudFilesError of the first combination that is refused."""
    notified = options.flag("cloudFiles.useNotifications")
    managed = options.flag("cloudFiles.useManagedFileEvents")
    if managed:
        _managed(options)
    if notified and _asks_for_incremental_listing(options):
        raise CloudFilesError(
            "CF_AMBIGUOUS_INCREMENTAL_LISTING_MODE_ERROR",
            "cloudFiles.useIncrementalListing and cloudFiles.useNotifications are both set.",
            next_step="Choose one of the two ways to find files.",
        )
    _widening(options)
    secrets = _credentials(options)
    if secrets and not notified and not managed:
        raise CloudFilesError(
            "CF_AMBIGUOUS_AUTH_OPTIONS_ERROR",
            f"Files are found by listing; credentials for notifications are set: {', '.join(secrets)}.",
            next_step="Set cloudFiles.useNotifications=true, or leave them out "
            "(cloudFiles.validateOptions=false ignores them).",
        )
    cleaned = str(options.value("cloudFiles.cleanSource")) != "OFF"
    if cleaned and options.flag("cloudFiles.allowOverwrites"):
        raise CloudFilesError(
            "CF_CLEAN_SOURCE_ALLOW_OVERWRITES_BOTH_ON",
            "cloudFiles.cleanSource and cloudFiles.allowOverwrites are both on.",
            next_step="A source that is cleaned cannot take files again: switch one of them off.",
        )


def _asks_for_incremental_listing(options: Options) -> bool:
    text = options.given.get("cloudfiles.useincrementallisting", "false")
    return text.strip().lower() in ("true", "auto")


def _credentials(options: Options) -> list[str]:
    rows = [declared(key) for key in options.given if key.startswith(PREFIX.lower())]
    return sorted(row.key for row in rows if row is not None and row.secret)


def _widening(options: Options) -> None:
    """§3.4: types that widen need exact numbers."""
    mode = str(options.text("cloudFiles.schemaEvolutionMode") or "").strip().lower()
    if mode != "addnewcolumnswithtypewidening" or not options.is_set("prefersDecimal"):
        return
    if not options.flag("prefersDecimal"):
        raise CloudFilesError(
            "CF_UNSUPPORTED_OPTION",
            "prefersDecimal is false; mode addNewColumnsWithTypeWidening needs exact numbers.",
            next_step="Leave prefersDecimal out, or set it to true.",
        )


def _managed(options: Options) -> None:
    keys = {key.lower(): key for key in (PREFIX + name for name in _NOT_WITH_MANAGED_EVENTS)}
    rows = [declared(key) for key in options.given]
    found = sorted(row.key for row in rows if row is not None and row.key.lower() in keys)
    if found:
        raise CloudFilesError(
            "CF_INVALID_MANAGED_FILE_EVENTS_OPTION_KEYS",
            f"With cloudFiles.useManagedFileEvents these are not allowed: {', '.join(found)}.",
            next_step="Leave them out, or do without managed file events.",
        )
