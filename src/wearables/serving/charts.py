"""The charts: their queries read tables without personal columns, or count rows."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CHARTS", "Chart"]


@dataclass(frozen=True)
class Chart:
    """A bar chart; `query` gives the columns x, y and color, `{schema}` is the place of its tables."""

    name: str
    title: str
    query: str
    x: str
    y: str
    color: str


CHARTS = (
    Chart(
        name="load",
        title="Training load by week and age band (points per person)",
        query=(
            "SELECT week_part AS x, CAST(points / people AS DOUBLE) AS y, age_band AS color "
            "FROM {schema}fitness_by_group ORDER BY x, color"
        ),
        x="ISO week",
        y="points per person",
        color="age band",
    ),
    Chart(
        name="people",
        title="People by week and age band, groups of at least five",
        query=(
            "SELECT week_part AS x, CAST(people AS DOUBLE) AS y, age_band AS color "
            "FROM {schema}fitness_by_group ORDER BY x, color"
        ),
        x="ISO week",
        y="people",
        color="age band",
    ),
    Chart(
        name="quarantine",
        title="Records in quarantine by rule",
        query=(
            "SELECT rule AS x, CAST(count(*) AS DOUBLE) AS y, feed AS color "
            "FROM {schema}quarantine LATERAL VIEW explode(failed_rules) AS rule "
            "GROUP BY rule, feed ORDER BY x, color"
        ),
        x="rule",
        y="records",
        color="feed",
    ),
    Chart(
        name="delivered",
        title="Records by day of sending and topic",
        query=(
            "SELECT CAST(date AS STRING) AS x, CAST(count(*) AS DOUBLE) AS y, topic AS color "
            "FROM {schema}bronze WHERE date IS NOT NULL GROUP BY date, topic ORDER BY x, color"
        ),
        x="day",
        y="records",
        color="topic",
    ),
)
