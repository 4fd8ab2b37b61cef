"""A MERGE whose ON condition compares NULLs matches rows that both sides have, and no others.

The oracle is plain Python: the rows of the source are matched one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

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


TWO_KEYS = "t.k <=> s.k AND t.j <=> s.j"
TARGETS = {
    "partitioned": ("k BIGINT, j STRING, v BIGINT", "PARTITIONED BY (j)"),
    "clustered": ("k BIGINT, j STRING, v BIGINT", "CLUSTER BY (k, j)"),
    "identity": ("k BIGINT, j STRING, v BIGINT, i BIGINT GENERATED ALWAYS AS IDENTITY", ""),
    "generated": ("k BIGINT, j STRING, v BIGINT, g BIGINT GENERATED ALWAYS AS (v * 2)", ""),
    "column mapping": (
        "k BIGINT, j STRING, v BIGINT",
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true')",
    ),
    "evolving": ("k BIGINT, j STRING, v BIGINT", ""),
}
KEYED: dict[tuple[int | None, str | None], int] = {
    (None, None): 1,
    (None, "a"): 2,
    (1, None): 3,
    (1, "a"): 4,
    (2, "b"): 5,
}
NEW_KEYS: dict[tuple[int | None, str | None], int] = {
    (None, None): 10,
    (None, "b"): -11,
    (1, None): 12,
    (3, None): -13,
    (4, "c"): 14,
}


def merge_two_keys(spark: SparkSession, name: str, entry: str, source: DataFrame, *, evolves: bool) -> None:
    """Update matched rows, and insert those with a positive value."""
    from delta.tables import DeltaTable
    from pyspark.sql import functions as F

    columns = [column for column in source.columns if column not in ("k", "j")]
    if entry == "delta":
        builder = DeltaTable.forName(spark, name).alias("t").merge(source.alias("s"), TWO_KEYS)
        builder = builder.withSchemaEvolution() if evolves else builder
        values = {column: f"s.{column}" for column in source.columns}
        builder = builder.whenMatchedUpdate(set={column: f"s.{column}" for column in columns})
        builder.whenNotMatchedInsert("s.v > 0", values=values).execute()
        return
    if entry == "frame":
        writer = source.alias("s").mergeInto(name, F.expr(TWO_KEYS.replace("t.", f"{name}.")))
        writer = writer.withSchemaEvolution() if evolves else writer
        values = {column: F.col(f"s.{column}") for column in source.columns}
        if evolves:
            writer.whenMatched().updateAll().whenNotMatched(F.expr("s.v > 0")).insertAll().merge()
            return
        writer = writer.whenMatched().update({column: values[column] for column in columns})
        writer.whenNotMatched(F.expr("s.v > 0")).insert(values).merge()
        return
    source.createOrReplaceTempView("changes_of_keys")
    session = source.sparkSession
    listed = ", ".join(source.columns)
    session.sql(
        f"MERGE {'WITH SCHEMA EVOLUTION ' if evolves else ''}INTO {name} t "
        f"USING changes_of_keys s ON {TWO_KEYS} "
        f"WHEN MATCHED THEN UPDATE SET {', '.join(f'{column} = s.{column}' for column in columns)} "
        f"WHEN NOT MATCHED AND s.v > 0 THEN INSERT ({listed}) "
        f"VALUES ({', '.join(f's.{column}' for column in source.columns)})"
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("entry", [*ENTRIES, "batch"])
def test_null_keys_of_targets_with_other_features(
    spark: SparkSession, target: str, entry: str, tmp_path: Path
) -> None:
    name = "main.default.null_keys"
    columns, clauses = TARGETS[target]
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} ({columns}) {clauses}")
    stored = spark.createDataFrame([(*key, v) for key, v in KEYED.items()], "k BIGINT, j STRING, v BIGINT")
    stored.coalesce(1).createOrReplaceTempView("stored_keys")
    spark.sql(f"INSERT INTO {name} (k, j, v) SELECT * FROM stored_keys")
    changes = spark.createDataFrame(
        [(*key, v) for key, v in NEW_KEYS.items()], "k BIGINT, j STRING, v BIGINT"
    )
    evolves = target == "evolving"
    if evolves:
        changes = changes.withColumn("extra", changes.v * 3)
    if entry == "batch":
        changes.write.format("delta").save(f"{tmp_path}/changes")
        stream = spark.readStream.format("delta").load(f"{tmp_path}/changes").writeStream
        stream.foreachBatch(
            lambda batch, _: merge_two_keys(batch.sparkSession, name, "sql", batch, evolves=evolves)
        ).option("checkpointLocation", f"{tmp_path}/checkpoint").trigger(
            availableNow=True
        ).start().awaitTermination()
    else:
        merge_two_keys(spark, name, entry, changes, evolves=evolves)
    inserted = {key: v for key, v in NEW_KEYS.items() if key not in KEYED and v > 0}
    wanted = {**KEYED, **{key: v for key, v in NEW_KEYS.items() if key in KEYED}, **inserted}
    rows = spark.table(name).collect()
    assert {(row["k"], row["j"]): row["v"] for row in rows} == wanted
    assert len(rows) == len(wanted)
    if target == "identity":
        assert len({row["i"] for row in rows}) == len(rows)
    if target == "generated":
        assert all(row["g"] == row["v"] * 2 for row in rows)
    if evolves:
        changed = {key for key in NEW_KEYS if key in KEYED or key in inserted}
        assert {(r["k"], r["j"]): r["extra"] for r in rows if r["extra"]} == {
            k: NEW_KEYS[k] * 3 for k in changed
        }
