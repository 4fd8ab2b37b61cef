"""Which datasets an update refreshes, and which of them start from nothing (spec §4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from lakeward.errors import ConfigurationError, PipelineError
from lakeward.pipelines.elements import Dataset
from lakeward.pipelines.graph import Graph
from lakeward.pipelines.names import did_you_mean

__all__ = ["Selection", "not_resettable", "resettable", "select", "with_rest"]

_RESET_ALLOWED = "pipelines.reset.allowed"
Key = tuple[str, ...]


@dataclass(frozen=True)
class Selection:
    """Keys of the tables to bring up to date, and of those among them that are emptied first.

    `restart` holds keys of datasets, each with the name of a flow into it whose stream begins anew.
    """

    refresh: frozenset[Key]
    reset: frozenset[Key]
    restart: frozenset[tuple[Key, str]] = frozenset()


def select(
    graph: Graph,
    *,
    refresh: Iterable[str],
    full_refresh: Iterable[str],
    everything: bool,
    checkpoints: Iterable[str] = (),
) -> Selection:
    """The selection that the flags of a run mean; `checkpoints` names flows that begin anew.

    Nothing named: all tables. Anything named: only those. Raises ConfigurationError for unknown names,
    for views, for a full refresh of a table that forbids it, and for flags that contradict each other.
    """
    selection = _tables_of(graph, refresh, full_refresh, everything=everything)
    return replace(selection, restart=frozenset(_flow(graph, name) for name in checkpoints))


def _tables_of(
    graph: Graph, refresh: Iterable[str], full_refresh: Iterable[str], *, everything: bool
) -> Selection:
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
            frozenset(dataset.key for dataset in tables if resettable(dataset)),
        )
    named = {name: _table(graph, name) for name in [*some, *full]}
    for name in full:
        if not resettable(named[name]):
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


def with_rest(selection: Selection, interrupted: Iterable[Key]) -> Selection:
    """The same, and what a full refresh that did not end has left to do.

    A table that was emptied is another one to the streams that read it, so they have to begin anew as well.
    """
    keys = frozenset(interrupted)
    return replace(selection, refresh=selection.refresh | keys, reset=selection.reset | keys)


def resettable(dataset: Dataset) -> bool:
    """Whether a full refresh may empty it (`pipelines.reset.allowed`)."""
    return dataset.options.properties.get(_RESET_ALLOWED, "true").lower() != "false"


def not_resettable(dataset: Dataset, inputs: Iterable[Dataset]) -> list[PipelineError]:
    """An error for a table that keeps its rows while one that it streams from may lose them."""
    lost = [] if resettable(dataset) else sorted(each.name for each in inputs if resettable(each))
    if not lost:
        return []
    return [
        PipelineError(
            "INVALID_RESETTABLE_DEPENDENCY",
            f"{dataset.place}: `{dataset.name}` has {_RESET_ALLOWED}=false and streams from "
            f"{', '.join(f'`{name}`' for name in lost)}, which a full refresh may empty.",
            next_step=f"Give those {_RESET_ALLOWED}=false as well, or take it from `{dataset.name}`.",
        )
    ]


def _flow(graph: Graph, name: str) -> tuple[Key, str]:
    """The flow that `name` means: its own name, or that with the catalog and schema of its dataset."""
    known: list[str] = []
    for dataset in graph:
        for flow in dataset.flows if not dataset.is_view else ():
            known.append(flow.name)
            full = ".".join((*dataset.key[:2], flow.name))
            if name.lower() in (flow.name.lower(), full.lower()):
                return dataset.key, flow.name
    raise ConfigurationError(
        "FLOW_NOT_FOUND",
        f"The pipeline has no flow `{name}`.",
        next_step=did_you_mean(name, known) or f"It has: {', '.join(sorted(known))}.",
    )


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
