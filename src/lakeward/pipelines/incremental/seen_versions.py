"""The versions of its sources that a view has seen, stored in the commit that wrote the view.

They are therefore neither newer nor older than its rows: an update that is killed before the commit is
repeated as a whole, one that is killed after it is complete."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lakeward.pipelines.graph.elements import Dataset
from lakeward.pipelines.incremental.change_set import SourceVersion
from lakeward.pipelines.incremental.view_plan import ViewPlan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
_KEY = "lakeward.incremental"
RESULT_SETTINGS = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone", "spark.sql.caseSensitive")
"""Settings of the session that change the result of a query."""


@dataclass(frozen=True)
class SeenVersions:
    """What the rows of a view were computed from.

    `query`, `settings` and `declaration` are hashes; if one of them differs, the view is computed again.
    `sources` has one version per occurrence of a table, in the order of the query. `time` is that of the
    update in microseconds since 1970, for queries that depend on it.
    """

    query: str
    settings: str
    declaration: str
    sources: tuple[SourceVersion, ...] = ()
    time: int | None = None

    def at(self, paths: Sequence[str]) -> list[SourceVersion | None]:
        """Return the version that the view has seen of each table of its query, None for another table.

        A query may read several versions of one table, so a table is found by its place in the query.
        """
        if len(paths) != len(self.sources):
            return [None] * len(paths)
        pairs = zip(paths, self.sources, strict=True)
        return [source if source.path == path else None for path, source in pairs]

    def as_json(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "settings": self.settings,
            "declaration": self.declaration,
            "sources": [source.as_json() for source in self.sources],
            **({"time": self.time} if self.time is not None else {}),
        }


def describe_view(
    query: DataFrame, plan: ViewPlan, dataset: Dataset, *, code: str, conf: Mapping[str, str]
) -> SeenVersions:
    """Return the hashes of a view; user code counts only where the query calls functions of it."""
    spark = query.sparkSession
    settings = [dict(conf), {key: spark.conf.get(key, None) for key in RESULT_SETTINGS}, spark.version]
    text = [plan.identity, query.schema.json(), code if plan.has_opaque_code else ""]
    return SeenVersions(_hash(text), _hash(settings), _hash(view_declaration(dataset)))


def view_declaration(dataset: Dataset) -> list[Any]:
    """Return the parts of a view's declaration that it stores: a change of any rewrites the view."""
    options = dataset.options
    return [
        [[each.name, each.constraint, each.action] for each in dataset.expectations],
        [options.comment, dict(options.properties), options.partition_cols, options.cluster_by],
        [str(options.schema), options.row_filter, options.path],
    ]


def with_sources(view: SeenVersions, sources: Sequence[SourceVersion], *, time: int | None) -> SeenVersions:
    """Return the view with the versions that an update reads, and the time at which it reads them."""
    return replace(view, sources=tuple(sources), time=time)


def add_seen_versions(metadata: str, seen: SeenVersions | None) -> str:
    """Return the user metadata of a commit with the versions added."""
    return metadata if seen is None else json.dumps({**json.loads(metadata), _KEY: seen.as_json()})


def seen_versions_in(metadata: str | None) -> SeenVersions | None:
    """Return the versions in a commit's user metadata, None if it has none."""
    try:
        found = json.loads(metadata or "{}").get(_KEY)
        sources = tuple(SourceVersion(*source) for source in found["sources"])
        hashes = found["query"], found["settings"], found["declaration"]
        return SeenVersions(*hashes, sources, found.get("time"))
    except (ValueError, AttributeError, TypeError, KeyError):
        return None


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
