"""Private tables: stored under names that no listing shows, readable under their own name by their owner."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Both as in jvm/PrivateTables.java, which leads the names where they belong.
_SETTING = "spark.lakeward.private."
_PREFIX = "__private_"


def is_private_table(table: str) -> bool:
    """Whether that is what a private table is stored under."""
    return table.startswith(_PREFIX)


@contextmanager
def private_tables(spark: SparkSession, owner: str, names: Iterable[tuple[str, ...]]) -> Iterator[None]:
    """A block in which `names` (catalog, schema, table) mean `owner`'s private tables, in every statement.

    Other code does not find them and can use the names for its own tables.
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
    """The name (catalog, schema, table) that the table is stored under which `name` means in the session."""
    return (*name[:-1], spark.conf.get(_SETTING + ".".join(name).lower(), name[-1]) or name[-1])
