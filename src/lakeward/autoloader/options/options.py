"""The options of one stream: what the user set, with declared types and defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from lakeward.autoloader.options.declared import PREFIX, Option, declared
from lakeward.autoloader.options.values import as_bool, as_bytes, as_int, as_interval, as_list, as_timestamp
from lakeward.errors import CloudFilesError

__all__ = ["Options"]

_PARSERS: dict[str, Callable[[str], Any]] = {
    "bool": as_bool,
    "int": as_int,
    "bytes": as_bytes,
    "interval": as_interval,
    "list": as_list,
    "timestamp": as_timestamp,
}


@dataclass(frozen=True)
class Options:
    """Typed access, by key in any case. Reading a value that cannot be parsed raises CloudFilesError."""

    given: Mapping[str, str]

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Options:
        """The last of several spellings of a key wins, as in Spark."""
        return cls({key.lower(): value for key, value in given.items()})

    def without_secrets(self) -> Options:
        """The same with credentials blanked: plans and checkpoints must not hold them.

        So is what nobody declared (`fs.s3a.secret.key`): whether it is one cannot be known.
        """
        rows = {key: declared(key) for key in self.given}
        return Options(
            {key: text if (row := rows[key]) and not row.secret else "" for key, text in self.given.items()}
        )

    def text(self, key: str) -> str | None:
        """What the user set, else the declared default."""
        row = _row(key)
        return self.given.get(row.key.lower(), row.default)

    def is_set(self, key: str) -> bool:
        """Whether the user set it."""
        return key.lower() in self.given

    def value(self, key: str) -> Any:
        """The parsed value; None where nothing is set and there is no default."""
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
                f"Option {row.key} is set to {shown}; it takes {error}.",
                next_step="Correct the value or leave the option out.",
            ) from None

    @cached_property
    def format(self) -> str:
        """The file format, lower-case. Raises CF_FILE_FORMAT_REQUIRED."""
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
        """The rescued-data column that the user named, if any."""
        return self.text("rescuedDataColumn") or self.text("cloudFiles.rescuedDataColumn") or None

    @property
    def name_glob(self) -> str | None:
        """`pathGlobFilter`, or `fileNamePattern`."""
        return self.text("pathGlobFilter") or self.text("fileNamePattern")

    @property
    def max_files(self) -> int:
        """Files a batch at most."""
        return int(self.value("cloudFiles.maxFilesPerTrigger"))

    @property
    def max_bytes(self) -> int | None:
        """Bytes a batch, a soft limit."""
        value = self.value("cloudFiles.maxBytesPerTrigger")
        return None if value is None else int(value)

    @property
    def modified(self) -> tuple[datetime | None, datetime | None]:
        """`modifiedAfter` and `modifiedBefore`."""
        return self.value("modifiedAfter"), self.value("modifiedBefore")

    def flag(self, key: str) -> bool:
        """A boolean option."""
        return bool(self.value(key))


def _row(key: str) -> Option:
    row = declared(key)
    assert row is not None, f"{key} is not in the table of options"
    return row


def _choice(row: Option, text: str) -> str:
    for choice in row.choices:
        if choice.lower() == text.strip().lower():
            return choice
    raise ValueError("one of " + ", ".join(row.choices))
