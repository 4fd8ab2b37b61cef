"""SQL of the platform that the front end leaves to Spark, known by its words: what Spark and Delta run
by themselves, and what nobody runs here yet.

For those who only look at SQL (`lakeward check`). A test tries every example on a session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["PHRASES", "Phrase"]


@dataclass(frozen=True)
class Phrase:
    """One construct, the words that it is known by (any of them), and a statement that has it.

    What is `added` runs in sources of pipelines; elsewhere it fails as what is refused does.

    `first`: the words count only where a statement begins. `instead` is the sentence that helps.
    """

    name: str
    words: tuple[tuple[str, ...], ...]
    verdict: Literal["as is", "added", "refused"]
    example: str
    instead: str = ""
    first: bool = False


def _as_is(name: str, example: str, *phrases: str, first: bool = False) -> Phrase:
    return Phrase(name, _words(*(phrases or (name,))), "as is", example, first=first)


def _refused(name: str, example: str, instead: str, *phrases: str, first: bool = False) -> Phrase:
    return Phrase(name, _words(*(phrases or (name,))), "refused", example, instead, first)


def _in_pipelines(name: str, example: str, *phrases: str) -> Phrase:
    return Phrase(name, _words(*phrases), "added", example, _PIPELINE)


def _function(name: str, instead: str = "", example: str = "") -> Phrase:
    words = _words(f"{name}(")
    return Phrase(f"{name}()", words, "refused", example or f"SELECT {name}('a')", instead or _PLATFORM)


def _words(*phrases: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.upper().replace("(", " (").split()) for phrase in phrases)


_NOT_YET = "it cannot be run here yet"
_PIPELINE = "it runs in a source of a pipeline, and nowhere else here"
_RIGHTS = "nothing is enforced here, and the statement fails: run it on the platform alone"
_PLATFORM = "the function is the platform's own: keep it in a view that tests replace"

PHRASES: tuple[Phrase, ...] = (
    _as_is("MERGE", "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE", "MERGE INTO", first=True),
    _as_is("OPTIMIZE", "OPTIMIZE t ZORDER BY (id)", first=True),
    _as_is("RESTORE", "RESTORE TABLE t TO VERSION AS OF 0", first=True),
    _as_is("REORG TABLE", "REORG TABLE t APPLY (PURGE)", first=True),
    _as_is("DESCRIBE HISTORY", "DESCRIBE HISTORY t", "DESCRIBE HISTORY", "DESC HISTORY", first=True),
    _as_is("CONVERT TO DELTA", "CONVERT TO DELTA parquet.`/x`", first=True),
    _as_is("SHALLOW CLONE", "CREATE TABLE v SHALLOW CLONE t"),
    _as_is("time travel", "SELECT * FROM t VERSION AS OF 0", "VERSION AS OF", "TIMESTAMP AS OF"),
    _as_is("table_changes()", "SELECT * FROM table_changes('t', 0)", "table_changes("),
    _as_is("QUALIFY", "SELECT id FROM t QUALIFY row_number() OVER (ORDER BY id) = 1"),
    _as_is("GROUP BY ALL", "SELECT id, count(*) FROM t GROUP BY ALL"),
    _as_is("USING DELTA", "CREATE TABLE v (id INT) USING DELTA"),
    _as_is("read_files()", "SELECT * FROM read_files('/x', format => 'json')", "read_files("),
    _as_is("cloud_files()", "SELECT * FROM cloud_files('/x', 'json')", "cloud_files("),
    _in_pipelines(
        "CREATE STREAMING TABLE",
        "CREATE OR REFRESH STREAMING TABLE s AS SELECT * FROM STREAM t",
        *("CREATE STREAMING TABLE", "REFRESH STREAMING TABLE"),
        *("CREATE STREAMING LIVE TABLE", "REFRESH STREAMING LIVE TABLE"),
    ),
    _in_pipelines(
        "CREATE MATERIALIZED VIEW",
        "CREATE MATERIALIZED VIEW m AS SELECT * FROM t",
        *("CREATE MATERIALIZED VIEW", "REPLACE MATERIALIZED VIEW", "REFRESH MATERIALIZED VIEW"),
    ),
    _in_pipelines(
        "CREATE LIVE TABLE",
        "CREATE LIVE TABLE l AS SELECT * FROM t",
        *("CREATE LIVE TABLE", "REFRESH LIVE TABLE", "CREATE LIVE VIEW", "CREATE TEMPORARY LIVE VIEW"),
    ),
    _in_pipelines(
        "AUTO CDC",
        "APPLY CHANGES INTO t FROM STREAM u KEYS (id) SEQUENCE BY id",
        *("APPLY CHANGES INTO", "AUTO CDC INTO"),
    ),
    _refused("DENY", "DENY SELECT ON TABLE t TO u", _RIGHTS, first=True),
    _refused(
        "PREDICTIVE OPTIMIZATION",
        "ALTER TABLE t ENABLE PREDICTIVE OPTIMIZATION",
        "leave it out: files are never rewritten by themselves here",
    ),
    _function("read_kafka", _NOT_YET, "SELECT * FROM read_kafka(subscribe => 'x')"),
    _function("vector_search", example="SELECT * FROM vector_search(query => 'x')"),
    _function("current_metastore", example="SELECT current_metastore()"),
    _function("current_version", example="SELECT current_version()"),
    *(
        _function(name)
        for name in (
            *("http_request", "ai_query", "ai_classify"),
            *("ai_extract", "ai_gen", "ai_summarize", "ai_translate", "ai_similarity"),
        )
    ),
)
