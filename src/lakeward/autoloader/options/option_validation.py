"""Validation of the options of a stream at its start, and warnings about those without effect (AL-1)."""

from __future__ import annotations

from datetime import timedelta

from lakeward.autoloader.options.option_table import OPTIONS, PREFIX, READABLE_FORMATS, find_option
from lakeward.autoloader.options.option_values import Options
from lakeward.autoloader.options.schema_options import evolution_mode
from lakeward.errors import CloudFilesError
from lakeward.suggestions import close_matches

_LINE_FORMATS = ("csv", "json", "text")
# AL-1.2: files whose state expires earlier would be read twice.
_SHORTEST_AGE = timedelta(days=14)
_DEEPEST_RECURSION = 15
_NOT_WITH_MANAGED_EVENTS = (
    *("useNotifications", "useIncrementalListing", "backfillInterval", "fetchParallelism", "pathRewrites"),
    *("resourceTag", "queueUrl", "queueName", "subscription"),
)


def validate_options(options: Options, *, has_user_schema: bool) -> None:
    """Raise the CloudFilesError of the first invalid option; has no side effects."""
    if options.flag("cloudFiles.validateOptions"):
        _require_known_keys(options)
        reject_incompatible_options(options)
    require_format_options(options)
    evolution_mode(options, has_user_schema=has_user_schema)
    for key in options.raw:
        row = find_option(key)
        if row is not None:
            options.value(key)
    for key in ("cloudFiles.maxFilesPerTrigger", "cloudFiles.maxBytesPerTrigger"):
        limit = options.value(key)
        if limit is not None and limit < 1:
            raise CloudFilesError(
                "CF_MAX_MUST_BE_POSITIVE",
                f"Option {key} is {limit}; the minimum is 1.",
                next_step="Set a positive number or remove the option.",
            )
    age: timedelta | None = options.value("cloudFiles.maxFileAge")
    if age is not None and age < _SHORTEST_AGE:
        raise CloudFilesError(
            "CF_INVALID_OPTION_VALUE",
            f"Option cloudFiles.maxFileAge is {age.days} days; the minimum is {_SHORTEST_AGE.days} days.",
            next_step="Set 90 days or more, or remove the option.",
        )
    retention: timedelta = options.value("cloudFiles.cleanSource.retentionDuration")
    if options.cleans_source and age is not None and retention > age:
        raise CloudFilesError(
            "CF_RETENTION_GREATER_THAN_MAX_FILE_AGE",
            f"cloudFiles.cleanSource.retentionDuration ({retention.days} days) is greater than "
            f"cloudFiles.maxFileAge ({age.days} days).",
            next_step="Keep the state of files longer than the files.",
        )


def reject_incompatible_options(options: Options) -> None:
    """Raise CloudFilesError for the first incompatible combination (AL-1.3, assumed)."""
    notified = options.flag("cloudFiles.useNotifications")
    managed = options.flag("cloudFiles.useManagedFileEvents")
    if managed:
        _reject_managed_events_conflicts(options)
    if notified and _uses_incremental_listing(options):
        raise CloudFilesError(
            "CF_AMBIGUOUS_INCREMENTAL_LISTING_MODE_ERROR",
            "cloudFiles.useIncrementalListing and cloudFiles.useNotifications are both set.",
            next_step="Remove one of the two options.",
        )
    _require_exact_numbers(options)
    secrets = _credential_keys(options)
    if secrets and not notified and not managed:
        raise CloudFilesError(
            "CF_AMBIGUOUS_AUTH_OPTIONS_ERROR",
            f"Files are discovered by listing, but notification credentials are set: {', '.join(secrets)}.",
            next_step="Set cloudFiles.useNotifications=true, or remove them "
            "(cloudFiles.validateOptions=false ignores them).",
        )
    if options.cleans_source and options.flag("cloudFiles.allowOverwrites"):
        raise CloudFilesError(
            "CF_CLEAN_SOURCE_ALLOW_OVERWRITES_BOTH_ON",
            "cloudFiles.cleanSource and cloudFiles.allowOverwrites are both enabled.",
            next_step="Disable one of them: cleaned files cannot be read again.",
        )


def _uses_incremental_listing(options: Options) -> bool:
    text = options.raw.get("cloudfiles.useincrementallisting", "false")
    return text.strip().lower() in ("true", "auto")


def _credential_keys(options: Options) -> list[str]:
    rows = [find_option(key) for key in options.raw if key.startswith(PREFIX.lower())]
    return sorted(row.key for row in rows if row is not None and row.secret)


def _require_exact_numbers(options: Options) -> None:
    """Type widening requires `prefersDecimal` (AL-3.4)."""
    mode = str(options.text("cloudFiles.schemaEvolutionMode") or "").strip().lower()
    if mode != "addnewcolumnswithtypewidening" or not options.is_set("prefersDecimal"):
        return
    if not options.flag("prefersDecimal"):
        raise CloudFilesError(
            "CF_UNSUPPORTED_OPTION",
            "prefersDecimal is false; mode addNewColumnsWithTypeWidening requires exact numbers.",
            next_step="Remove prefersDecimal, or set it to true.",
        )


def _reject_managed_events_conflicts(options: Options) -> None:
    keys = {key.lower(): key for key in (PREFIX + name for name in _NOT_WITH_MANAGED_EVENTS)}
    rows = [find_option(key) for key in options.raw]
    conflicting = sorted(row.key for row in rows if row is not None and row.key.lower() in keys)
    if conflicting:
        raise CloudFilesError(
            "CF_INVALID_MANAGED_FILE_EVENTS_OPTION_KEYS",
            f"Options that are not allowed with cloudFiles.useManagedFileEvents: {', '.join(conflicting)}.",
            next_step="Remove them, or disable managed file events.",
        )


def option_warnings(options: Options) -> list[str]:
    """Return a warning for each accepted option without effect that does not have its default value.

    Values are never included.
    """
    rows = ((find_option(key), value) for key, value in options.raw.items())
    return [
        f"Option {row.key} has no effect here: {row.note}."
        for row, value in rows
        if row and row.verdict == "accepted" and not row.is_default(value)
    ]


def _require_known_keys(options: Options) -> None:
    unknown = [key for key in options.raw if key.startswith(PREFIX.lower()) and find_option(key) is None]
    if not unknown:
        return
    similar = [name for key in unknown for name in _similar_keys(key)]
    hint = f"Did you mean {' or '.join(similar)}?" if similar else "Check the spelling, or remove them."
    raise CloudFilesError(
        "CF_UNKNOWN_OPTION_KEYS_ERROR",
        f"Found unknown option keys: {', '.join(sorted(unknown))}.",
        next_step=f"{hint} (cloudFiles.validateOptions=false skips this check.)",
    )


def _similar_keys(key: str) -> list[str]:
    """Return the option that `key` is with a surplus prefix, or the one that it resembles, if any."""
    bare = key.removeprefix(PREFIX.lower())
    by_bare_name = {row.key.removeprefix(PREFIX): row.key for row in reversed(OPTIONS)}
    unprefixed = [row.key for row in OPTIONS if row.key.lower() == bare]
    return unprefixed or [by_bare_name[name] for name in close_matches(bare, by_bare_name, max_matches=1)]


def require_format_options(options: Options) -> None:
    """Raise CloudFilesError if an option of the format is missing or invalid.

    Options without effect are checked, too: a value that Spark refuses is refused here.
    """
    for key in options.raw:
        row = find_option(key)
        if (
            row is not None
            and not row.key.startswith(PREFIX)
            and options.format in (row.formats or READABLE_FORMATS)
        ):
            options.value(key)
    if options.format == "xml" and not options.text("rowTag"):
        raise CloudFilesError(
            "XML_ROW_TAG_MISSING",
            "The format is xml, but the option rowTag is not set.",
            next_step="Set it to the element name of a row: .option('rowTag', 'book').",
        )
    if options.format == "xml" and options.text("valueTag") == "":
        raise CloudFilesError(
            "CF_INVALID_OPTION_VALUE",
            "Option valueTag is set to ''; expected a name.",
            next_step="Correct the value or remove the option.",
        )
    if options.format in _LINE_FORMATS:
        _ = options.line_separator
    depth = options.value("recursiveFieldMaxDepth") if options.format == "avro" else None
    if depth is not None and depth > _DEEPEST_RECURSION:
        raise CloudFilesError(
            "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE",
            f"Option recursiveFieldMaxDepth is set to {depth}; the maximum is {_DEEPEST_RECURSION}.",
            next_step="Set a smaller number, or remove the option.",
        )
