"""Rows of erased people in the tables that are filled from outside; all others are computed from these."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from wearables.suppression import marked

__all__ = ["RAW", "erased_by", "matches", "named", "raw_tables", "remove"]

RAW = ("bronze", "bronze_archive", "registrations", "gym_logs", "repairs", "user_tokens")
"""Tables that are filled from outside. `bronze_archive`, with the columns of bronze, may hold old weeks."""


def raw_tables(spark: SparkSession, schema: str) -> list[str]:
    """Return those of `RAW` that exist."""
    return [name for name in RAW if spark.catalog.tableExists(f"{schema}.{name}")]


def _as_text(table: DataFrame) -> Column:
    return F.to_json(F.struct(*(F.col(f"`{name}`") for name in table.columns)))


_ERASED = "_moment IS NULL OR _moment <= until"


def _listed(records: DataFrame, suppressed: DataFrame) -> DataFrame:
    """Join marked records to the people that they name: a row per token; `record` numbers the records."""
    listed = suppressed.select(F.col("token").alias("_token"), "subject", "until")
    numbered = records.withColumn("record", F.monotonically_increasing_id())
    return numbered.withColumn("_token", F.explode("_tokens")).join(F.broadcast(listed), "_token")


def erased_by(records: DataFrame, suppressed: DataFrame) -> DataFrame:
    """Join marked records to the tokens that erase them: a row per token; `record` numbers the records."""
    found = _listed(records, suppressed).filter(_ERASED)
    return found.drop("_token", "_tokens", "_moment", "until")


def named(spark: SparkSession, schema: str, table: str, key: str) -> DataFrame:
    """Return each `subject` that rows of `table` name, and how many `rows` belong to erased people."""
    rows = spark.table(f"{schema}.{table}")
    text = rows.select(_as_text(rows).alias("text"))
    suppressed = spark.table(f"{schema}.suppressed")
    found = _listed(marked(text, F.col("text"), key, suppressed), suppressed)
    erased = F.countDistinct(F.when(F.expr(_ERASED), F.col("record")))
    return found.groupBy("subject").agg(erased.alias("rows"))


def matches(spark: SparkSession, schema: str, table: str, key: str) -> DataFrame:
    """Return the rows in `table` that belong to erased people: `hash`, `digest`, `subject`, number of `rows`.

    `digest` is the SHA-256 of a row as JSON; `hash`, of its columns, is faster to compute.
    """
    rows = spark.table(f"{schema}.{table}")
    text = rows.select(_as_text(rows).alias("text"), F.expr(_hash(rows)).alias("hash"))
    suppressed = spark.table(f"{schema}.suppressed")
    found = erased_by(marked(text, F.col("text"), key, suppressed), suppressed)
    digest = F.sha2("text", 256).alias("digest")
    # A record may have several tokens of one person.
    return found.groupBy("hash", digest, "subject").agg(F.countDistinct("record").alias("rows"))


def _hash(rows: DataFrame, prefix: str = "") -> str:
    return f"xxhash64({', '.join(f'{prefix}`{name}`' for name in rows.columns)})"


def remove(spark: SparkSession, schema: str, table: str, found: DataFrame) -> int:
    """Delete the rows that `matches` has found from `table` in one commit, and return how many.

    Only rows with one of the hashes are written as JSON. Streams that read the table skip such a commit
    (`skipChangeCommits`). The condition has no value of a row: Delta's log keeps its text.
    """
    rows = spark.table(f"{schema}.{table}")
    names = ", ".join(f"'{name}', t.`{name}`" for name in rows.columns)
    digests = found.groupBy("hash").agg(F.collect_set("digest").alias("digests"))
    digests.createOrReplaceTempView("erased_rows")
    done = spark.sql(
        f"MERGE INTO {schema}.{table} t USING erased_rows e ON {_hash(rows, 't.')} = e.hash "
        f"AND array_contains(e.digests, sha2(to_json(named_struct({names})), 256)) WHEN MATCHED THEN DELETE"
    ).collect()
    spark.catalog.dropTempView("erased_rows")
    return int(done[0]["num_deleted_rows"])
