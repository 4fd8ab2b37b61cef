"""Catalogs that every workspace has, and those that a project declares.

A project declares them with `catalogs` in `[tool.lakeward]` of pyproject.toml, and with LAKEWARD_CATALOGS.
Every session of the project creates them, as a workspace has its catalogs before any code runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lakeward.errors import ConfigurationError
from lakeward.quoting import quote_if_needed

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


def read_catalogs(table: Mapping[str, object], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names in `table`, which is `[tool.lakeward]`, and those of LAKEWARD_CATALOGS (by commas).

    Names are in lower case, as catalogs are stored. Raises ConfigurationError (CATALOGS_INVALID).
    """
    declared = table.get("catalogs", [])
    names = [*declared] if isinstance(declared, list) else [declared]
    names += filter(None, environ.get(CATALOGS_VARIABLE, "").split(","))
    for name in names:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ConfigurationError(
                "CATALOGS_INVALID",
                f"{name!r} is not the name of a catalog.",
                next_step='Give names of letters, digits, _ and -: catalogs = ["dev", "prod"].',
            )
    return tuple(dict.fromkeys(str(name).lower() for name in names))


def missing_catalog(text: str) -> str | None:
    """Return the catalog that the error `text` does not find; None for other errors.

    >>> missing_catalog("[CATALOG_NOT_FOUND] The catalog `dev` not found.")
    'dev'
    """
    found = _MISSING.search(text)
    return found.group(1) if found else None


def catalog_remedy(name: str) -> str:
    """Return one sentence on how to create a catalog of the workspace locally."""
    return (
        f'If {name} is a catalog of your workspace: catalogs = ["{name}"] under [tool.lakeward] in '
        f"pyproject.toml creates it in every session of the project, and lakeward sql -e "
        f"'CREATE CATALOG {quote_if_needed(name)}' creates it once."
    )


def catalog_hint(text: str) -> str | None:
    """Return the remedy for an error about a missing catalog; None for others and if the error names it."""
    name = missing_catalog(text)
    return None if name is None or "[tool.lakeward]" in text else catalog_remedy(name)
