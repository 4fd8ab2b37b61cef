"""A COPY INTO statement with validated options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.errors import SqlError

if TYPE_CHECKING:
    from lakeward.sql import CopyInto

# All COPY_OPTIONS; each is a flag.
COPY_OPTIONS = ("force", "mergeSchema")
# Databricks' COPY INTO does not support these options either (AL-8.15).
_UNSUPPORTED_OPTIONS = ("rescuedDataColumn", "columnNameOfCorruptRecord")


@dataclass(frozen=True)
class CopyIntoRequest:
    """The clauses and options of one statement.

    `select` is the text before and after the source path if the statement has a query. Keys of `options` are
    in lower case.
    """

    target: tuple[str, ...]
    source: str
    format: str
    select: tuple[str, str] | None
    columns: tuple[str, ...] | None
    by_position: bool
    validate: int | str | None
    files: tuple[str, ...] | None
    pattern: str | None
    options: Mapping[str, str]
    force: bool
    merge_schema: bool

    @classmethod
    def of(cls, command: CopyInto) -> CopyIntoRequest:
        """Validate a parsed statement; raise SqlError for options that COPY INTO does not support."""
        options = {key.lower(): value for key, value in command.format_options.items()}
        for key in _UNSUPPORTED_OPTIONS:
            if key.lower() in options and (key == "rescuedDataColumn" or command.file_format == "CSV"):
                raise SqlError(
                    "COPY_INTO_UNSUPPORTED_FEATURE",
                    f"COPY INTO does not support the option {key}.",
                    sql_state="0A000",
                    next_step="Remove it, or load the files with Auto Loader.",
                )
        flags = _parse_flags(command.copy_options)
        positional = command.by_position or command.columns is not None
        if positional and (command.file_format != "CSV" or _is_true(options.get("header", "false"))):
            raise SqlError(
                "COPY_INTO_UNSUPPORTED_FEATURE",
                "A column list and BY POSITION require CSV files without a header.",
                sql_state="0A000",
                next_step="Remove them to match columns by name, or set 'header' = 'false'.",
            )
        return cls(
            target=tuple(command.target),
            source=command.source,
            format=command.file_format.lower(),
            select=None if command.select is None else (command.select[0], command.select[1]),
            columns=None if command.columns is None else tuple(command.columns),
            by_position=command.by_position,
            validate=command.validate,
            files=None if command.files is None else tuple(command.files),
            pattern=command.pattern,
            options=options,
            force=flags["force"],
            merge_schema=flags["mergeschema"],
        )

    def flag(self, key: str, *, default: bool) -> bool:
        """Return a boolean of FORMAT_OPTIONS."""
        value = self.options.get(key.lower())
        return default if value is None else _is_true(value)


def _parse_flags(options: Mapping[str, str]) -> dict[str, bool]:
    flags = {key.lower(): False for key in COPY_OPTIONS}
    for key, value in options.items():
        if key.lower() not in flags:
            raise SqlError(
                "COPY_INTO_SYNTAX_ERROR",
                f"COPY_OPTIONS has no option {key}.",
                sql_state="42601",
                next_step=f"Supported options: {', '.join(COPY_OPTIONS)}.",
            )
        if value.strip().lower() not in ("true", "false"):
            # Taken for false, a mistyped `force` would load nothing.
            raise SqlError(
                "COPY_INTO_SYNTAX_ERROR",
                f"COPY_OPTIONS has {key} = '{value}'; expected true or false.",
                sql_state="42601",
                next_step="Correct the value or remove the option.",
            )
        flags[key.lower()] = _is_true(value)
    return flags


def _is_true(value: str) -> bool:
    return value.strip().lower() == "true"
