"""Errors of Spark and Delta show the user's names of schemas.

Spark's session catalog has one level of databases: `IdentifierCodec` joins catalog and schema into one name,
`main__default`. Errors about functions, partitions and databases contain this name.
"""

from __future__ import annotations

import re
from functools import partial, wraps
from pathlib import Path
from typing import Any

from lakeward.patching import PatchSpec

# `main__default`.`f`, spark_catalog.main__default.t: a joined name, with what follows or comes before it.
_JOINED = re.compile(
    r"(?P<session>`?spark_catalog`?\.)?(?P<quote>`?)\b(?P<catalog>[a-z0-9]+(?:_[a-z0-9]+)*)__"
    r"(?P<schema>[a-z0-9]+(?:_[a-z0-9]+)*)(?P=quote)(?P<table>\.`?\w)?"
)
_ESCAPED = re.compile(r"_u([0-9a-f]{4})")


def install_error_names_patches(warehouse: Path) -> None:
    """Let errors that come from the JVM name catalog and schema; `warehouse` has a folder per catalog."""
    [spec] = PATCHES
    spec.remove()
    spec.install(partial(_convert_exception, warehouse=warehouse))


def with_users_names(text: str, catalogs: frozenset[str]) -> str:
    """Return an error's text with the names of `catalogs` and their schemas, instead of the joined ones.

    >>> with_users_names("no `main__default`.`f`, or spark_catalog.main__s.t", frozenset({"main"}))
    'no `main`.`default`.`f`, or main.s.t'
    >>> with_users_names("no `main__id`, no `other__s`.`t`", frozenset({"main"}))
    'no `main__id`, no `other__s`.`t`'
    """

    def named(match: re.Match[str]) -> str:
        catalog, schema = _decoded(match["catalog"]), _decoded(match["schema"])
        if catalog not in catalogs or not (match["session"] or match["table"]):
            return match[0]
        quote = match["quote"]
        return f"{quote}{catalog}{quote}.{quote}{schema}{quote}{match['table'] or ''}"

    return _JOINED.sub(named, text)


def _decoded(name: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), name)


def _convert_exception(before: Any, *, warehouse: Path) -> Any:
    @wraps(before)
    def convert_exception(e: Any) -> Any:
        converted = before(e)
        text = getattr(converted, "_desc", None)
        if text and "__" in text and warehouse.is_dir():
            catalogs = frozenset(each.name for each in warehouse.iterdir())
            converted._desc = with_users_names(text, catalogs)
        return converted

    return convert_exception


PATCHES = (
    PatchSpec(
        "pyspark.errors.exceptions.captured",
        "convert_exception",
        "session",
        "errors name catalog and schema, not the database in which Spark keeps them",
    ),
)
