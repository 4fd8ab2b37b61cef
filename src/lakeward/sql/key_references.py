"""Foreign keys that reference a primary key, which is dropped with them or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.sql.information_schema.catalog_view import CatalogView, Name
from lakeward.sql.session_context import current_context

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def release_primary_key(spark: SparkSession, table: Sequence[str], *, cascade: bool) -> None:
    """Drop the foreign keys that reference `table`, a full name; without `cascade` raise SqlError for one.

    Source: https://docs.databricks.com/aws/en/sql/language-manual/sql-ref-syntax-ddl-alter-table-drop-constraint
    """
    wanted = [part.lower() for part in table]
    for child, keys in _tables_with_keys(spark):
        remaining = [key for key in keys if [part.lower() for part in key["parent"] or ()] != wanted]
        referencing = [key for key in keys if key not in remaining]
        if not referencing:
            continue
        if not cascade:
            raise SqlError(
                "INVALID_STATE",
                f"The primary key of {'.'.join(table)} is referenced by the foreign key "
                f"{referencing[0]['name']} of {'.'.join(child)}.",
                sql_state="55000",
                next_step="Drop the foreign key first, or add CASCADE, which drops it, too.",
            )
        current_context(spark).update_metadata("TABLE", child, keys=remaining)


def _tables_with_keys(spark: SparkSession) -> Iterator[tuple[Name, list[dict[str, Any]]]]:
    for catalog in current_context(spark).catalogs():
        for name, metadata in CatalogView(spark, catalog).tables_with_metadata():
            if keys := metadata.get("keys"):
                yield name, keys
