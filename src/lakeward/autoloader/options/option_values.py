"""The options of one stream with declared types and defaults.

Options arrive as strings, whatever the user passed (AL-1.1.9).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import Any

from lakeward.autoloader.options.option_table import PREFIX, Option, find_option
from lakeward.errors import CloudFilesError

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
            if row.kind == "choice":
                return _choice(row, text)
            return _PARSERS.get(row.kind, str)(text)
        except ValueError as error:
            shown = "a value" if row.secret else repr(text)
            raise CloudFilesError(
                "CF_INVALID_OPTION_VALUE",
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
    raise ValueError("one of " + ", ".join(row.choices))
