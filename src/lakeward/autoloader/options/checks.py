"""What is refused when a stream starts, and what only earns a warning (auto-loader.md §1.1, §1.3, §3.2)."""

from __future__ import annotations

import difflib
from datetime import timedelta

from lakeward.autoloader.options.declared import FORMATS, MODES, OPTIONS, PREFIX, declared
from lakeward.autoloader.options.options import Options
from lakeward.autoloader.options.together import check_together
from lakeward.errors import CloudFilesError

__all__ = ["FIXED", "READABLE", "check", "evolution_mode", "has_fixed_schema", "needed", "warnings_of"]

READABLE = tuple(name.lower() for name in FORMATS)
FIXED = ("text", "binaryfile")
# §1.2: files that are forgotten earlier would be read twice.
_SHORTEST_AGE = timedelta(days=14)


def check(options: Options, *, given_schema: bool) -> None:
    """Raise the CloudFilesError of the first thing that is wrong; nothing is touched."""
    if options.flag("cloudFiles.validateOptions"):
        _known(options)
        check_together(options)
    needed(options)
    evolution_mode(options, given_schema=given_schema)
    for key in options.given:
        row = declared(key)
        if row is not None:
            options.value(key)
    if options.max_files < 1:
        raise CloudFilesError(
            "CF_INVALID_OPTION_VALUE",
            f"Option cloudFiles.maxFilesPerTrigger is {options.max_files}; it takes at least 1.",
            next_step="Set a positive number or leave the option out.",
        )
    age: timedelta | None = options.value("cloudFiles.maxFileAge")
    if age is not None and age < _SHORTEST_AGE:
        raise CloudFilesError(
            "CF_INVALID_OPTION_VALUE",
            f"Option cloudFiles.maxFileAge is {age.days} days; it takes at least {_SHORTEST_AGE.days} days.",
            next_step="Set 90 days or more, or leave the option out.",
        )


def evolution_mode(options: Options, *, given_schema: bool) -> str:
    """The mode in force (§3.1). Raises for unknown ones, and for those that the schema or format excludes."""
    key = "cloudFiles.schemaEvolutionMode"
    text, fixed = options.given.get(key.lower()), has_fixed_schema(options)
    if text is None:
        return "none" if given_schema or fixed else "addNewColumns"
    mode = next((known for known in MODES if known.lower() == text.strip().lower()), None)
    if mode is None:
        raise CloudFilesError(
            "CF_INVALID_SCHEMA_EVOLUTION_MODE",
            f"cloudFiles.schemaEvolutionMode is {text!r}; the modes are {', '.join(MODES)}.",
            next_step="Choose one of them.",
        )
    if mode != "none" and fixed:
        raise CloudFilesError(
            "CF_UNSUPPORTED_SCHEMA_EVOLUTION_MODE",
            f"Mode {mode} was asked for; what is read of {options.format} files has a fixed schema.",
            next_step="Leave cloudFiles.schemaEvolutionMode out or set it to none.",
        )
    if mode.startswith("addNewColumns") and given_schema:
        raise CloudFilesError(
            "CF_ADD_NEW_NOT_SUPPORTED",
            f"Schema evolution mode {mode} is not supported when a schema is given.",
            next_step="Leave .schema(…) out and name the types that matter in cloudFiles.schemaHints.",
        )
    return mode


def has_fixed_schema(options: Options) -> bool:
    """Whether nothing is to be inferred: the format says the columns, or all is one VARIANT."""
    return options.format in FIXED or bool(options.text("singleVariantColumn"))


def warnings_of(options: Options) -> list[str]:
    """One sentence for each option that is accepted and does nothing here; values are never shown."""
    rows = (declared(key) for key in options.given)
    return [
        f"Option {row.key} has no effect here: {row.note}."
        for row in rows
        if row and row.verdict == "accepted"
    ]


def _known(options: Options) -> None:
    unknown = [key for key in options.given if key.startswith(PREFIX.lower()) and declared(key) is None]
    if not unknown:
        return
    names = {row.key.lower(): row.key for row in OPTIONS}
    near = [names[n] for key in unknown for n in _near(key, list(names))]
    hint = f"Did you mean {' or '.join(near)}?" if near else "Check the spelling, or leave them out."
    raise CloudFilesError(
        "CF_UNKNOWN_OPTION_KEYS_ERROR",
        f"Found unknown option keys: {', '.join(sorted(unknown))}.",
        next_step=f"{hint} (cloudFiles.validateOptions=false skips this check.)",
    )


def _near(key: str, names: list[str]) -> list[str]:
    bare = key.removeprefix(PREFIX.lower())
    return [bare] if bare in names else difflib.get_close_matches(key, names, 1, 0.8)


def needed(options: Options) -> None:
    """Raise for an option that the format cannot do without."""
    if options.format == "xml" and not options.text("rowTag"):
        raise CloudFilesError(
            "XML_ROW_TAG_MISSING",
            "cloudFiles.format is xml; the option rowTag is not set.",
            next_step="Set it to the name of the element that is a row: .option('rowTag', 'book').",
        )
