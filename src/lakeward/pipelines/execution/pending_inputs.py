"""Which inputs of a flow are up to date in a pass, and which datasets await others."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from lakeward.errors import PipelineError
from lakeward.pipelines.analysis.flow_evaluation import InputNotReady
from lakeward.pipelines.execution.scheduler import AwaitedInput
from lakeward.pipelines.graph.dataflow_graph import RefreshSelection, ResolvedDataset, ResolvedGraph
from lakeward.pipelines.graph.elements import Dataset, Key
from lakeward.pipelines.graph.results import DatasetResult
from lakeward.pipelines.storage.streaming_query_task import QueryTask

UNSUCCESSFUL = ("FAILED", "SKIPPED")
"""The states of inputs whose readers are skipped."""


class InputPending(BaseException):
    """A flow reads a dataset that is not refreshed yet. User code that catches Exception lets it pass."""

    def __init__(self, dataset: Dataset) -> None:
        super().__init__(dataset.name)
        self.dataset = dataset


class PendingInputs:
    """The inputs of one pass; `results` has the datasets that have ended in it.

    The thread that creates it evaluates the flows.
    """

    def __init__(
        self, graph: ResolvedGraph, selection: RefreshSelection, results: Mapping[Key, DatasetResult]
    ) -> None:
        self._graph, self._selection, self._results = graph, selection, results
        self._thread = threading.get_ident()
        self._reader: Key | None = None
        self._awaited: dict[Key, Key] = {}

    @contextmanager
    def reading(self, key: Key) -> Iterator[None]:
        """Attribute the reads within the block to a dataset."""
        self._reader = key
        try:
            yield
        finally:
            self._reader = None

    def require_ready(self, dataset: Dataset) -> None:
        """Check that a dataset that a flow reads is up to date.

        Raises InputNotReady if it failed, InputPending if it is not refreshed yet, and PipelineError if it
        awaits the reading dataset. Batch functions run in other threads: they read the rows that are there.
        """
        result = self._results.get(dataset.key)
        if result is not None:
            if result.state in UNSUCCESSFUL:
                raise InputNotReady(dataset)
            return
        if dataset.is_view or dataset.key not in self._selection.refresh or self._reader is None:
            return
        if threading.get_ident() != self._thread:
            return
        if self._reader in self._awaited_by(dataset.key):
            raise PipelineError(
                "PIPELINE_GRAPH_CYCLE",
                f"`{dataset.name}` is read while it is being refreshed.",
                next_step="Remove one of these reads.",
            )
        raise InputPending(dataset)

    def are_done(self, resolved: ResolvedDataset) -> bool:
        """Return whether all inputs of a dataset are done, or another dataset awaits this one."""
        datasets = self._graph.datasets
        inputs = [key for key in resolved.inputs if not datasets[key].dataset.is_view]
        return all(key in self._results for key in inputs) or resolved.dataset.key in self._awaited.values()

    def await_input(self, key: Key, awaited: Key) -> QueryTask[None]:
        """Suspend the task of a dataset until another one is done."""
        self._awaited[key] = awaited
        try:
            yield AwaitedInput(lambda: awaited in self._results)
        finally:
            del self._awaited[key]

    def _awaited_by(self, key: Key | None) -> Iterator[Key]:
        """Yield a dataset, the one that it awaits, and so on."""
        while key is not None:
            yield key
            key = self._awaited.get(key)
