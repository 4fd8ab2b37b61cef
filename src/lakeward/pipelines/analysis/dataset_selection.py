"""The datasets that the options of an update select, and those that a full refresh may truncate."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from lakeward.errors import ConfigurationError, PipelineError
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph, RefreshSelection
from lakeward.pipelines.graph.elements import Dataset, Key
from lakeward.suggestions import did_you_mean

_RESET_ALLOWED = "pipelines.reset.allowed"


def select_datasets(
    graph: DataflowGraph,
    *,
    refresh: Iterable[str],
    full_refresh: Iterable[str],
    everything: bool,
    checkpoints: Iterable[str],
) -> RefreshSelection:
    """Return the selection for the options of an update.

    Args:
        graph: The collected graph.
        refresh: Names of tables to refresh; if no option names a table, all are refreshed.
        full_refresh: Names of tables to truncate and reprocess.
        everything: Whether all tables are truncated and reprocessed.
        checkpoints: Names of flows whose checkpoints are reset.

    Raises:
        ConfigurationError: Unknown names, views, tables that must not be reset, contradictory options.
    """
    selection = _select_tables(graph, refresh, full_refresh, everything=everything)
    return replace(selection, restart=frozenset(_find_flow(graph, name) for name in checkpoints))


def _select_tables(
    graph: DataflowGraph, refresh: Iterable[str], full_refresh: Iterable[str], *, everything: bool
) -> RefreshSelection:
    some, full = list(refresh), list(full_refresh)
    tables = [dataset for dataset in graph if not dataset.is_view]
    if everything:
        if some or full:
            raise ConfigurationError(
                "CONFLICTING_PIPELINE_REFRESH_OPTIONS",
                "A full refresh of all datasets was requested together with names: "
                + ", ".join(some + full)
                + ".",
                next_step="Give either names or the full refresh of everything.",
            )
        return RefreshSelection(
            frozenset(dataset.key for dataset in tables),
            frozenset(dataset.key for dataset in tables if is_resettable(dataset)),
        )
    named = {name: _find_table(graph, name) for name in [*some, *full]}
    for name in full:
        if not is_resettable(named[name]):
            raise ConfigurationError(
                "TABLE_NOT_RESETTABLE",
                f"`{name}` has {_RESET_ALLOWED}=false and cannot be fully refreshed.",
                next_step="Change the table's property first if its rows may be deleted.",
            )
    if not named:
        return RefreshSelection(frozenset(dataset.key for dataset in tables), frozenset())
    return RefreshSelection(
        frozenset(dataset.key for dataset in named.values()), frozenset(named[name].key for name in full)
    )


def with_interrupted_resets(selection: RefreshSelection, interrupted: Iterable[Key]) -> RefreshSelection:
    """Add the tables whose full refresh was interrupted.

    Streams cannot resume from a truncated table, so its readers are among them.
    """
    keys = frozenset(interrupted)
    return replace(selection, refresh=selection.refresh | keys, reset=selection.reset | keys)


def is_resettable(dataset: Dataset) -> bool:
    """Return whether a full refresh may truncate the dataset (`pipelines.reset.allowed`)."""
    return dataset.options.properties.get(_RESET_ALLOWED, "true").lower() != "false"


def validate_resettable_inputs(dataset: Dataset, inputs: Iterable[Dataset]) -> list[PipelineError]:
    """Return an error for a table that keeps its rows and streams from tables that may lose theirs."""
    lost = [] if is_resettable(dataset) else sorted(each.name for each in inputs if is_resettable(each))
    if not lost:
        return []
    return [
        PipelineError(
            "INVALID_RESETTABLE_DEPENDENCY",
            f"{dataset.location}: `{dataset.name}` has {_RESET_ALLOWED}=false and streams from "
            f"{', '.join(f'`{name}`' for name in lost)}, which a full refresh may truncate.",
            next_step=f"Give those {_RESET_ALLOWED}=false as well, or remove it from `{dataset.name}`.",
        )
    ]


def _find_flow(graph: DataflowGraph, name: str) -> tuple[Key, str]:
    """Return the flow called `name`, with or without the catalog and schema of its dataset."""
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


def _find_table(graph: DataflowGraph, name: str) -> Dataset:
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
