"""Which datasets an update refreshes, and which of them start from nothing (spec §4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lakeward.errors import ConfigurationError
from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.graph import Graph
from lakeward.pipelines.names import did_you_mean

__all__ = ["Selection", "select"]

_RESET_ALLOWED = "pipelines.reset.allowed"


@dataclass(frozen=True)
class Selection:
    """Keys of the tables to bring up to date, and of those among them that are emptied first."""

    refresh: frozenset[tuple[str, ...]]
    reset: frozenset[tuple[str, ...]]


def select(
    graph: Graph, *, refresh: Iterable[str], full_refresh: Iterable[str], everything: bool
) -> Selection:
    """The selection that the flags of a run mean.

    Nothing named: all tables. Anything named: only those. Raises ConfigurationError for unknown names,
    for views, for a full refresh of a table that forbids it, and for flags that contradict each other.
    """
    some, full = list(refresh), list(full_refresh)
    tables = [dataset for dataset in graph if not dataset.is_view]
    if everything:
        if some or full:
            raise ConfigurationError(
                "CONFLICTING_PIPELINE_REFRESH_OPTIONS",
                "A full refresh of everything was asked for together with names: "
                + ", ".join(some + full)
                + ".",
                next_step="Give either names or the full refresh of everything.",
            )
        return Selection(
            frozenset(dataset.key for dataset in tables),
            frozenset(dataset.key for dataset in tables if _resettable(dataset)),
        )
    named = {name: _table(graph, name) for name in [*some, *full]}
    for name in full:
        if not _resettable(named[name]):
            raise ConfigurationError(
                "TABLE_NOT_RESETTABLE",
                f"`{name}` has {_RESET_ALLOWED}=false and cannot be fully refreshed.",
                next_step="Change the table's property first, if its rows may go.",
            )
    if not named:
        return Selection(frozenset(dataset.key for dataset in tables), frozenset())
    return Selection(
        frozenset(dataset.key for dataset in named.values()), frozenset(named[name].key for name in full)
    )


def _resettable(dataset: Dataset) -> bool:
    return dataset.options.properties.get(_RESET_ALLOWED, "true").lower() != "false"


def _table(graph: Graph, name: str) -> Dataset:
    dataset = graph.find(name)
    if dataset is None:
        tables = [each.name for each in graph if not each.is_view]
        near = did_you_mean(name, tables)
        raise ConfigurationError(
            "DATASET_NOT_FOUND",
            f"The pipeline has no dataset `{name}`.",
            next_step=near or f"It has: {', '.join(sorted(tables))}.",
        )
    if dataset.is_view:
        raise ConfigurationError(
            "INVALID_REFRESH_SELECTION",
            f"`{name}` is a view: it is not stored and cannot be refreshed.",
            next_step="Name the tables that read it.",
        )
    return dataset
