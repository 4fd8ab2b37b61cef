"""Private tables: stored under names that listings omit, readable by their owner under their public name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Both as in jvm/PrivateTables.java, which resolves the names.
_SETTING = "spark.lakeward.private."
_PREFIX = "__private_"


def is_private_table(table: str) -> bool:
    """Return whether the name is the stored name of a private table."""
    return table.startswith(_PREFIX)


@contextmanager
def private_tables(spark: SparkSession, owner: str, names: Iterable[tuple[str, ...]]) -> Iterator[None]:
    """Resolve `names` (catalog, schema, table) to `owner`'s private tables within the block.

    Other code does not see them and can use the names for its own tables.
    """
    mark = hashlib.sha256(owner.encode()).hexdigest()[:12]
    settings = {_SETTING + ".".join(name).lower(): f"{_PREFIX}{mark}_{name[-1].lower()}" for name in names}
    for key, stored in settings.items():
        spark.conf.set(key, stored)
    try:
        yield
    finally:
        for key in settings:
            spark.conf.unset(key)


def stored_name(spark: SparkSession, name: tuple[str, ...]) -> tuple[str, ...]:
    """Return the stored name (catalog, schema, table) of the table that `name` means in the session."""
    return (*name[:-1], spark.conf.get(_SETTING + ".".join(name).lower(), name[-1]) or name[-1])
