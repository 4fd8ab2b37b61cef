"""VALIDATE: everything that a load would check, and nothing written (auto-loader.md §8 rule 10)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeward.autoloader import FileStatus
from lakeward.copy_into.columns import fitted
from lakeward.copy_into.loading import Loading
from lakeward.copy_into.target import schema_of
from lakeward.errors import SqlError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["validated"]

PREVIEW = 50
_CHECK = "delta.constraints."


def validated(
    spark: SparkSession, loading: Loading, files: Sequence[FileStatus], metadata: Any, shown: str
) -> Any:
    """The first rows of those that would be appended, once all that are asked for were checked."""
    asked = loading.request.validate
    table = schema_of(metadata)
    if not files:
        return spark.createDataFrame([], table)._jdf
    rows = fitted(loading.rows(spark, files, None), table, loading.request, shown)
    checked = rows.limit(asked) if isinstance(asked, int) else rows
    _check(checked, table, metadata)
    return checked.limit(min(asked, PREVIEW) if isinstance(asked, int) else PREVIEW)._jdf


def _check(rows: DataFrame, table: StructType, metadata: Any) -> None:
    """Read every value, and look for the first row that breaks a constraint."""
    from pyspark.sql import functions as F

    names = {name.lower() for name in rows.columns}
    required = [f.name for f in table.fields if not f.nullable and f.name.lower() in names]
    rules = {f"{name}\0": F.col(f"`{name}`").isNotNull() for name in required}
    configuration = metadata.configuration()
    keys = configuration.keysIterator()
    while keys.hasNext():
        key = keys.next()
        if key.startswith(_CHECK):
            rules[key.removeprefix(_CHECK)] = F.expr(configuration.apply(key))
    # Written nowhere, so that the readers parse every value and every cast is carried out.
    rows.write.format("noop").mode("overwrite").save()
    if not rules:
        return
    counts = [F.count_if(~F.coalesce(rule, F.lit(False))).alias(name) for name, rule in rules.items()]
    found = rows.agg(*counts).first()
    assert found is not None
    broken = [name for name in rules if found[name]]
    if not broken:
        return
    name = broken[0]
    if name.endswith("\0"):
        column = name[:-1]
        raise SqlError(
            "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
            f"NOT NULL constraint violated for column: {column}.",
            sql_state="23502",
            next_step=f"{found[name]} rows have no value in it.",
        )
    row = rows.where(~F.coalesce(rules[name], F.lit(False))).first()
    assert row is not None
    raise SqlError(
        "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES",
        f"CHECK constraint {name} {configuration.apply(_CHECK + name)} violated by row with values: "
        f"{json.dumps(row.asDict(recursive=True), default=str)}.",
        sql_state="23001",
    )
