"""SET QUERY_TAGS: tags of the session's statements, kept in a setting of the session."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakeward.sql.construct import BEGINNING, Command, Construct, Rows, in_area
from lakeward.sql.token_cursor import TokenCursor

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTING = "spark.lakeward.queryTags"


@dataclass(frozen=True)
class SetQueryTags(Command):
    """Adds tags to those of the session and removes others; a value of None is a key alone."""

    tags: dict[str, str | None]
    removed: list[str]

    def run(self, spark: SparkSession) -> None:
        tags = {**_current(spark), **self.tags}
        kept = {key: value for key, value in tags.items() if key not in self.removed}
        spark.conf.set(_SETTING, json.dumps(kept))


@dataclass(frozen=True)
class ShowQueryTags(Command):
    """Lists the tags of the session."""

    def run(self, spark: SparkSession) -> Rows:
        return Rows("key STRING, value STRING", list(_current(spark).items()))


def _current(spark: SparkSession) -> dict[str, str | None]:
    tags: dict[str, str | None] = json.loads(spark.conf.get(_SETTING, "{}") or "{}")
    return tags


def _query_tags(cursor: TokenCursor) -> SetQueryTags | ShowQueryTags:
    cursor.need("SET", "QUERY_TAGS")
    if cursor.next is None:
        return ShowQueryTags()
    tags: dict[str, str | None] = {}
    removed: list[str] = []
    while True:
        cursor.need("[")
        key = cursor.string().strip()
        cursor.need("]", "=")
        if cursor.words("UNSET"):
            removed.append(key)
        else:
            tags[key] = None if cursor.words("NULL") else cursor.string().strip() or None
        if not cursor.words(","):
            break
        cursor.need("QUERY_TAGS")
    cursor.end()
    return SetQueryTags(tags, removed)


CONSTRUCTS = in_area(
    "Settings of the platform",
    Construct(
        name="SET QUERY_TAGS",
        example="SET QUERY_TAGS['team'] = 'marketing', QUERY_TAGS['cost_center'] = UNSET",
        note="the session keeps them; there is no query history",
        statement=_query_tags,
        trigger=BEGINNING + r"set\s+query_tags\b",
    ),
)
