"""Registers what the files of one pipeline declare and builds the `DataflowGraph`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines.graph.dataflow_graph import DataflowGraph
from lakeward.pipelines.graph.elements import (
    Dataset,
    DatasetType,
    DefaultSchema,
    EventHook,
    Expectation,
    Flow,
    Sink,
    SourceCodeLocation,
    TableOptions,
    ViewDefinition,
    split_name,
    without_live,
)
from lakeward.suggestions import did_you_mean

log = logging.getLogger("lakeward.pipelines")


@dataclass
class PendingDataset:
    """Expectations of one decorated function, and the dataset that it defines once known.

    Decorators are stacked in any order, so neither is known before the other.
    """

    location: SourceCodeLocation
    expectations: list[Expectation] = field(default_factory=list)
    dataset_name: str | None = None


@dataclass(frozen=True)
class DatasetDeclaration:
    """One declared dataset; expectations may be added while the file is executed."""

    name: str
    dataset_type: DatasetType
    options: TableOptions
    pending: PendingDataset
    location: SourceCodeLocation
    sink: Sink | None = None
    definition: ViewDefinition | None = None

    @property
    def is_short(self) -> bool:
        """Return whether its name has one part and no schema."""
        return self.dataset_type in ("view", "sink") and self.definition is None


class GraphRegistry:
    """Collects declarations. `finish` validates all of them and reports every error."""

    def __init__(self, default_schema: DefaultSchema) -> None:
        self.default_schema = default_schema
        self.declarations: list[DatasetDeclaration] = []
        self.flows: list[Flow] = []
        self.hooks: list[EventHook] = []
        self.pending: list[PendingDataset] = []
        self.deferred: list[Callable[[], None]] = []
        self._warned: set[str] = set()

    def warn(self, about: str, text: str) -> None:
        """Warn once per update that `about` is accepted without effect."""
        if about not in self._warned:
            self._warned.add(about)
            log.warning(text)

    def key(self, name: str, *, short: bool) -> tuple[str, ...]:
        """Return the lookup key of a declared name. Raises PipelineError for an invalid name."""
        try:
            found = without_live(split_name(name))
        except ValueError as error:
            raise PipelineError("INVALID_DATASET_NAME", f"{error}.") from None
        if short and len(found) > 1:
            raise PipelineError(
                "TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS",
                f"`{name}` cannot be declared: the name of a temporary view or sink has one part.",
                next_step="Leave out the catalog and the schema.",
            )
        if len(found) > 3:
            raise PipelineError(
                "IDENTIFIER_TOO_MANY_NAME_PARTS",
                f"`{name}` cannot be declared: a name has at most three parts.",
                next_step="Name it catalog.schema.name, or put it in backticks if the name has dots.",
            )
        return (found[0].lower(),) if short else self.default_schema.qualify(found)

    def finish(self) -> tuple[DataflowGraph, list[PipelineError]]:
        """Return the graph, and the errors in the declarations (duplicates, flows without target)."""
        for decide in self.deferred:
            decide()
        errors: list[PipelineError] = []
        kept: dict[tuple[str, ...], DatasetDeclaration] = {}
        rejected: set[SourceCodeLocation] = set()
        for declaration in self.declarations:
            key = self.key(declaration.name, short=declaration.is_short)
            clash = kept.get(key) or self._namesake(declaration, key, kept)
            if clash is not None:
                errors.append(
                    _duplicate_error("dataset", declaration.name, clash.location, declaration.location)
                )
                rejected.add(declaration.location)
                continue
            kept[key] = declaration
        flows = self._flows_by_target(kept, rejected, errors)
        errors += [
            PipelineError(
                "EXPECTATION_WITHOUT_DATASET",
                f"{pending.location}: the expectations "
                f"{_quoted_list(each.name for each in pending.expectations)} "
                "are on a function that defines no dataset.",
                next_step="Put `@dp.table` or `@dp.materialized_view` on the same function.",
            )
            for pending in self.pending
            if pending.dataset_name is None
        ]
        datasets = []
        for key, declaration in kept.items():
            errors += duplicate_expectations(
                declaration.location, declaration.name, declaration.pending.expectations
            )
            datasets.append(
                Dataset(
                    name=self._shown_name(declaration, key, kept),
                    key=key,
                    dataset_type=declaration.dataset_type,
                    options=declaration.options,
                    expectations=tuple(declaration.pending.expectations),
                    flows=tuple(flows.get(key, ())),
                    location=declaration.location,
                    sink=declaration.sink,
                    definition=declaration.definition,
                )
            )
        return DataflowGraph(self.default_schema, tuple(datasets), tuple(self.hooks)), errors

    def _namesake(
        self,
        declaration: DatasetDeclaration,
        key: tuple[str, ...],
        kept: Mapping[tuple[str, ...], DatasetDeclaration],
    ) -> DatasetDeclaration | None:
        """Return the view or sink, or the table, that has the same short name in the default schema.

        A table that is declared with its schema is another name than a view's, which has one part.
        """
        if len(key) == 1:
            other = kept.get((*self._default_schema_key, key[0]))
            table = other
        else:
            other = kept.get((key[-1],)) if key[:-1] == self._default_schema_key else None
            table = declaration
        if other is None or table is None:
            return None
        is_view = "view" in (declaration.dataset_type, other.dataset_type)
        return None if is_view and len(without_live(split_name(table.name))) > 1 else other

    def _shown_name(
        self,
        declaration: DatasetDeclaration,
        key: tuple[str, ...],
        kept: Mapping[tuple[str, ...], DatasetDeclaration],
    ) -> str:
        if len(key) == 1:
            return declaration.name
        # The short name refers to the view.
        return ".".join(key) if (key[-1],) in kept else self.default_schema.short(key)

    @property
    def _default_schema_key(self) -> tuple[str, ...]:
        return (self.default_schema.catalog.lower(), self.default_schema.schema.lower())

    def _to_sink(self, flow: Flow, declared: dict[tuple[str, ...], DatasetDeclaration]) -> Flow:
        """Redirect a flow to the sink of its target's name; targets are written like names of tables."""
        short = declared.get(flow.target[-1:])
        is_sink = (
            short is not None
            and short.dataset_type == "sink"
            and flow.target[:-1] == self._default_schema_key
        )
        return replace(flow, target=flow.target[-1:]) if is_sink else flow

    def _flows_by_target(
        self,
        declared: dict[tuple[str, ...], DatasetDeclaration],
        rejected: set[SourceCodeLocation],
        errors: list[PipelineError],
    ) -> dict[tuple[str, ...], list[Flow]]:
        names: dict[tuple[bool, str], SourceCodeLocation] = {}
        flows: dict[tuple[str, ...], list[Flow]] = {}
        for flow in [self._to_sink(flow, declared) for flow in self.flows]:
            if flow.target not in declared and flow.location in rejected:
                continue
            if flow.target not in declared:
                is_view = flow.target[:-1] == self._default_schema_key and flow.target[-1:] in declared
                errors.append(
                    _view_target_error(flow)
                    if is_view
                    else _unknown_target_error(flow, [declaration.name for declaration in declared.values()])
                )
                continue
            # Views have one-part names and other flows qualified ones: they do not conflict.
            label = (declared[flow.target].dataset_type == "view", flow.name.lower())
            if label in names:
                if flow.location not in rejected:
                    errors.append(_duplicate_error("flow", flow.name, names[label], flow.location))
                continue
            names[label] = flow.location
            flows.setdefault(flow.target, []).append(flow)
        return flows


def _unknown_target_error(flow: Flow, known: Iterable[str]) -> PipelineError:
    near = did_you_mean(flow.target[-1], known)
    call, target = f'dp.create_streaming_table("{flow.target[-1]}")', ".".join(flow.target)
    return PipelineError(
        "FLOW_TARGET_NOT_FOUND",
        f"{flow.location}: the flow `{flow.name}` writes to `{target}`, which is not declared.",
        next_step=f"{near} Else declare it: {call}." if near else f"Declare it: {call}.",
    )


def _view_target_error(flow: Flow) -> PipelineError:
    """Return the error of a flow into a view, which has no rows of its own.

    Source: https://docs.databricks.com/aws/en/error-messages/invalid-flow-query-type-error-class
    """
    is_change = flow.change_args is not None
    return PipelineError(
        "INVALID_FLOW_QUERY_TYPE.AUTOCDC_RELATION_FOR_TEMPORARY_VIEW"
        if is_change
        else "FLOW_TARGET_NOT_FOUND",
        f"{flow.location}: the flow `{flow.name}` writes to `{flow.target[-1]}`, which is a temporary view.",
        next_step="Declare a streaming table of another name for it.",
    )


def _duplicate_error(
    what: str, name: str, first: SourceCodeLocation, second: SourceCodeLocation
) -> PipelineError:
    return PipelineError(
        "PIPELINE_DUPLICATE_IDENTIFIERS.FLOW" if what == "flow" else "PIPELINE_DUPLICATE_IDENTIFIERS.OUTPUT",
        f"{second}: the {what} `{name}` is declared twice; the first time at {first}.",
        next_step="Names are case-insensitive. Rename one of them.",
    )


def duplicate_expectations(
    location: SourceCodeLocation, dataset: str, expectations: Iterable[Expectation]
) -> list[PipelineError]:
    """Return an error for every expectation name that a dataset uses more than once."""
    names = [expectation.name for expectation in expectations]
    repeated = sorted({name for name in names if names.count(name) > 1})
    return [
        PipelineError(
            "DUPLICATE_EXPECTATION",
            f"{location}: `{dataset}` has more than one expectation named '{name}'.",
            next_step="Names of expectations are unique in a dataset: rename one.",
        )
        for name in repeated
    ]


def _quoted_list(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names)


_active: ContextVar[GraphRegistry | None] = ContextVar("lakeward_pipeline_registry", default=None)


def active_registry() -> GraphRegistry | None:
    """Return the registry of the file that is being executed, None outside of a pipeline."""
    return _active.get()


@contextmanager
def register_into(registry: GraphRegistry) -> Iterator[GraphRegistry]:
    """Collect declarations of this thread in `registry` until the block ends."""
    token = _active.set(registry)
    try:
        yield registry
    finally:
        _active.reset(token)
