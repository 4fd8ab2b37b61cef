"""Catalogs that every workspace has, and those that a project declares.

A project declares them with `catalogs` in `[tool.lakeward]` of pyproject.toml, and with LAKEWARD_CATALOGS.
Every session of the project creates them, as a workspace has its catalogs before any code runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lakeward.errors import ConfigurationError
from lakeward.quoting import is_placeholder, quote_if_needed

CATALOGS_VARIABLE = "LAKEWARD_CATALOGS"
PROVIDED_CATALOGS = ("samples", "system")
"""Catalogs whose tables the platform provides; they have no other schemas."""
DEFAULT_CATALOGS = ("main", "workspace")
"""Default catalogs of workspaces: `workspace` is that of Free Edition."""
CATALOGS_WITH_DEFAULT = (*DEFAULT_CATALOGS, "hive_metastore")
"""Catalogs whose schema `default` exists from the start."""
BUILT_IN_CATALOGS = (*CATALOGS_WITH_DEFAULT, *PROVIDED_CATALOGS)
"""Catalogs that every lakehouse has."""
_NAME = re.compile(r"\w[\w-]*")
_MISSING = re.compile(
    r"\[(?:NO_SUCH_CATALOG_EXCEPTION|CATALOG_NOT_FOUND)\][\s\S]*?[Cc]atalog [`']([^`']+)[`']"
)
_MISSING_SCHEMA = re.compile(
    r"\[SCHEMA_NOT_FOUND\][\s\S]*?[Ss]chema\s+((?:`(?:[^`]|``)+`\s*\.?\s*)+|[^\s`]+)\s+cannot"
)


def read_default_catalog(table: Mapping[str, object]) -> str:
    """Return the catalog of names without one: `default-catalog` of `[tool.lakeward]`, else `main`.

    Raises ConfigurationError (CATALOGS_INVALID).
    """
    name = table.get("default-catalog", DEFAULT_CATALOGS[0])
    _require_name(name, 'Give one name: default-catalog = "dev".')
    return str(name).lower()


def _require_name(name: object, next_step: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError(
            "CATALOGS_INVALID", f"{name!r} is not the name of a catalog.", next_step=next_step
        )


def read_catalogs(table: Mapping[str, object], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names in `table`, which is `[tool.lakeward]`, and those of LAKEWARD_CATALOGS (by commas).

    Names are in lower case, as catalogs are stored. Raises ConfigurationError (CATALOGS_INVALID).
    """
    declared = table.get("catalogs", [])
    names = [*declared] if isinstance(declared, list) else [declared]
    names += filter(None, environ.get(CATALOGS_VARIABLE, "").split(","))
    for name in names:
        _require_name(name, 'Give names of letters, digits, _ and -: catalogs = ["dev", "prod"].')
    return tuple(dict.fromkeys(str(name).lower() for name in names))


def extend_catalogs(environ: Mapping[str, str], names: Iterable[str]) -> str:
    """Return the value of LAKEWARD_CATALOGS that has these names, too.

    >>> extend_catalogs({"LAKEWARD_CATALOGS": "dev"}, ["prod"])
    'dev,prod'
    """
    return ",".join(filter(None, (environ.get(CATALOGS_VARIABLE), *names)))


def missing_catalog(text: str) -> str | None:
    """Return the catalog that the error `text` does not find; None for other errors.

    >>> missing_catalog("[CATALOG_NOT_FOUND] The catalog `dev` not found.")
    'dev'
    """
    found = _MISSING.search(text)
    return found.group(1) if found else None


def catalog_remedy(name: str) -> str:
    """Return one sentence on how to create a catalog of the workspace locally."""
    if is_placeholder(name):
        return f"{name} is a placeholder, which nothing has replaced by the name of a catalog."
    return (
        f'If {name} is a catalog of your workspace: catalogs = ["{name}"] under [tool.lakeward] in '
        f"pyproject.toml creates it in every session of the project, and lakeward sql -e "
        f"'CREATE CATALOG {quote_if_needed(name)}' creates it once."
    )


def catalog_hint(text: str) -> str | None:
    """Return the remedy for an error about a missing catalog; None for others and if the error names it."""
    name = missing_catalog(text)
    return None if name is None or "[tool.lakeward]" in text else catalog_remedy(name)


def missing_schema(text: str) -> str | None:
    """Return the name of the schema that the error `text` does not find, quoted for SQL; None for others.

    >>> missing_schema("[SCHEMA_NOT_FOUND] The schema `main`.`a b` cannot be found.")
    'main.`a b`'
    """
    found = _MISSING_SCHEMA.search(text)
    if found is None:
        return None
    parts = [part.replace("``", "`") for part in re.findall(r"`((?:[^`]|``)+)`", found.group(1))]
    parts = parts or found.group(1).split(".")
    # Spark puts the current catalog before a name that USE SCHEMA qualifies.
    parts = parts[1:] if parts[0] == "spark_catalog" or len(parts) > 2 else parts
    return ".".join(map(quote_if_needed, parts))


def schema_hint(text: str) -> str | None:
    """Return the remedy for an error about a missing schema; None for others."""
    name = missing_schema(text)
    if name is None or "CREATE SCHEMA" in text or "lakeward seed" in text:
        return None
    if is_placeholder(name):
        return f"{name} is a placeholder, which nothing has replaced by the name of a schema."
    if name.partition(".")[0].strip("`").lower() in PROVIDED_CATALOGS:
        return (
            f"The platform fills {name}, and no statement creates it there. Its first table creates it here: "
            f"`lakeward seed {name}.TABLE --from FILE`."
        )
    return (
        f"If {name} is a schema of your workspace: lakeward sql -e 'CREATE SCHEMA {name}' creates it, "
        f"with the target (-t) of this command.{_default_catalog_advice(name)}"
    )


def _default_catalog_advice(schema: str) -> str:
    """Return how a workspace's own default catalog is declared, for a schema of the usual one."""
    catalog, _, below = schema.partition(".")
    if not below or catalog.strip("`").lower() != DEFAULT_CATALOGS[0]:
        return ""
    return (
        f" If names without a catalog are not in {DEFAULT_CATALOGS[0]} there: "
        'default-catalog = "CATALOG" under [tool.lakeward] in pyproject.toml.'
    )
