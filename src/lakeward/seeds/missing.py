"""A table that is missing when it is first read: its declared seed takes its place, else the error helps.

Spark says that a table is missing before anything is read, so the same call can be made again.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

from lakeward import patching
from lakeward.errors import SeedError
from lakeward.patching import Order, PatchSpec
from lakeward.seeds.advice import missing_table, ways
from lakeward.seeds.declared import Declared, declared_seeds
from lakeward.seeds.frames import from_files
from lakeward.seeds.names import TableName
from lakeward.seeds.tables import exists, write
from lakeward.session import current_settings
from lakeward.spark_internals import catalog_manager, session_state

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def apply(spark: SparkSession, seed: Declared) -> None:
    """Make the table of a declared seed, or leave it as it is where it exists. Raises SeedError."""
    if not exists(spark, seed.name):
        write(spark, seed.name, from_files(spark, seed.source, seed.ddl))


def reserve(spark: SparkSession) -> None:
    """Let a table that every workspace has (`system.…`) be missing until its declared seed is there."""
    settings = current_settings()
    names: list[str] = []
    # An invalid declaration is reported where a table is missing.
    with suppress(SeedError):
        names = [str(name).lower() for name in declared_seeds(settings)] if settings else []
    conf: Any = session_state(spark).conf()
    conf.setConfString("lakeward.seeds.declared", ",".join(names))


def patch() -> None:
    """Look after missing tables from now on; a second call changes nothing."""
    patching.install(PATCHES)


def _reading(before: Any) -> Any:
    from pyspark.errors import AnalysisException

    @wraps(before)
    def reading(self: Any, *arguments: Any, **named: Any) -> Any:
        seeded: set[TableName] = set()
        while True:
            try:
                return before(self, *arguments, **named)
            except AnalysisException as error:
                if not _helped(_session_of(self), error, seeded):
                    raise

    return reading


def _for_name(entry: Any) -> Any:
    from pyspark.errors import AnalysisException

    before = entry.__func__

    @wraps(before)
    def for_name(cls: Any, sparkSession: SparkSession, tableOrViewName: str) -> Any:
        try:
            return before(cls, sparkSession, tableOrViewName)
        except AnalysisException:
            seed = _declared(sparkSession, tableOrViewName)
            if seed is None or exists(sparkSession, seed.name):
                raise
            apply(sparkSession, seed)
        return before(cls, sparkSession, tableOrViewName)

    return classmethod(for_name)


def _asking(before: Any) -> Any:
    @wraps(before)
    def asking(self: Any, tableName: str, dbName: str | None = None) -> bool:
        if before(self, tableName, dbName):
            return True
        spark = self._sparkSession
        seed = _declared(spark, tableName if dbName is None else f"{dbName}.{tableName}")
        if seed is None:
            return False
        apply(spark, seed)
        return True

    return asking


def _session_of(owner: Any) -> SparkSession:
    return getattr(owner, "_spark", owner)  # type: ignore[no-any-return]  # a reader's session, or the session


def _helped(spark: SparkSession, error: Any, seeded: set[TableName]) -> bool:
    """Return whether to retry the call; if not, the error has the next step."""
    missing = missing_table(str(error)) if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND" else None
    if missing is None:
        return False
    seed = _declared(spark, missing)
    if seed is not None and seed.name not in seeded:
        seeded.add(seed.name)
        apply(spark, seed)
        return True
    name = _named(spark, missing)
    if name is not None:
        _note(error, ways(str(name)))
    return False


def _named(spark: SparkSession, text: str) -> TableName | None:
    catalog = catalog_manager(spark)
    namespace = catalog.currentNamespace()
    schema = namespace[0] if len(namespace) else "default"
    try:
        return TableName.of(text, catalog=catalog.currentCatalog().name(), schema=schema)
    except SeedError:
        return None


def _declared(spark: SparkSession, text: str) -> Declared | None:
    settings = current_settings()
    declared = declared_seeds(settings) if settings else {}
    if not declared:
        return None
    name = _named(spark, text)
    return next((seed for known, seed in declared.items() if str(known).lower() == str(name).lower()), None)


def _note(error: BaseException, text: str) -> None:
    """Add a line to what a traceback shows; notes of exceptions are Python 3.11's."""
    if sys.version_info >= (3, 11):
        if text not in getattr(error, "__notes__", ()):
            error.add_note(text)
    elif text not in str(error):
        vars(error)["_desc"] = f"{error}\n{text}"


PATCHES = tuple(
    PatchSpec(owner, name, "seeds", "a missing table is created from its declared seed", make, Order.FALLBACK)
    for owner, name, make in (
        ("pyspark.sql.session:SparkSession", "table", _reading),
        ("pyspark.sql.session:SparkSession", "sql", _reading),
        ("pyspark.sql.readwriter:DataFrameReader", "table", _reading),
        ("pyspark.sql.streaming.readwriter:DataStreamReader", "table", _reading),
        ("pyspark.sql.catalog:Catalog", "tableExists", _asking),
        ("delta.tables:DeltaTable", "forName", _for_name),
    )
)
