"""The options of one stream with declared types and defaults (AL-1).

Options arrive as strings, whatever the user passed (AL-1.1.9).
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from lakeward.autoloader.options.option_parsing import PARSERS
from lakeward.autoloader.options.option_table import PREFIX, Option, find_option
from lakeward.errors import CloudFilesError


def use_delta_format(reason: str) -> CloudFilesError:
    """Return the error of a Delta table that is read as files; `reason` is the evidence for it.

    Source: https://docs.databricks.com/aws/en/error-messages/error-classes (CF_USE_DELTA_FORMAT)
    """
    return CloudFilesError(
        "CF_USE_DELTA_FORMAT",
        f"{reason}, which Auto Loader and read_files do not read.",
        next_step="Read it with spark.readStream.table(…) or spark.read.table(…), or with format('delta').",
    )


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
            return PARSERS.get(row.kind, str)(text)
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
        """`charset`, or `encoding`, by Python's name (`utf-8`); raises CloudFilesError for an unknown one."""
        name = self.raw.get("charset") or str(self.text("encoding"))
        try:
            return codecs.lookup(name).name
        except LookupError:
            raise CloudFilesError(
                "INVALID_PARAMETER_VALUE.CHARSET",
                f"Option encoding is set to {name!r}, which is no character set.",
                next_step="Set one such as utf-8, utf-16, iso-8859-1 or windows-1252.",
            ) from None

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
