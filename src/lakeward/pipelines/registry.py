"""Collects what the files of one pipeline declare, and turns it into a `Graph` once all are read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines.elements import Dataset, Declared, Flow, Hook, Place, Rule, Sink, TableOptions
from lakeward.pipelines.graph import Graph
from lakeward.pipelines.names import Home, did_you_mean, parts, without_live

__all__ = ["Declaration", "Pending", "Registry", "active", "collecting", "repeated_rules"]

log = logging.getLogger("lakeward.pipelines")


@dataclass
class Pending:
    """Expectations gathered on one decorated function, and the dataset it turned out to define.

    Decorators stack in either order (spec §1.3-R3), so neither is known before the other.
    """

    place: Place
    rules: list[Rule] = field(default_factory=list)
    declares: str | None = None


@dataclass(frozen=True)
class Declaration:
    """One dataset as declared; its expectations may still grow while the file is read."""

    name: str
    declared: Declared
    options: TableOptions
    pending: Pending
    place: Place
    sink: Sink | None = None

    @property
    def is_short(self) -> bool:
        """Whether its name has one part and no schema."""
        return self.declared in ("view", "sink")


class Registry:
    """What has been declared so far. `finish` checks the whole and reports every mistake at once."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.declarations: list[Declaration] = []
        self.flows: list[Flow] = []
        self.hooks: list[Hook] = []
        self.loose: list[Pending] = []
        self.undecided: list[Callable[[], None]] = []
        self._warned: set[str] = set()

    def warn(self, about: str, text: str) -> None:
        """Tell the user once a run that `about` is accepted and does nothing here."""
        if about not in self._warned:
            self._warned.add(about)
            log.warning(text)

    def key(self, name: str, *, short: bool) -> tuple[str, ...]:
        """The lookup key of a declared name. Raises PipelineError for a name that cannot be one."""
        try:
            found = without_live(parts(name))
        except ValueError as error:
            raise PipelineError("INVALID_DATASET_NAME", f"{error}.") from None
        if len(found) > 3 or (short and len(found) > 1):
            shape = "the name of a view or sink has one part" if short else "a name has at most three parts"
            raise PipelineError("INVALID_DATASET_NAME", f"`{name}` cannot be declared: {shape}.")
        return (found[0].lower(),) if short else self.home.full(found)

    def finish(self) -> tuple[Graph, list[PipelineError]]:
        """The graph, and the mistakes in the declarations as such (duplicates, flows without target)."""
        for decide in self.undecided:
            decide()
        errors: list[PipelineError] = []
        kept: dict[tuple[str, ...], Declaration] = {}
        rejected: set[Place] = set()
        for declaration in self.declarations:
            key = self.key(declaration.name, short=declaration.is_short)
            clash = kept.get(key) or (kept.get((key[-1],)) if key[:-1] == self._home_key else None)
            if clash is None and len(key) == 1:
                clash = kept.get((*self._home_key, key[0]))
            if clash is not None:
                errors.append(_duplicate("dataset", declaration.name, clash.place, declaration.place))
                rejected.add(declaration.place)
                continue
            kept[key] = declaration
        flows = self._flows_by_target(kept, rejected, errors)
        errors += [
            PipelineError(
                "EXPECTATION_WITHOUT_DATASET",
                f"{pending.place}: the expectations {_listed(rule.name for rule in pending.rules)} "
                "stand on a function that defines no dataset.",
                next_step="Put `@dp.table` or `@dp.materialized_view` on the same function.",
            )
            for pending in self.loose
            if pending.declares is None
        ]
        datasets = []
        for key, declaration in kept.items():
            errors += repeated_rules(declaration.place, declaration.name, declaration.pending.rules)
            datasets.append(
                Dataset(
                    name=declaration.name if len(key) == 1 else self.home.short(key),
                    key=key,
                    declared=declaration.declared,
                    options=declaration.options,
                    rules=tuple(declaration.pending.rules),
                    flows=tuple(flows.get(key, ())),
                    place=declaration.place,
                    sink=declaration.sink,
                )
            )
        return Graph(self.home, tuple(datasets), tuple(self.hooks)), errors

    @property
    def _home_key(self) -> tuple[str, ...]:
        return (self.home.catalog.lower(), self.home.schema.lower())

    def _to_sink(self, flow: Flow, declared: dict[tuple[str, ...], Declaration]) -> Flow:
        """A flow's target is written like a table's name; a sink of that name has one part."""
        short = declared.get(flow.target[-1:])
        is_sink = short is not None and short.declared == "sink" and flow.target[:-1] == self._home_key
        return replace(flow, target=flow.target[-1:]) if is_sink else flow

    def _flows_by_target(
        self,
        declared: dict[tuple[str, ...], Declaration],
        rejected: set[Place],
        errors: list[PipelineError],
    ) -> dict[tuple[str, ...], list[Flow]]:
        names: dict[tuple[bool, str], Place] = {}
        flows: dict[tuple[str, ...], list[Flow]] = {}
        for flow in [self._to_sink(flow, declared) for flow in self.flows]:
            if flow.target not in declared and flow.place in rejected:
                continue
            if flow.target not in declared:
                known = [declaration.name for declaration in declared.values()]
                target = ".".join(flow.target)
                near = did_you_mean(flow.target[-1], known)
                errors.append(
                    PipelineError(
                        "FLOW_TARGET_NOT_FOUND",
                        f"{flow.place}: the flow `{flow.name}` writes to `{target}`, which is not declared.",
                        next_step=near or f'Declare it: dp.create_streaming_table("{flow.target[-1]}").',
                    )
                )
                continue
            # A view's name has one part, and those of other flows are qualified: they do not meet.
            label = (declared[flow.target].declared == "view", flow.name.lower())
            if label in names:
                if flow.place not in rejected:
                    errors.append(_duplicate("flow", flow.name, names[label], flow.place))
                continue
            names[label] = flow.place
            flows.setdefault(flow.target, []).append(flow)
        return flows


def _duplicate(what: str, name: str, first: Place, second: Place) -> PipelineError:
    return PipelineError(
        "PIPELINE_DUPLICATE_IDENTIFIERS",
        f"{second}: the {what} `{name}` is declared twice; the first time at {first}.",
        next_step="Names count without regard to upper and lower case. Rename one of them.",
    )


def repeated_rules(place: Place, dataset: str, rules: Iterable[Rule]) -> list[PipelineError]:
    """An error for every name that more than one of a dataset's expectations has."""
    names = [rule.name for rule in rules]
    repeated = sorted({name for name in names if names.count(name) > 1})
    return [
        PipelineError(
            "DUPLICATE_EXPECTATION",
            f"{place}: `{dataset}` has more than one expectation named '{name}'.",
            next_step="Names of expectations are unique in a dataset: rename one.",
        )
        for name in repeated
    ]


def _listed(names: Any) -> str:
    return ", ".join(f"'{name}'" for name in names)


_active: ContextVar[Registry | None] = ContextVar("lakeward_pipeline_registry", default=None)


def active() -> Registry | None:
    """The registry that the file being read declares into, None outside of a pipeline."""
    return _active.get()


@contextmanager
def collecting(registry: Registry) -> Iterator[Registry]:
    """A block in which declarations of this thread go to `registry`."""
    token = _active.set(registry)
    try:
        yield registry
    finally:
        _active.reset(token)
