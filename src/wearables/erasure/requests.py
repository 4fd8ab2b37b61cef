"""Requests of erasure: where they come from, who is meant, and how far they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F

from wearables.erasure.tables import DEADLINE, literals
from wearables.suppression import KEY, token
from wearables.topics import USER_INFO
from wearables.transforms import user_changes
from wearables.transforms.validity import holds

__all__ = ["collect", "in_computed_tables", "mark_erased", "note_found", "suppress"]


def collect(spark: SparkSession, schema: str, key: str) -> list[Row]:
    """Add a request for each delete of the CRM, complete those of the API, and return the open ones."""
    table = f"{schema}.erasure_requests"
    deletes = user_changes(spark.table(f"{schema}.bronze")).filter(holds(USER_INFO.rules))
    identify = F.udf(lambda user, time: "crm-" + token(f"delete:{user}@{time}", key), "string")
    deletes.filter("update_type = 'delete'").select(
        identify("user_id", F.unix_micros("received")).alias("request_id"),
        "user_id",
        F.col("received").alias("requested"),
    ).distinct().createOrReplaceTempView("crm_deletes")
    # Conditions of columns alone: Delta's log keeps the text of a predicate.
    spark.sql(
        f"MERGE INTO {table} r USING crm_deletes d ON r.request_id = d.request_id WHEN NOT MATCHED THEN "  # noqa: S608
        "INSERT (request_id, user_id, source, requested) VALUES (d.request_id, d.user_id, 'crm', d.requested)"
    )
    spark.catalog.dropTempView("crm_deletes")
    if not spark.table(table).filter("status IS NULL").isEmpty():
        spark.sql(
            f"UPDATE {table} SET status = 'requested', requested = coalesce(requested, now()), "  # noqa: S608
            f"deadline = coalesce(requested, now()) + INTERVAL {DEADLINE}, "
            "source = coalesce(source, 'api') WHERE status IS NULL"
        )
    return spark.table(table).filter("status = 'requested'").collect()


def suppress(spark: SparkSession, schema: str, requests: Sequence[Row], key: str) -> None:
    """Put the identifiers of the requests' people on the suppression list.

    A person's devices and addresses are those that no other person has registered: what one device measured
    for two people is not erased for one of them.
    """
    table = f"{schema}.suppressed"
    people = _limits(spark, schema, requests)
    if not people:
        return
    named = [(user, f"user:{user}") for user in people] + _belongings(spark, schema, people)
    rows = [(token(name, key), token(f"user:{user}", key), people[user], KEY) for user, name in set(named)]
    fields = "token STRING, subject STRING, until TIMESTAMP, key_name STRING"
    spark.createDataFrame(rows, fields).createOrReplaceTempView("newly_suppressed")
    spark.sql(
        f"MERGE INTO {table} s USING newly_suppressed n ON s.token = n.token AND s.subject = n.subject "
        "WHEN MATCHED AND s.until < n.until THEN UPDATE SET until = n.until "
        "WHEN NOT MATCHED THEN INSERT *"
    )
    spark.catalog.dropTempView("newly_suppressed")


def _limits(spark: SparkSession, schema: str, requests: Sequence[Row]) -> dict[int, datetime]:
    """Return for each person the time up to which records are erased: the return, or now.

    Who is requested to be erased and continues to send has not returned; a `new` of the CRM is a return.
    """
    requested: dict[int, datetime] = {}
    for row in requests:
        if row["user_id"] is not None:
            requested[row["user_id"]] = max(row["requested"], requested.get(row["user_id"], row["requested"]))
    if not requested:
        return {}
    people = spark.createDataFrame(list(requested.items()), "user_id BIGINT, requested TIMESTAMP")
    changes = user_changes(spark.table(f"{schema}.bronze")).filter(holds(USER_INFO.rules))
    returns = changes.filter("update_type = 'new'").join(people, "user_id").filter("received > requested")
    first = returns.groupBy("user_id").agg(
        (F.min("received") - F.expr("INTERVAL 1 MILLISECOND")).alias("until")
    )
    until = people.join(first, "user_id", "left").select(
        "user_id", F.coalesce("until", F.now()).alias("until")
    )
    return {row["user_id"]: row["until"] for row in until.collect()}


def _belongings(spark: SparkSession, schema: str, people: Mapping[int, datetime]) -> list[tuple[int, str]]:
    users = spark.createDataFrame([(user,) for user in people], "user_id BIGINT")
    registrations = spark.table(f"{schema}.registrations").filter("user_id IS NOT NULL")
    found = []
    for column, kind in (("device_id", "device"), ("mac_address", "mac")):
        owners = registrations.filter(F.col(column).isNotNull()).select("user_id", column).distinct()
        single = owners.groupBy(column).agg(F.count("*").alias("owners"), F.max("user_id").alias("user_id"))
        own = single.filter("owners = 1").join(users, "user_id", "left_semi").collect()
        found += [(row["user_id"], f"{kind}:{str(row[column]).lower()}") for row in own]
    return found


def note_found(
    spark: SparkSession,
    schema: str,
    requests: Sequence[Row],
    found: Mapping[str, Mapping[str, int]],
    key: str,
) -> None:
    """Record by place what was found of each person, before it is removed.

    A person without an open request was erased before and delivered again: the removal is a request of its
    own with the source `again`, so that it has a deadline and evidence, too. A run after a crash finds less:
    what was recorded first stays.
    """
    # A request that was added twice is one.
    named = {(row["request_id"], row["user_id"]): token(f"user:{row['user_id']}", key) for row in requests}
    again = sorted(found.keys() - set(named.values()))
    rows = [(*name, subject, dict(found.get(subject, {}))) for name, subject in named.items()]
    rows += [(None, None, subject, dict(found[subject])) for subject in again]
    fields = "request_id STRING, user_id BIGINT, subject STRING, found MAP<STRING, BIGINT>"
    spark.createDataFrame(rows, fields).createOrReplaceTempView("found")
    spark.sql(
        f"MERGE INTO {schema}.erasure_requests r USING found f ON "  # noqa: S608
        "r.request_id = f.request_id AND r.user_id <=> f.user_id OR "
        "f.request_id IS NULL AND r.subject = f.subject AND r.source = 'again' AND r.rewritten IS NULL "
        "WHEN MATCHED AND r.found IS NULL THEN UPDATE SET subject = f.subject, found = f.found "
        "WHEN NOT MATCHED AND f.request_id IS NULL THEN INSERT "
        "(request_id, source, requested, deadline, status, subject, found) "
        f"VALUES ('again-' || uuid(), 'again', now(), now() + INTERVAL {DEADLINE}, "
        "'erased', f.subject, f.found)"
    )
    spark.catalog.dropTempView("found")


def mark_erased(spark: SparkSession, schema: str, requests: Sequence[Row]) -> None:
    """Forget the plain ids of `requests`: from now on the token identifies the person."""
    ids = literals(row["request_id"] for row in requests)
    spark.sql(
        f"UPDATE {schema}.erasure_requests SET user_id = NULL, status = 'erased' "  # noqa: S608
        f"WHERE status = 'requested' AND request_id IN ({ids})"
    )


def in_computed_tables(spark: SparkSession, schema: str) -> bool:
    """Return whether tables that the pipeline computes may have a person whose records are removed.

    They may until the evidence has found none (`rewritten`), also where an earlier run of the job failed.
    """
    return (
        not spark.table(f"{schema}.erasure_requests")
        .filter("status = 'erased' AND rewritten IS NULL")
        .isEmpty()
    )
