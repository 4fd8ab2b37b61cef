"""What keeps Databricks from refreshing a materialized view incrementally, by what the source text shows.

https://docs.databricks.com/aws/en/optimizations/incremental-refresh
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

DOCUMENTATION = "https://docs.databricks.com/aws/en/optimizations/incremental-refresh"
SEPARATOR = "|"


@dataclass(frozen=True)
class Obstacle:
    """One reason for a complete recomputation: `reason` of it, where {word} is what was found, and `cure`."""

    key: str
    reason: str
    cure: str


OBSTACLES = {
    each.key: each
    for each in (
        Obstacle("limit", "{word} depends on all rows", "limit in the query that reads the view"),
        Obstacle("set operator", "{word} is not among the documented operators", "write a join or UNION ALL"),
        Obstacle("sample", "{word} draws other rows in every update", "filter by a hash of a key"),
        Obstacle("pivot", "{word} is not among the documented operators", "write one CASE per column"),
        Obstacle(
            "window",
            "a window without PARTITION BY is computed over all rows",
            "add PARTITION BY, or number the rows in the query that reads the view",
        ),
        Obstacle(
            "unstable",
            "{word}() gives other values in every update",
            "compute the value in the streaming table that the view reads",
        ),
        Obstacle(
            "time",
            "{word}() outside of WHERE changes every row in every update",
            "select it in the query that reads the view, or use it in WHERE only",
        ),
        Obstacle(
            "subquery",
            "a subquery in an expression is not supported",
            "write it as a join with a subquery in FROM",
        ),
        Obstacle(
            "nested aggregate",
            "an aggregate below another one is recomputed",
            "make the inner aggregate a materialized view of its own",
        ),
        Obstacle(
            "source",
            "{word} is not a Delta table",
            "load it with a streaming table, and read that",
        ),
        Obstacle(
            "function",
            "{word} declares a function that is not deterministic",
            "remove it if equal arguments give equal results",
        ),
    )
}

TIME_FUNCTIONS = frozenset(("current_date", "current_timestamp", "now", "localtimestamp", "curdate"))
UNSTABLE_FUNCTIONS = frozenset(
    (
        "rand",
        "randn",
        "random",
        "uuid",
        "monotonically_increasing_id",
        "shuffle",
        "randstr",
        "spark_partition_id",
    )
)


def encode_obstacles(found: Iterable[tuple[str, str]]) -> str:
    """Return pairs of an obstacle's key and the word that was found as one text, each once."""
    return SEPARATOR.join(f"{key}:{word}" for key, word in dict.fromkeys(found))


def decode_obstacles(text: str | None) -> list[tuple[Obstacle, str]]:
    """Return the obstacles of a text, with the words that were found.

    >>> [(obstacle.key, word) for obstacle, word in decode_obstacles(encode_obstacles([("limit", "LIMIT")]))]
    [('limit', 'LIMIT')]
    """
    pairs = [each.partition(":") for each in (text or "").split(SEPARATOR) if each]
    return [(OBSTACLES[key], word) for key, _, word in pairs]
