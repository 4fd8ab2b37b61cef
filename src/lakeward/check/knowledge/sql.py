"""SQL of the platform, by its words: what Spark and Delta run by themselves, and what nobody runs here yet.

Everything that is not named here is plain SQL. Each verdict was tried on a session.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.check.knowledge.words import NOTHING
from lakeward.check.model import Fact, Use, Verdict

__all__ = ["CONSTRUCTS", "Construct", "construct"]


@dataclass(frozen=True)
class Construct:
    """One construct and the words that it is known by, any of them; `first`: only as a statement's first."""

    name: str
    words: tuple[tuple[str, ...], ...]
    verdict: Verdict
    cure: str
    first: bool = False


def _native(name: str, *phrases: str, first: bool = False) -> Construct:
    return Construct(name, _words(*(phrases or (name,))), "runs_as_is", NOTHING, first)


def _refused(name: str, *phrases: str, cure: str, first: bool = False) -> Construct:
    return Construct(name, _words(*(phrases or (name,))), "refused", cure, first)


def _words(*phrases: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.upper().replace("(", " (").split()) for phrase in phrases)


_NOT_YET = "It cannot be run here yet."
_PIPELINE = "Pipeline sources in SQL cannot be run yet: write the dataset as a Python function."
_CATALOG = "It cannot be run here yet: catalogs and schemas are made where they are first written to."
_RIGHTS = "Rights are not kept here, and the statement fails: run it on the platform alone."
_FUNCTION = "The function is the platform's own: keep it out of code that is tested, or behind a view."
_STORAGE = "It belongs to the cloud account: run it on the platform alone."

CONSTRUCTS: tuple[Construct, ...] = (
    _native("MERGE", "MERGE INTO", "MERGE WITH", first=True),
    _native("OPTIMIZE", first=True),
    _native("VACUUM", first=True),
    _native("RESTORE", "RESTORE TABLE", first=True),
    _native("REORG TABLE", first=True),
    _native("DESCRIBE HISTORY", "DESCRIBE HISTORY", "DESC HISTORY", first=True),
    _native("DESCRIBE DETAIL", "DESCRIBE DETAIL", "DESC DETAIL", first=True),
    _native("CONVERT TO DELTA", first=True),
    _native("SHALLOW CLONE"),
    _native("time travel", "VERSION AS OF", "TIMESTAMP AS OF"),
    _native("table_changes("),
    _native("QUALIFY"),
    _native("GROUP BY ALL"),
    _native("USING DELTA"),
    Construct(
        "CACHE TABLE",
        _words("CACHE TABLE", "CACHE LAZY TABLE", "UNCACHE TABLE"),
        "fails_on_serverless",
        "NOT_SUPPORTED_WITH_SERVERLESS there: leave it out, or write a table.",
        first=True,
    ),
    Construct(
        "GLOBAL TEMPORARY VIEW",
        _words("GLOBAL TEMP VIEW", "GLOBAL TEMPORARY VIEW"),
        "fails_on_serverless",
        "NOT_SUPPORTED_WITH_SERVERLESS there: make a temporary view of the session, or a table.",
    ),
    _refused("COPY INTO", first=True, cure="It cannot be run here yet: read the files with Auto Loader."),
    _refused("read_files(", cure="It cannot be run here yet: read the files with spark.read or Auto Loader."),
    _refused("cloud_files(", cure="It cannot be run here yet: use Auto Loader in a Python source."),
    _refused("CREATE STREAMING TABLE", "STREAMING TABLE", "STREAMING LIVE TABLE", cure=_PIPELINE),
    _refused(
        "CREATE MATERIALIZED VIEW",
        "CREATE MATERIALIZED VIEW",
        "REPLACE MATERIALIZED VIEW",
        "REFRESH MATERIALIZED VIEW",
        cure=_PIPELINE,
    ),
    _refused(
        "CREATE LIVE TABLE", "CREATE LIVE TABLE", "REFRESH LIVE TABLE", "CREATE LIVE VIEW", cure=_PIPELINE
    ),
    _refused("AUTO CDC", "APPLY CHANGES INTO", "AUTO CDC INTO", cure="AUTO CDC is not there yet."),
    _refused("GRANT", first=True, cure=_RIGHTS),
    _refused("REVOKE", first=True, cure=_RIGHTS),
    _refused("DENY", first=True, cure=_RIGHTS),
    _refused("CREATE CATALOG", first=True, cure=_CATALOG),
    _refused("USE CATALOG", first=True, cure="It cannot be run here yet: say `USE catalog.schema`."),
    _refused(
        "CREATE VOLUME", "CREATE VOLUME", "CREATE EXTERNAL VOLUME", "DROP VOLUME", first=True, cure=_NOT_YET
    ),
    _refused("CREATE FUNCTION", "CREATE FUNCTION", "CREATE OR REPLACE FUNCTION", first=True, cure=_NOT_YET),
    _refused("OWNER TO", cure=_RIGHTS),
    _refused("PREDICTIVE OPTIMIZATION", cure="Leave it out: files are never rewritten by themselves here."),
    _refused("CREATE EXTERNAL LOCATION", first=True, cure=_STORAGE),
    _refused("CREATE STORAGE CREDENTIAL", first=True, cure=_STORAGE),
    _refused("CREATE CONNECTION", first=True, cure=_STORAGE),
    _refused("CREATE SHARE", "CREATE SHARE", "CREATE RECIPIENT", first=True, cure=_STORAGE),
    _refused("DEEP CLONE", cure="Delta has shallow clones only: use CREATE TABLE … AS SELECT."),
    _refused("CLUSTER BY AUTO", cure="Name the columns: CLUSTER BY (column)."),
    _refused("PRIMARY KEY", "PRIMARY KEY", "FOREIGN KEY", cure="Keys cannot be declared here yet."),
    _refused("SET TAGS", "SET TAGS", "UNSET TAGS", cure=_NOT_YET),
    _refused("ROW FILTER", "SET ROW FILTER", "WITH ROW FILTER", cure=_RIGHTS),
    _refused("column mask", "SET MASK", cure=_RIGHTS),
    _refused("ANALYZE TABLE", first=True, cure="Leave it out: tables have no statistics of their own here."),
    _refused("FSCK REPAIR", first=True, cure=_NOT_YET),
    _refused("UNDROP", first=True, cure=_NOT_YET),
    _refused("CREATE BLOOMFILTER INDEX", first=True, cure=_NOT_YET),
    _refused("LIST", first=True, cure="Use dbutils.fs.ls."),
    _refused("event_log(", cure="Read the event log with `lakeward events`."),
    _refused("read_kafka(", cure=_NOT_YET),
    _refused("is_member(", cure=_FUNCTION),
    _refused("is_account_group_member(", cure=_FUNCTION),
    _refused("current_metastore(", cure=_FUNCTION),
    _refused("current_version(", cure=_FUNCTION),
    _refused("secret(", "secret(", "try_secret(", cure="Read it with dbutils.secrets.get."),
    _refused(
        "ai functions", *(f"ai_{name}(" for name in ("query", "classify", "extract", "gen")), cure=_FUNCTION
    ),
    _refused("http_request(", cure=_FUNCTION),
    _refused("vector_search(", cure=_FUNCTION),
    _refused("getdate(", cure="Use now() or current_timestamp()."),
    _refused("iff(", cure="Use if(…) or CASE."),
    _refused("charindex(", cure="Use locate(…) or position(…)."),
)
_ROWS = {row.name: row for row in CONSTRUCTS}


def construct(use: Use) -> Fact | None:
    """The verdict on a construct of SQL."""
    row = _ROWS.get(use.name)
    return Fact(f"SQL {row.name.rstrip('(')}", row.verdict, row.cure) if row is not None else None
