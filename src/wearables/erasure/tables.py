"""The tables of erasure, without statistics: Delta's log keeps them after the rows are gone."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import SparkSession

from wearables.privacy import RETENTION

__all__ = ["DEADLINE", "create_tables"]

DEADLINE = "30 days"
"""Within this time after a request the person's data are gone."""

_REQUESTS = """
request_id STRING NOT NULL COMMENT 'unique; crm-… for deletes of the CRM',
user_id BIGINT COMMENT 'the person; NULL once its rows are erased',
source STRING COMMENT 'crm, api, or again: records of an erased person that were delivered again',
requested TIMESTAMP COMMENT 'what the person sends later is kept',
deadline TIMESTAMP,
status STRING COMMENT 'requested (also NULL), erased: waits for the retention of files, done, not found',
subject STRING COMMENT 'token of the user id',
found MAP<STRING, BIGINT> COMMENT 'rows and lines that were erased, by place',
rewritten TIMESTAMP COMMENT 'from then on no current file of any table has the person'
"""

_SUPPRESSED = """
token STRING COMMENT 'HMAC of an identifier: user id, device id, MAC address',
subject STRING COMMENT 'token of the user id',
until TIMESTAMP COMMENT 'records up to this time are not kept',
key_name STRING COMMENT 'secret of the tokens'
"""

_AUDIT = """
request_id STRING, subject STRING, source STRING, requested TIMESTAMP, deadline TIMESTAMP, status STRING,
found MAP<STRING, BIGINT> COMMENT 'rows and lines that were erased, by place',
remaining MAP<STRING, BIGINT> COMMENT 'rows of the person in each table that was scanned: all are 0',
returned BOOLEAN COMMENT 'the person has sent records after the request, which are kept',
vacuumed MAP<STRING, BIGINT> COMMENT 'files below each table that VACUUM would still delete: all are 0',
rewritten TIMESTAMP, finished TIMESTAMP, in_time BOOLEAN
"""


def create_tables(spark: SparkSession, schema: str, retention: str = "7 days") -> None:
    """Create the tables of erasure in `schema` unless they exist; replaced files are kept for `retention`."""
    kept = f"'{RETENTION}' = 'interval {retention}'"
    plain = f"'delta.dataSkippingNumIndexedCols' = '0', {kept}"
    for name, columns in (("erasure_requests", _REQUESTS), ("suppressed", _SUPPRESSED)):
        spark.sql(f"CREATE TABLE IF NOT EXISTS {schema}.{name} ({columns}) TBLPROPERTIES ({plain})")
    spark.sql(
        f"CREATE TABLE IF NOT EXISTS {schema}.erasure_audit ({_AUDIT}) "
        f"TBLPROPERTIES ('delta.appendOnly' = 'true', {plain})"
    )


def literals(ids: Iterable[str]) -> str:
    """Return ids of requests as literals of SQL."""
    return ", ".join("'" + each.replace("\\", "\\\\").replace("'", "\\'") + "'" for each in ids)
