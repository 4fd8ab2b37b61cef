"""Platform SQL that is passed to Spark unchanged, recognized by keywords.

Spark and Delta run some of it, the rest fails or needs a pipeline. `lakeward check` reads this table; a test
runs every example in a session.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class PassthroughStatement:
    """A construct that is recognized by keywords.

    Attributes:
        name: Shown by `lakeward check`.
        words: Sequences of keywords, any of which identifies the construct.
        verdict: `emulated` means that it runs in pipeline sources only.
        example: One statement that has it.
        instead: What to use instead.
        first: Whether the words must begin the statement.
    """

    name: str
    words: tuple[tuple[str, ...], ...]
    verdict: Literal["supported", "emulated", "unsupported"]
    example: str
    instead: str = ""
    first: bool = False


def _supported(name: str, example: str, *phrases: str, first: bool = False) -> PassthroughStatement:
    return PassthroughStatement(name, _words(*(phrases or (name,))), "supported", example, first=first)


def _function(name: str, instead: str = "", example: str = "") -> PassthroughStatement:
    words = _words(f"{name}(")
    return PassthroughStatement(
        f"{name}()", words, "unsupported", example or f"SELECT {name}('a')", instead or _PLATFORM
    )


def _words(*phrases: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(phrase.upper().replace("(", " (").split()) for phrase in phrases)


_KAFKA = "runs where spark.jars.packages has Spark's connector for Kafka"
_PLATFORM = "a service of the platform: call it in a view that tests replace"

PASSTHROUGH_STATEMENTS: tuple[PassthroughStatement, ...] = (
    _supported(
        "MERGE", "MERGE INTO t USING u ON t.id = u.id WHEN MATCHED THEN DELETE", "MERGE INTO", first=True
    ),
    _supported("OPTIMIZE", "OPTIMIZE t ZORDER BY (id)", first=True),
    _supported("REORG TABLE", "REORG TABLE t APPLY (PURGE)", first=True),
    _supported("DESCRIBE HISTORY", "DESCRIBE HISTORY t", "DESCRIBE HISTORY", "DESC HISTORY", first=True),
    _supported("CONVERT TO DELTA", "CONVERT TO DELTA parquet.`/x`", first=True),
    _supported("time travel", "SELECT * FROM t VERSION AS OF 0", "VERSION AS OF", "TIMESTAMP AS OF"),
    _supported("table_changes()", "SELECT * FROM table_changes('t', 0)", "table_changes("),
    _supported("QUALIFY", "SELECT id FROM t QUALIFY row_number() OVER (ORDER BY id) = 1"),
    _supported("GROUP BY ALL", "SELECT id, count(*) FROM t GROUP BY ALL"),
    _supported("USING DELTA", "CREATE TABLE v (id INT) USING DELTA"),
    _supported("read_files()", "SELECT * FROM read_files('/x', format => 'json')", "read_files("),
    _supported("cloud_files()", "SELECT * FROM cloud_files('/x', 'json')", "cloud_files("),
    _function("read_kafka", _KAFKA, "SELECT * FROM read_kafka(subscribe => 'x')"),
    _function("vector_search", example="SELECT * FROM vector_search(query => 'x')"),
    *(
        _function(name)
        for name in (
            *("http_request", "ai_query", "ai_classify"),
            *("ai_extract", "ai_gen", "ai_summarize", "ai_translate", "ai_similarity"),
        )
    ),
)
