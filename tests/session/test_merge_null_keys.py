"""A MERGE whose ON condition compares NULLs matches rows that both sides have, and no others.

The oracle is plain Python: the rows of the source are matched one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = tuple[int | None, int]
CONDITIONS = {
    "null-safe": "t.k <=> s.k",
    "not distinct": "t.k IS NOT DISTINCT FROM s.k",
    "or": "t.k = s.k OR (t.k IS NULL AND s.k IS NULL)",
    "coalesce": "coalesce(t.k, -1) = coalesce(s.k, -1)",
}
TABLES = {
    "deletion vectors": "delta.enableDeletionVectors = true",
    "change feed": "delta.enableDeletionVectors = true, delta.enableChangeDataFeed = true",
    "row tracking": "delta.enableDeletionVectors = true, delta.enableRowTracking = true",
    "rewritten files": "delta.enableDeletionVectors = false",
}
MATCHED = {"delete": "DELETE", "update": "UPDATE SET v = s.v"}
ENTRIES = ("sql", "delta", "frame")
STORED: dict[str, list[Row]] = {
    "without a NULL": [(1, 10), (2, 20), (3, 30)],
    "with a NULL": [(None, 5), (1, 10), (2, 20)],
}
CHANGES: list[Row] = [(None, -1), (1, -2), (8, -3), (9, 90)]
"""Only positive values are inserted."""


def merged(stored: list[Row], matched: str, *, removes_others: bool) -> set[Row]:
    """Return the rows of the target after the MERGE."""
    new = dict(CHANGES)
    kept = {key: value for key, value in stored if key in new or not removes_others}
    both = new.keys() & kept.keys()
    left = {key: value for key, value in kept.items() if key not in both}
    updated = {key: new[key] for key in both} if matched == "update" else {}
    inserted = {key: value for key, value in new.items() if key not in both and value > 0}
    return {*left.items(), *updated.items(), *inserted.items()}


def merge(spark: SparkSession, name: str, entry: str, on: str, matched: str, *, removes_others: bool) -> None:
    source = spark.createDataFrame(CHANGES, "k BIGINT, v BIGINT")
    if entry == "sql":
        source.createOrReplaceTempView("changes_of_keys")
        others = "WHEN NOT MATCHED BY SOURCE THEN DELETE" if removes_others else ""
        spark.sql(
            f"MERGE INTO {name} t USING changes_of_keys s ON {on} WHEN MATCHED THEN {MATCHED[matched]} "
            f"WHEN NOT MATCHED AND s.v > 0 THEN INSERT * {others}"
        )
        return
    if entry == "delta":
        from delta.tables import DeltaTable

        builder = DeltaTable.forName(spark, name).alias("t").merge(source.alias("s"), on)
        builder = (
            builder.whenMatchedDelete()
            if matched == "delete"
            else builder.whenMatchedUpdate(set={"v": "s.v"})
        )
        builder = builder.whenNotMatchedInsertAll("s.v > 0")
        (builder.whenNotMatchedBySourceDelete() if removes_others else builder).execute()
        return
    from pyspark.sql import functions as F

    # The writer has no alias for its target: columns of the source get other names.
    on = on.replace("s.k", "s_k").replace("t.k", f"{name}.k")
    writer = source.select(F.col("k").alias("s_k"), F.col("v").alias("s_v")).mergeInto(name, F.expr(on))
    writer = (
        writer.whenMatched().delete()
        if matched == "delete"
        else writer.whenMatched().update({"v": F.col("s_v")})
    )
    writer = writer.whenNotMatched(F.expr("s_v > 0")).insert({"k": F.col("s_k"), "v": F.col("s_v")})
    (writer.whenNotMatchedBySource().delete() if removes_others else writer).merge()


@pytest.mark.parametrize("on", CONDITIONS)
@pytest.mark.parametrize("properties", TABLES)
@pytest.mark.parametrize("matched", MATCHED)
@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("removes_others", [False, True], ids=["", "not matched by source"])
def test_null_keys_match_rows_of_the_target_alone(
    spark: SparkSession,
    on: str,
    properties: str,
    matched: str,
    entry: str,
    stored: str,
    removes_others: bool,
) -> None:
    name = "main.default.null_keys"
    spark.sql(f"CREATE OR REPLACE TABLE {name} (k BIGINT, v BIGINT) TBLPROPERTIES ({TABLES[properties]})")
    spark.createDataFrame(STORED[stored], "k BIGINT, v BIGINT").coalesce(1).write.insertInto(name)
    merge(spark, name, entry, CONDITIONS[on], matched, removes_others=removes_others)
    rows = {tuple(row) for row in spark.table(name).collect()}
    assert rows == merged(STORED[stored], matched, removes_others=removes_others)
    metrics = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()[0]["operationMetrics"]
    marks = int(metrics["numTargetDeletionVectorsAdded"]) + int(metrics["numTargetFilesRemoved"])
    assert marks > 0
    if properties != "rewritten files":
        assert int(metrics["numTargetRowsCopied"]) == 0
