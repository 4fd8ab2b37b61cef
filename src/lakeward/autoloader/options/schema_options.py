"""The options that decide on the columns of a stream: evolution mode and rescued data column (AL-3, AL-4)."""

from __future__ import annotations

from lakeward.autoloader.options.option_table import MODES
from lakeward.autoloader.options.option_values import Options
from lakeward.errors import CloudFilesError

FIXED_SCHEMA_FORMATS = ("text", "binaryfile")


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
