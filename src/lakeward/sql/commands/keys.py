"""Primary and foreign keys, kept beside the table for the information schema; nobody enforces them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeward.errors import SqlError
from lakeward.sql.commands.delta import by_delta
from lakeward.sql.commands.place import Place, place, read_note, write_note
from lakeward.sql.commands.tables import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["add_key", "drop_constraint", "drop_key", "keep_keys"]


def add_key(spark: SparkSession, *, table: list[str], key: dict[str, Any]) -> dict[str, Any]:
    """One more key. Raises what the table's or the columns' analysis raises."""
    keep_keys(spark, table, [*_kept(spark, table), key])
    return {}


def keep_keys(spark: SparkSession, table: list[str], keys: Sequence[dict[str, Any]]) -> None:
    """The keys of a table, with names for those that have none, in place of those before."""
    frame = spark.table(quoted(table))
    here = place(spark)
    path = here.note("TABLE", here.full(table))
    whole = []
    for key in keys:
        frame.select(*(quoted([column]) for column in key["columns"]))
        whole.append(_whole(here, table[-1].lower(), key))
    write_note(path, {**read_note(path), "keys": whole})


def _whole(here: Place, table: str, key: dict[str, Any]) -> dict[str, Any]:
    if key["parent"] is None:
        return {**key, "name": key["name"] or f"{table}_pk"}
    parent = here.full(key["parent"])
    primary = (k["columns"] for k in read_note(here.note("TABLE", parent)).get("keys", ()) if not k["parent"])
    return {
        **key,
        "name": key["name"] or f"{table}_{parent[-1]}_fk",
        "parent": list(parent),
        "parent_columns": key["parent_columns"] or next(primary, []),
    }


def drop_key(
    spark: SparkSession, *, table: list[str], kind: str, columns: list[str], if_exists: bool
) -> dict[str, Any]:
    """The primary key, or the foreign key of these columns. Raises SqlError where there is none."""
    wanted = [column.lower() for column in columns]

    def is_meant(key: dict[str, Any]) -> bool:
        return key["type"] == kind and (not wanted or [c.lower() for c in key["columns"]] == wanted)

    keys = _kept(spark, table)
    left = [key for key in keys if not is_meant(key)]
    if len(left) == len(keys) and not if_exists:
        raise SqlError(
            "CONSTRAINT_DOES_NOT_EXIST",
            f"The table {'.'.join(table)} has no such {kind}.",
            parameters={"constraintName": kind, "tableName": quoted(table)},
        )
    keep_keys(spark, table, left)
    return {}


def drop_constraint(spark: SparkSession, *, table: list[str], constraint: str, text: str) -> Any:
    """A key by its name, or Delta's own constraint. Raises what Delta raises."""
    keys = _kept(spark, table)
    left = [key for key in keys if key["name"].lower() != constraint.lower()]
    if len(left) < len(keys):
        keep_keys(spark, table, left)
        return {}
    return by_delta(spark, text)


def _kept(spark: SparkSession, table: list[str]) -> list[dict[str, Any]]:
    here = place(spark)
    keys: list[dict[str, Any]] = read_note(here.note("TABLE", here.full(table))).get("keys", [])
    return keys
