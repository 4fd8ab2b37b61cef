"""The collected graph, the result of its analysis, and the selection of datasets to refresh."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lakeward.errors import PipelineError
from lakeward.pipelines.graph.elements import (
    Dataset,
    DatasetKind,
    DefaultSchema,
    EventHook,
    Key,
    split_name,
    without_live,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


@dataclass(frozen=True)
class DataflowGraph:
    """All datasets of a pipeline; `default_schema` completes short names.

    `is_reduced` is True where tables of the pipeline are left out and read like any other.
    """

    default_schema: DefaultSchema
    datasets: tuple[Dataset, ...]
    hooks: tuple[EventHook, ...] = ()
    is_reduced: bool = False

    def __iter__(self) -> Iterator[Dataset]:
        return iter(self.datasets)

    def find(
        self, name: str | tuple[str, ...], default_schema: DefaultSchema | None = None
    ) -> Dataset | None:
        """Return the dataset that `name` (1 to 3 parts, any case, `LIVE.` allowed) refers to, or None.

        A one-part name refers to a view of the pipeline first (SDP-7.4.1). `default_schema` replaces the
        pipeline's own after USE.
        """
        try:
            parts = without_live(split_name(name) if isinstance(name, str) else name)
        except ValueError:
            return None
        if not 1 <= len(parts) <= 3:
            return None
        if len(parts) == 1:
            view = self._by_key.get((parts[0].lower(),))
            if view is not None:
                return view
        return self._by_key.get((default_schema or self.default_schema).qualify(parts))

    @property
    def _by_key(self) -> dict[tuple[str, ...], Dataset]:
        return {dataset.key: dataset for dataset in self.datasets}

    def without_tables(self, kept: Collection[Key]) -> DataflowGraph:
        """Return the graph without the tables and sinks that are not among `kept`; its views remain."""
        datasets = tuple(each for each in self if each.key in kept or each.is_view)
        return replace(self, datasets=datasets, is_reduced=True)

    def names(self) -> list[str]:
        return [dataset.name for dataset in self.datasets]

    def only(self, keys: Iterable[tuple[str, ...]]) -> Iterator[Dataset]:
        wanted = set(keys)
        return (dataset for dataset in self.datasets if dataset.key in wanted)


@dataclass(frozen=True)
class RefreshSelection:
    """Keys of the tables to refresh, and of those among them to truncate first.

    `restart` holds pairs of a dataset's key and the name of a flow into it whose checkpoint is reset.
    """

    refresh: frozenset[Key]
    reset: frozenset[Key]
    restart: frozenset[tuple[Key, str]] = frozenset()


@dataclass(frozen=True)
class ResolvedDataset:
    """The result of the analysis of one dataset.

    Attributes:
        dataset: The declared dataset.
        kind: Its kind, from the queries of its flows.
        schema: The columns of its table.
        inputs: Keys of all datasets that its flows need, views and their inputs included.
        direct_inputs: Names of the datasets that each flow reads itself, for lineage.
        complete_flows: Names of flows that are written in the output mode `complete`.
        query_plans: The analyzed plan of each flow as text.
        lineage: The source columns of each column by flow.
        has_unknown_json: Whether a flow has a column of `from_json` whose schema is not inferred yet.
    """

    dataset: Dataset
    kind: DatasetKind
    schema: StructType
    inputs: frozenset[Key]
    direct_inputs: dict[str, tuple[str, ...]]
    complete_flows: frozenset[str]
    query_plans: dict[str, str] = field(default_factory=dict)
    lineage: dict[str, dict[str, list[tuple[str, str]]]] = field(default_factory=dict)
    has_unknown_json: bool = False


@dataclass
class ResolvedGraph:
    """The resolved datasets, upstream first, and the errors and blocking inputs of the others."""

    datasets: dict[Key, ResolvedDataset] = field(default_factory=dict)
    errors: dict[Key, list[PipelineError]] = field(default_factory=dict)
    blocked: dict[Key, Dataset] = field(default_factory=dict)

    def causes(self, keys: Iterable[Key]) -> Iterator[PipelineError]:
        """Yield the errors of the datasets, and those of the inputs that block them."""
        for key in keys:
            cause = key
            while cause in self.blocked:
                cause = self.blocked[cause].key
            yield from self.errors.get(cause, ())
