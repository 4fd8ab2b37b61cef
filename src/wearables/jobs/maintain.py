"""Entry point `maintain`: few files, fresh statistics, nothing kept that no reader can still ask for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pyspark.sql import SparkSession

__all__ = ["STATEMENTS", "MaintenanceError", "main", "maintain", "tables_of"]

STATEMENTS = (
    "OPTIMIZE {table}",
    "ANALYZE TABLE {table} COMPUTE STATISTICS FOR ALL COLUMNS",
    "VACUUM {table}",
)
"""In this order: files that OPTIMIZE replaced are removed by a later VACUUM, when their time is over."""


class MaintenanceError(Exception):
    """Some statements failed; the message names each with its reason, and all others were executed."""


def main(argv: Sequence[str] | None = None) -> None:
    """Maintain the tables in the catalog and schema that the arguments name (`sys.argv` when None)."""
    parser = argparse.ArgumentParser(prog="maintain", description=__doc__)
    parser.add_argument("--catalog", required=True)
    parser.add_argument("--schema", required=True)
    arguments, _ = parser.parse_known_args(argv)
    names = maintain(SparkSession.builder.getOrCreate(), f"`{arguments.catalog}`.`{arguments.schema}`")
    print(f"maintained {len(names)} tables: {', '.join(names)}")


def maintain(spark: SparkSession, schema: str) -> list[str]:
    """Execute every statement on every table of `schema` and return the tables' names.

    Views and temporary tables are left out. Raises MaintenanceError after the last table when any failed.
    """
    names = tables_of(spark, schema)
    failed = [reason for name in names for reason in _maintained(spark, f"{schema}.`{name}`")]
    if failed:
        raise MaintenanceError(f"{len(failed)} statements failed: " + "; ".join(failed))
    return names


def tables_of(spark: SparkSession, schema: str) -> list[str]:
    """Return the names of the tables of `schema`, without views and temporary tables, sorted."""
    rows = spark.sql(f"SHOW TABLES IN {schema}").collect()
    views = {row["viewName"] for row in spark.sql(f"SHOW VIEWS IN {schema}").collect()}
    return sorted(
        row["tableName"] for row in rows if not row["isTemporary"] and row["tableName"] not in views
    )


def _maintained(spark: SparkSession, table: str) -> list[str]:
    failed = []
    for statement in STATEMENTS:
        text = statement.format(table=table)
        try:
            spark.sql(text)
        except Exception as error:  # noqa: BLE001  # one table's trouble is not the others'
            failed.append(f"{text}: {str(error).splitlines()[0]}")
    return failed


if __name__ == "__main__":
    main()
