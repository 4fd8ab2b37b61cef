"""Tables that are missing when they are read: created from their declared seed, else the error has a hint.

Spark says that a table is missing before anything is read, so the same call can be made again.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import wraps
from typing import TYPE_CHECKING, Any

from lakeward.errors import SeedError
from lakeward.patching import Order, PatchSpec, Wrapped
from lakeward.quoting import quote_name
from lakeward.seeds.declarations import DeclaredSeed, declared_seeds
from lakeward.seeds.frames import frame_of_files
from lakeward.seeds.hints import missing_table, seed_hint
from lakeward.seeds.names import TableName
from lakeward.seeds.tables import exists, seed_frame
from lakeward.session import current_settings
from lakeward.spark_internals import catalog_manager, session_of, session_state

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def create_table(spark: SparkSession, seed: DeclaredSeed) -> None:
    """Create the table of a declared seed unless it exists. Raises SeedError."""
    if not exists(spark, seed.name):
        seed_frame(spark, seed.name, frame_of_files(spark, seed.source, seed.ddl))


def reserve_names(spark: SparkSession) -> None:
    """Hide built-in tables (`system.…`) with a declared seed: their first read creates them from it."""
    settings = current_settings()
    names: list[str] = []
    # An invalid declaration is reported where a table is missing.
    with suppress(SeedError):
        names = [str(name).lower() for name in declared_seeds(settings)] if settings else []
    conf: Any = session_state(spark).conf()
    conf.setConfString("lakeward.seeds.declared", ",".join(names))


def _retry_with_seed(before: Wrapped) -> Any:
    from pyspark.errors import AnalysisException

    @wraps(before)
    def read(self: Any, *arguments: Any, **named: Any) -> Any:
        seeded: set[TableName] = set()
        while True:
            try:
                return before(self, *arguments, **named)
            except AnalysisException as error:
                if not _create_missing(session_of(self), error, seeded):
                    raise

    return read


def _for_name(entry: Any) -> Any:
    from pyspark.errors import AnalysisException

    before = entry.__func__

    @wraps(before)
    def for_name(cls: Any, sparkSession: SparkSession, tableOrViewName: str) -> Any:
        try:
            return before(cls, sparkSession, tableOrViewName)
        except AnalysisException:
            seed = _declared_seed(sparkSession, tableOrViewName)
            if seed is None or exists(sparkSession, seed.name):
                raise
            create_table(sparkSession, seed)
        return before(cls, sparkSession, tableOrViewName)

    return classmethod(for_name)


def _exists_with_seed(before: Wrapped) -> Any:
    @wraps(before)
    def table_exists(self: Any, tableName: str, dbName: str | None = None) -> bool:
        if before(self, tableName, dbName):
            return True
        spark = self._sparkSession
        seed = _declared_seed(spark, tableName if dbName is None else f"{dbName}.{tableName}")
        if seed is None:
            return False
        create_table(spark, seed)
        return True

    return table_exists


def _create_missing(spark: SparkSession, error: Any, seeded: set[TableName]) -> bool:
    """Create the missing table of an error from its seed, or add a hint to the error.

    Returns whether to make the call again.
    """
    missing = missing_table(str(error)) if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND" else None
    if missing is None:
        return False
    text = quote_name(missing)
    seed = _declared_seed(spark, text)
    if seed is not None and seed.name not in seeded:
        seeded.add(seed.name)
        create_table(spark, seed)
        return True
    name = _table_name(spark, text)
    if name is not None:
        _note(error, seed_hint(str(name)))
    return False


def _table_name(spark: SparkSession, text: str) -> TableName | None:
    catalog = catalog_manager(spark)
    namespace = catalog.currentNamespace()
    schema = namespace[0] if len(namespace) else "default"
    try:
        return TableName.of(text, catalog=catalog.currentCatalog().name(), schema=schema)
    except SeedError:
        return None


def _declared_seed(spark: SparkSession, text: str) -> DeclaredSeed | None:
    settings = current_settings()
    declared = declared_seeds(settings) if settings else {}
    if not declared:
        return None
    name = _table_name(spark, text)
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
        ("pyspark.sql.session:SparkSession", "table", _retry_with_seed),
        ("pyspark.sql.session:SparkSession", "sql", _retry_with_seed),
        ("pyspark.sql.readwriter:DataFrameReader", "table", _retry_with_seed),
        ("pyspark.sql.streaming.readwriter:DataStreamReader", "table", _retry_with_seed),
        ("pyspark.sql.catalog:Catalog", "tableExists", _exists_with_seed),
        ("delta.tables:DeltaTable", "forName", _for_name),
    )
)
