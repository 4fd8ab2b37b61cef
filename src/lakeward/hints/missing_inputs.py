"""What explains an error: the runtime, and where or how code gets what an error does not find."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lakeward.hints.near_names import import_hint, missing_volumes, setting_hint, table_hint, volume_hint
from lakeward.hints.table_sources import searched_tables, table_sources_hint

if TYPE_CHECKING:
    from lakeward.session import Settings

_MODULE = re.compile(r"No module named '(?P<name>[\w.]+)'")
# They are of the platform, of Spark or of lakeward: no package brings them.
_WITHOUT_PACKAGE = frozenset(("dbruntime", "dlt", "lakeward", "pyspark"))
_ICEBERG = re.compile(r"DATA_SOURCE_NOT_FOUND\b.*\bdata source: iceberg\b", re.IGNORECASE)


def hints_of(text: str, settings: Settings) -> list[str]:
    """Return what explains an error in `text`, for commands and tests that run code of users."""
    from lakeward.session import ansi_hint, catalog_hint, folder_hint, removed_function_hint, schema_hint

    other = other_lakehouse_hint(text, settings)
    sources = None if other else table_sources_hint(text, settings)
    near_volume = None if other else volume_hint(text, settings)
    hints = (
        ansi_hint(text, settings),
        removed_function_hint(text, settings),
        other or catalog_hint(text),
        None if other else schema_hint(text),
        schema_inference_hint(text),
        iceberg_hint(text),
        package_hint(text, settings.profile),
        import_hint(text),
        setting_hint(text),
        sources,
        None if other or sources else table_hint(text, settings),
        near_volume,
        None if other or near_volume else folder_hint(text, settings),
    )
    return [hint for hint in hints if hint is not None]


def schema_inference_hint(text: str) -> str | None:
    """Return what to do where `from_json` was to infer its schema; None for other errors.

    >>> schema_inference_hint('[INVALID_SCHEMA.NON_STRING_LITERAL] The input schema "NULL" is …')[:26]
    'Only flows of pipelines in'
    >>> schema_inference_hint('[INVALID_SCHEMA.NON_STRING_LITERAL] The input schema "a" is …')
    """
    if "INVALID_SCHEMA.NON_STRING_LITERAL" not in text or 'schema "NULL"' not in text:
        return None
    return (
        "Only flows of pipelines infer the schema of from_json(…, NULL, map('schemaLocationKey', …)): "
        "give the schema, or read JSON files with Auto Loader, which infers it."
    )


def iceberg_hint(text: str) -> str | None:
    """Return what to do about a table with USING ICEBERG; None for other errors.

    >>> iceberg_hint("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: iceberg. Make …")[:36]
    'Tables are stored as Delta here, not'
    >>> iceberg_hint("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: ducks. Make …")
    """
    if not _ICEBERG.search(text):
        return None
    return (
        "Tables are stored as Delta here, not as Iceberg. Leave USING ICEBERG out, or create a Delta table "
        "that Iceberg clients read on the platform: TBLPROPERTIES "
        "('delta.universalFormat.enabledFormats' = 'iceberg')."
    )


def package_hint(text: str, runtime: str | None) -> str | None:
    """Return how to install the module that the error `text` reports as missing; None for other errors.

    >>> package_hint("No module named 'shop.load'", "16.4")
    'If a package has the module `shop`: declare it, or call lakeward with `--with PACKAGE`.'
    >>> package_hint("No module named 'dlt'", "16.4")
    """
    from lakeward.check import package_cure

    found = _MODULE.search(text)
    if found is None or found["name"].partition(".")[0] in _WITHOUT_PACKAGE or "--with" in text:
        return None
    return package_cure(found["name"], runtime)


# The lakehouse of commands outside of bundles.
_WITHOUT_BUNDLE = "local"


def other_lakehouse_hint(text: str, settings: Settings) -> str | None:
    """Return which other lakehouse has what the error `text` does not find; None if none has it."""
    for shown, below in _missing(text):
        for state in _other_states(settings):
            if _has_files(state / below):
                return (
                    f"{shown} is in the lakehouse `{state.name}` of this folder, and this command used "
                    f"`{settings.target}`. {_cure(state.name, settings.target)}"
                )
    return None


def _missing(text: str) -> Iterator[tuple[str, Path]]:
    """Yield the names that an error does not find, and where a lakehouse keeps each."""
    from lakeward.session import missing_catalog, missing_schema

    for name in missing_volumes(text):
        yield f"/Volumes/{name}", Path("volumes", name.lower())
    for table in searched_tables(text):
        if len(table) == 3:
            yield ".".join(table), Path("warehouse", *map(str.lower, table))
    schema = missing_schema(text)
    parts = (schema or "").replace("`", "").split(".")
    if len(parts) == 2:
        yield f"The schema {schema}", Path("warehouse", *map(str.lower, parts))
    if catalog := missing_catalog(text):
        yield f"The catalog {catalog}", Path("warehouse", catalog.lower())


def _other_states(settings: Settings) -> list[Path]:
    """Return the state folders of the other targets."""
    if not settings.home.is_dir():
        return []
    return sorted(each for each in settings.home.iterdir() if each.is_dir() and each.name != settings.target)


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(folder.iterdir())


def _cure(other: str, target: str) -> str:
    if other == _WITHOUT_BUNDLE:
        return f"Commands without a target use `{other}`: repeat the one that made it with `-t {target}`."
    return f"Add `-t {other}` to use that one."
