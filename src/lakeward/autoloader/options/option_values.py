"""The options of one stream with declared types and defaults, and their validation at its start (AL-1).

Options arrive as strings, whatever the user passed (AL-1.1.9).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any

from lakeward.autoloader.options.option_table import FORMATS, MODES, OPTIONS, PREFIX, Option, find_option
from lakeward.errors import CloudFilesError
from lakeward.suggestions import close_matches

_SIZE = re.compile(r"(\d+)\s*([a-z]*)")
_UNITS = {"": 0, "b": 0, "k": 1, "kb": 1, "m": 2, "mb": 2, "g": 3, "gb": 3, "t": 4, "tb": 4, "p": 5, "pb": 5}
_INTERVAL = re.compile(r"(\d+)\s*(second|minute|hour|day|week|month|year)s?")
_SECONDS = {
    "second": 1,
    "minute": 60,
    "hour": 3600,
    "day": 86400,
    "week": 604800,
    "month": 2678400,
    "year": 31622400,
}


def use_delta_format(reason: str) -> CloudFilesError:
    """Return the error of a Delta table that is read as files; `reason` says what shows that it is one.

    Source: https://docs.databricks.com/aws/en/error-messages/error-classes (CF_USE_DELTA_FORMAT)
    """
    return CloudFilesError(
        "CF_USE_DELTA_FORMAT",
        f"{reason}, which Auto Loader and read_files do not read.",
        next_step="Read it with spark.readStream.table(…) or spark.read.table(…), or with format('delta').",
    )


def parse_bool(text: str) -> bool:
    """Parse `true` or `false` in any case; raise ValueError otherwise."""
    lower = text.strip().lower()
    if lower not in ("true", "false"):
        raise ValueError("true or false")
    return lower == "true"


def parse_int(text: str) -> int:
    """Parse a whole number; raise ValueError otherwise."""
    try:
        return int(text.strip())
    except ValueError:
        raise ValueError("a whole number") from None


def parse_ratio(text: str) -> float:
    """Parse a number greater than 0; raise ValueError otherwise."""
    try:
        ratio = float(text)
    except ValueError:
        ratio = 0.0
    if not ratio > 0:
        raise ValueError("a number greater than 0")
    return ratio


def parse_bytes(text: str) -> int:
    """Parse `10g`, `500 MB` or a number of bytes; raise ValueError otherwise."""
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _UNITS:
        raise ValueError("a size such as 10g or 500mb")
    return int(int(match[1]) * 1024 ** _UNITS[match[2]])


def parse_interval(text: str) -> timedelta:
    """Parse `30 days`, `interval 1 week`, `2 hours 30 minutes`; raise ValueError otherwise."""
    body = text.strip().lower().removeprefix("interval").strip()
    parts = _INTERVAL.findall(body)
    if not parts or _INTERVAL.sub("", body).strip(" ,"):
        raise ValueError("an interval such as '30 days'")
    return timedelta(seconds=sum(int(number) * _SECONDS[unit] for number, unit in parts))


def parse_list(text: str) -> tuple[str, ...]:
    """Split names at commas and drop empty ones."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def parse_iso_timestamp(text: str) -> datetime:
    """Parse an ISO timestamp, in UTC if it has no zone; raise ValueError otherwise."""
    try:
        value = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        raise ValueError("a timestamp such as 2024-01-31T12:00:00") from None
    return value if value.tzinfo else value.replace(tzinfo=timezone.utc)


_PARSERS: dict[str, Callable[[str], Any]] = {
    "bool": parse_bool,
    "int": parse_int,
    "ratio": parse_ratio,
    "bytes": parse_bytes,
    "interval": parse_interval,
    "list": parse_list,
    "timestamp": parse_iso_timestamp,
}


@dataclass(frozen=True)
class Options:
    """Typed access to option values by key in any case; raises CloudFilesError for invalid values."""

    raw: Mapping[str, str]

    @classmethod
    def of(cls, raw: Mapping[str, str]) -> Options:
        """Create options; the last of several spellings of a key wins, as in Spark."""
        return cls({key.lower(): value for key, value in raw.items()})

    def without_secrets(self) -> Options:
        """Return a copy with credentials blanked, for plans and checkpoints.

        Undeclared options (`fs.s3a.secret.key`) are blanked too, because they may be credentials.
        """
        rows = {key: find_option(key) for key in self.raw}
        return Options(
            {key: text if (row := rows[key]) and not row.secret else "" for key, text in self.raw.items()}
        )

    def text(self, key: str) -> str | None:
        """Return the user's value, or the default."""
        row = _row(key)
        return self.raw.get(row.key.lower(), row.default)

    def is_set(self, key: str) -> bool:
        """Return whether the user set the option."""
        return key.lower() in self.raw

    def value(self, key: str) -> Any:
        """Return the parsed value, None if it is not set and has no default."""
        row, text = _row(key), self.text(key)
        if text is None:
            return None
        try:
            if row.kind in ("choice", "mode"):
                return _choice(row, text)
            return _PARSERS.get(row.kind, str)(text)
        except ValueError as error:
            if row.key == f"{PREFIX}format" and text.lower() == "delta":
                raise use_delta_format("The format of the files is delta") from None
            shown = "a value" if row.secret else repr(text)
            is_cleaning = row.key == f"{PREFIX}cleanSource"
            raise CloudFilesError(
                "CF_INVALID_CLEAN_SOURCE_MODE" if is_cleaning else "CF_INVALID_OPTION_VALUE",
                f"Option {row.key} is set to {shown}; expected {error}.",
                next_step="Correct the value or remove the option.",
            ) from None

    @cached_property
    def format(self) -> str:
        """Return the file format in lower case. Raises CF_FILE_FORMAT_REQUIRED."""
        if not self.is_set(PREFIX + "format"):
            raise CloudFilesError(
                "CF_FILE_FORMAT_REQUIRED",
                "A cloudFiles stream needs the option cloudFiles.format; it is not set.",
                next_step="Add .option('cloudFiles.format', 'json') or the format of your files.",
            )
        return str(self.value(PREFIX + "format")).lower()

    @property
    def infer_types(self) -> bool:
        """`inferColumnTypes`, or its old name `inferSchema`."""
        key = "cloudFiles.inferColumnTypes"
        old = self.value("cloudFiles.inferSchema")
        return bool(old if old is not None and not self.is_set(key) else self.value(key))

    @property
    def rescued_column(self) -> str | None:
        """Return the name of the rescued data column, None if the user did not set it."""
        return self.text("rescuedDataColumn") or self.text("cloudFiles.rescuedDataColumn") or None

    @property
    def encoding(self) -> str:
        """`charset`, or `encoding`. Raises CloudFilesError for an unknown one."""
        name = self.raw.get("charset") or str(self.text("encoding"))
        try:
            codecs.lookup(name)
        except LookupError:
            raise CloudFilesError(
                "INVALID_PARAMETER_VALUE.CHARSET",
                f"Option encoding is set to {name!r}, which is no character set.",
                next_step="Set one such as utf-8, utf-16, iso-8859-1 or windows-1252.",
            ) from None
        return name

    @property
    def line_separator(self) -> str | None:
        """`lineSep`. Raises CloudFilesError for an empty one, and for a long one of CSV files.

        Source: https://docs.databricks.com/aws/en/error-messages/invalid-line-separator-error-class
        """
        text = self.text("lineSep")
        if text == "":
            raise CloudFilesError(
                "INVALID_LINE_SEPARATOR.EMPTY",
                "Option lineSep is set to '', an empty string.",
                next_step="Set the characters that end a line, or remove the option.",
            )
        if text and len(text) > 2 and self.format == "csv":
            raise CloudFilesError(
                "INVALID_LINE_SEPARATOR.TOO_LONG",
                f"Option lineSep is set to {text!r}; lines of CSV files end in 2 characters at most.",
                next_step="Set one or two characters, or remove the option.",
            )
        return text

    @property
    def name_glob(self) -> str | None:
        """`pathGlobFilter`, or `fileNamePattern`."""
        return self.text("pathGlobFilter") or self.text("fileNamePattern")

    @property
    def max_files(self) -> int:
        """Maximum number of files in a batch."""
        return int(self.value("cloudFiles.maxFilesPerTrigger"))

    @property
    def max_bytes(self) -> int | None:
        """Soft limit of bytes in a batch."""
        value = self.value("cloudFiles.maxBytesPerTrigger")
        return None if value is None else int(value)

    @property
    def modified(self) -> tuple[datetime | None, datetime | None]:
        """`modifiedAfter` and `modifiedBefore`."""
        return self.value("modifiedAfter"), self.value("modifiedBefore")

    @property
    def cleans_source(self) -> bool:
        """Return whether `cleanSource` deletes or moves files that were read."""
        return str(self.value("cloudFiles.cleanSource")) != "OFF"

    def flag(self, key: str) -> bool:
        """Return a boolean option."""
        return bool(self.value(key))


def _row(key: str) -> Option:
    row = find_option(key)
    assert row is not None, f"{key} is not in the table of options"
    return row


def _choice(row: Option, text: str) -> str:
    for choice in row.choices:
        if choice.lower() == text.strip().lower():
            return choice
    if row.kind == "mode":
        return row.choices[0]
    raise ValueError("one of " + ", ".join(row.choices))


_NOT_WITH_MANAGED_EVENTS = (
    *("useNotifications", "useIncrementalListing", "backfillInterval", "fetchParallelism", "pathRewrites"),
    *("resourceTag", "queueUrl", "queueName", "subscription"),
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


READABLE_FORMATS = tuple(name.lower() for name in FORMATS)
FIXED_SCHEMA_FORMATS = ("text", "binaryfile")
_LINE_FORMATS = ("csv", "json", "text")
# AL-1.2: files whose state expires earlier would be read twice.
_SHORTEST_AGE = timedelta(days=14)


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


def evolution_mode(options: Options, *, has_user_schema: bool) -> str:
    """Return the schema evolution mode (AL-3.1); raise if schema or format exclude it, or it is unknown."""
    key = "cloudFiles.schemaEvolutionMode"
    text, fixed = options.raw.get(key.lower()), has_fixed_schema(options)
    chosen = ("none" if has_user_schema else MODES[0]) if text is None else text
    if options.format == "excel" and chosen.strip().lower() != "none":
        raise CloudFilesError(
            "CF_UNSUPPORTED_SCHEMA_EVOLUTION_MODE",
            f"cloudFiles.schemaEvolutionMode is {chosen}, but the schema of excel files does not evolve.",
            next_step="Set cloudFiles.schemaEvolutionMode to none.",
        )
    if text is None:
        return "none" if has_user_schema or fixed else "addNewColumns"
    mode = known_evolution_mode(text)
    if mode != "none" and fixed:
        raise CloudFilesError(
            "CF_UNSUPPORTED_SCHEMA_EVOLUTION_MODE",
            f"cloudFiles.schemaEvolutionMode is {mode}, but {options.format} files have a fixed schema.",
            next_step="Remove cloudFiles.schemaEvolutionMode or set it to none.",
        )
    if mode.startswith("addNewColumns") and has_user_schema:
        raise CloudFilesError(
            "CF_ADD_NEW_NOT_SUPPORTED",
            f"Schema evolution mode {mode} is not supported when a schema is given.",
            next_step="Remove .schema(…) and set types in cloudFiles.schemaHints.",
        )
    return mode


def known_evolution_mode(text: str) -> str:
    """Return the schema evolution mode as it is spelled; raise CloudFilesError for an unknown one."""
    mode = next((known for known in MODES if known.lower() == text.strip().lower()), None)
    if mode is None:
        raise CloudFilesError(
            "CF_INVALID_SCHEMA_EVOLUTION_MODE",
            f"cloudFiles.schemaEvolutionMode is {text!r}; the modes are {', '.join(MODES)}.",
            next_step="Choose one of them.",
        )
    return mode


RESCUED_COLUMN = "_rescued_data"
"""The rescued data column where the options name none."""


def rescued_column(options: Options, *, has_user_schema: bool) -> str | None:
    """Return the rescued data column: for inferred schemas, if named, and in mode `rescue` (AL-4.3)."""
    is_rescued = not has_user_schema or evolution_mode(options, has_user_schema=True) == "rescue"
    return options.rescued_column or (RESCUED_COLUMN if is_rescued else None)


def has_fixed_schema(options: Options) -> bool:
    """Return whether nothing is inferred: the format fixes the columns, or a VARIANT column does."""
    return options.format in FIXED_SCHEMA_FORMATS or bool(options.text("singleVariantColumn"))


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


_DEEPEST_RECURSION = 15


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
