"""What a COPY INTO statement asks for, with its options looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.errors import SqlError

__all__ = ["Request"]

# What a statement may say in COPY_OPTIONS; each is a flag.
COPY_OPTIONS = ("force", "mergeSchema")
# Options of files that COPY INTO does not have on the platform either (§8 rule 15).
_WITHOUT = ("rescuedDataColumn", "columnNameOfCorruptRecord")


@dataclass(frozen=True)
class Request:
    """`select` is what stands before and behind the path of a query; keys of `options` are in lower case."""

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
    def of(cls, statement: Mapping[str, Any]) -> Request:
        """The request of a parsed statement. Raises SqlError for options that COPY INTO does not take."""
        options = {key.lower(): value for key, value in statement["format_options"].items()}
        for key in _WITHOUT:
            if key.lower() in options and (key == "rescuedDataColumn" or statement["file_format"] == "CSV"):
                raise SqlError(
                    "COPY_INTO_UNSUPPORTED_FEATURE",
                    f"COPY INTO does not take the option {key}.",
                    sql_state="0A000",
                    next_step="Leave it out, or load the files with Auto Loader.",
                )
        flags = _flags(statement["copy_options"])
        positional = statement["by_position"] or statement["columns"] is not None
        if positional and (statement["file_format"] != "CSV" or _is_true(options.get("header", "false"))):
            raise SqlError(
                "COPY_INTO_UNSUPPORTED_FEATURE",
                "A column list and BY POSITION are for CSV files without a header.",
                sql_state="0A000",
                next_step="Leave them out: files with names are matched by name. Or set 'header' = 'false'.",
            )
        return cls(
            target=tuple(statement["target"]),
            source=statement["source"],
            format=statement["file_format"].lower(),
            select=None if statement["select"] is None else (statement["select"][0], statement["select"][1]),
            columns=None if statement["columns"] is None else tuple(statement["columns"]),
            by_position=statement["by_position"],
            validate=statement["validate"],
            files=None if statement["files"] is None else tuple(statement["files"]),
            pattern=statement["pattern"],
            options=options,
            force=flags["force"],
            merge_schema=flags["mergeschema"],
        )

    def flag(self, key: str, *, default: bool) -> bool:
        """A boolean of FORMAT_OPTIONS."""
        value = self.options.get(key.lower())
        return default if value is None else _is_true(value)


def _flags(given: Mapping[str, str]) -> dict[str, bool]:
    found = {key.lower(): False for key in COPY_OPTIONS}
    for key, value in given.items():
        if key.lower() not in found:
            raise SqlError(
                "COPY_INTO_SYNTAX_ERROR",
                f"COPY_OPTIONS has no option {key}.",
                sql_state="42601",
                next_step=f"It takes {' and '.join(COPY_OPTIONS)}.",
            )
        found[key.lower()] = _is_true(value)
    return found


def _is_true(value: str) -> bool:
    return value.strip().lower() == "true"
