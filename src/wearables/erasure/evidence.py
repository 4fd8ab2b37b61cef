"""The evidence that a person is gone, and the end of requests that have it."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from wearables import privacy
from wearables.erasure.removal import RAW, named, raw_tables
from wearables.erasure.tables import literals
from wearables.suppression import marked

__all__ = ["Evidence", "finish", "gather", "overdue", "rewrite_marked", "vacuum"]

_IDENTIFYING = ("identifier", "payload")
# Statements of small tables wait more than they compute.
_CONCURRENT = 4
# Tables of erasure itself have tokens and, until a request is executed, its user id.
_OWN = ("erasure_requests", "suppressed", "erasure_audit")


@dataclass(frozen=True)
class Evidence:
    """Rows of erased people by subject and table, and the people who have returned."""

    remaining: Mapping[str, Mapping[str, int]]
    returned: frozenset[str]
    scanned: tuple[str, ...]

    def of(self, subject: str) -> dict[str, int]:
        """Return the rows of `subject` in each scanned table."""
        found = self.remaining.get(subject, {})
        return {table: found.get(table, 0) for table in self.scanned}


def gather(spark: SparkSession, schema: str, key: str) -> Evidence:
    """Look for erased people in the current rows of every table with personal columns.

    Who has sent records after the request is in the computed tables by right, and only looked for in the
    others.
    """
    raw = raw_tables(spark, schema)
    suppressed = spark.table(f"{schema}.suppressed")
    remaining: dict[str, dict[str, int]] = {}
    returned: set[str] = set()
    for table in raw:
        # A row that names a person and is not erased was sent later.
        for row in named(spark, schema, table, key).collect():
            remaining.setdefault(row["subject"], {})[table] = row["rows"]
            returned.add(row["subject"])
    computed: dict[str, DataFrame] = {}
    for table, columns in privacy.PERSONAL.items():
        names = [name for name, tag in columns.items() if tag in _IDENTIFYING]
        if names and table not in (*RAW, *_OWN) and spark.catalog.tableExists(f"{schema}.{table}"):
            rows = spark.table(f"{schema}.{table}").select(*names)
            computed[table] = _named(rows, suppressed, key)
    for table, rows in computed.items():
        for row in rows.filter(~F.col("subject").isin(list(returned))).collect():
            remaining.setdefault(row["subject"], {})[table] = row["rows"]
    pseudonymous = _with_pseudonyms(spark, schema)
    for table in pseudonymous:
        strangers = spark.table(f"{schema}.{table}").join(
            spark.table(f"{schema}.user_keys"), "pseudonym", "left_anti"
        )
        # Whose they are cannot be seen: no request is finished before they are gone.
        number = strangers.count()
        for row in suppressed.select("subject").distinct().collect() if number else ():
            remaining.setdefault(row["subject"], {})[table] = number
    return Evidence(remaining, frozenset(returned), (*raw, *computed, *pseudonymous))


def _with_pseudonyms(spark: SparkSession, schema: str) -> list[str]:
    # An update that ended early may have created only some of them.
    return [
        table
        for table, columns in privacy.PERSONAL.items()
        if "pseudonym" in columns
        and table not in ("user_keys", *_OWN)
        and spark.catalog.tableExists(f"{schema}.{table}")
    ]


def _named(rows: DataFrame, suppressed: DataFrame, key: str) -> DataFrame:
    """Return `subject` and number of `rows` of people on the list, whatever the time of a row."""
    texts = rows.groupBy(F.to_json(F.struct(*(F.col(f"`{name}`") for name in rows.columns))).alias("text"))
    counted = texts.agg(F.count("*").alias("rows"))
    named = marked(counted, F.col("text"), key, suppressed).select(
        "text", "rows", F.explode("_tokens").alias("token")
    )
    found = named.join(F.broadcast(suppressed.select("token", "subject")), "token")
    return (
        found.select("text", "rows", "subject").distinct().groupBy("subject").agg(F.sum("rows").alias("rows"))
    )


def rewrite_marked(spark: SparkSession, schema: str, tables: list[str]) -> None:
    """Rewrite files with rows behind deletion vectors, which are in the current files until then."""

    def rewrite(table: str) -> None:
        name = f"{schema}.`{table}`"
        features = spark.sql(f"DESCRIBE DETAIL {name}").select("tableFeatures").collect()[0][0]
        if "deletionVectors" in (features or ()):
            spark.sql(f"REORG TABLE {name} APPLY (PURGE)")

    with ThreadPoolExecutor(_CONCURRENT) as pool:
        list(pool.map(rewrite, tables))


def vacuum(spark: SparkSession, schema: str, tables: list[str], retention: str) -> dict[str, int]:
    """Delete the replaced files of `tables` that are older than their retention.

    Tables without a retention of their own (those of the streams, the directory, corrections, archives) get
    `retention`: with the platform's default, their files would outlive the evidence that there are none.
    Returns the number of files by table that could be deleted and still exist.
    """

    def left_after(table: str) -> int:
        name = f"{schema}.`{table}`"
        properties = spark.sql(f"DESCRIBE DETAIL {name}").select("properties").collect()[0][0]
        if table not in privacy.ANALYSTS and privacy.RETENTION not in properties:
            spark.sql(
                f"ALTER TABLE {name} SET TBLPROPERTIES ('{privacy.RETENTION}' = 'interval {retention}')"
            )
        spark.sql(f"VACUUM {name}")
        return spark.sql(f"VACUUM {name} DRY RUN").count()

    with ThreadPoolExecutor(_CONCURRENT) as pool:
        return dict(zip(tables, pool.map(left_after, tables), strict=True))


def finish(spark: SparkSession, schema: str, tables: list[str], key: str, retention: str) -> dict[str, int]:
    """Purge files, and finish the requests whose evidence holds; returns how many have each status.

    A request is `done`, or `not found`, when no row of the person is left, and everything that held one was
    replaced longer than `retention` ago and deleted by VACUUM. Searches and purges only if a request waits
    for one of the two.
    """
    requests = f"{schema}.erasure_requests"
    over = f"rewritten <= now() - INTERVAL {retention}"
    if spark.table(requests).filter(f"status = 'erased' AND (rewritten IS NULL OR {over})").isEmpty():
        return _statuses(spark, requests)
    evidence = gather(spark, schema, key)
    rewrite_marked(spark, schema, tables)
    erased = spark.table(requests).filter("status = 'erased'").collect()
    clean = [row["request_id"] for row in erased if not any(evidence.of(row["subject"]).values())]
    if clean:
        spark.sql(
            f"UPDATE {requests} SET rewritten = now() "  # noqa: S608
            f"WHERE rewritten IS NULL AND request_id IN ({literals(clean)})"
        )
    left = vacuum(spark, schema, tables, retention)
    due = (
        spark.table(requests).filter(f"status = 'erased' AND {over}").filter(F.col("request_id").isin(clean))
    )
    finished = [] if any(left.values()) else due.collect()
    if finished:
        _audit(spark, schema, finished, evidence, left)
        ids = literals(row["request_id"] for row in finished)
        spark.sql(
            f"UPDATE {requests} SET status = if(cardinality(found) > 0, 'done', 'not found') "  # noqa: S608
            f"WHERE request_id IN ({ids})"
        )
    return _statuses(spark, requests)


def _statuses(spark: SparkSession, requests: str) -> dict[str, int]:
    return {row["status"]: row["count"] for row in spark.table(requests).groupBy("status").count().collect()}


def _audit(
    spark: SparkSession, schema: str, finished: list[Row], evidence: Evidence, left: dict[str, int]
) -> None:
    rows = [
        (row["request_id"], evidence.of(row["subject"]), row["subject"] in evidence.returned, left)
        for row in finished
    ]
    fields = (
        "request_id STRING, remaining MAP<STRING, BIGINT>, returned BOOLEAN, vacuumed MAP<STRING, BIGINT>"
    )
    spark.createDataFrame(rows, fields).createOrReplaceTempView("evidence")
    spark.sql(
        f"MERGE INTO {schema}.erasure_audit a USING ("  # noqa: S608
        "SELECT r.request_id, r.subject, r.source, r.requested, r.deadline, "
        "if(cardinality(r.found) > 0, 'done', 'not found') AS status, r.found, e.remaining, e.returned, "
        "e.vacuumed, r.rewritten, now() AS finished, now() <= r.deadline AS in_time "
        f"FROM evidence e JOIN {schema}.erasure_requests r ON r.request_id = e.request_id"
        ") n ON a.request_id = n.request_id WHEN NOT MATCHED THEN INSERT *"
    )
    spark.catalog.dropTempView("evidence")


def overdue(spark: SparkSession, schema: str) -> list[str]:
    """Return the ids of the requests whose deadline is over and that are not finished."""
    open_ones = "status IN ('requested', 'erased') AND deadline < now()"
    rows = spark.table(f"{schema}.erasure_requests").filter(open_ones).orderBy("deadline").collect()
    return [row["request_id"] for row in rows]
