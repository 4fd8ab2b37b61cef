"""The elements of a pipeline as its files declare them: datasets, flows and expectations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lakeward.pipelines.cdc.change import Change

__all__ = [
    "Action",
    "Dataset",
    "Declared",
    "Flow",
    "Hook",
    "Mode",
    "Place",
    "Replacement",
    "Rule",
    "Sink",
    "TableOptions",
]

Action = Literal["warn", "drop", "fail"]
Declared = Literal["table", "materialized_view", "streaming_table", "view", "sink"]
Mode = Literal["append", "update"]


@dataclass(frozen=True)
class Place:
    """Where in the user's files something is declared."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Rule:
    """One expectation: a record satisfies it when `constraint` is true (not false, not NULL)."""

    name: str
    constraint: str
    action: Action


@dataclass(frozen=True)
class TableOptions:
    """How a dataset is stored; an empty value means that the files do not say.

    `row_filter` is the filter's function with its arguments: `f ON (a, b)`.
    """

    comment: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    partition_cols: tuple[str, ...] = ()
    cluster_by: tuple[str, ...] = ()
    schema: Any = None
    path: str | None = None
    private: bool = False
    row_filter: str | None = None


@dataclass(frozen=True)
class Sink:
    """Where the flows of a sink write to: a format with its options, or a function of each batch."""

    format: str
    options: Mapping[str, str] = field(default_factory=dict)
    handler: Callable[[Any, int], Any] | None = None


@dataclass(frozen=True)
class Replacement:
    """Which rows of its target a flow replaces: those that `where` holds for, or those of its own keys.

    By keys (`using`), the rows with the greatest `sequence_by` (a column's name, or a Column) stand.
    """

    using: tuple[str, ...] = ()
    sequence_by: Any = None
    where: str | None = None


@dataclass(frozen=True)
class Hook:
    """A function that is called with every event, until it has failed more often in a row than it may."""

    name: str
    function: Callable[[dict[str, Any]], Any]
    failures_allowed: int | None = None


@dataclass(frozen=True)
class Flow:
    """A query and the dataset that it feeds; with `change`, a change feed that is applied to it.

    With `snapshots` as well, the feed is what differs between the snapshots that this source gives: the
    name of a table, a pair of a DataFrame and its version, or a function from the last version to the next
    pair (spec §3.5).
    """

    name: str
    target: tuple[str, ...]
    function: Callable[[], Any]
    place: Place
    once: bool = False
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    change: Change | None = None
    snapshots: Any = None
    mode: Mode = "append"
    replaces: Replacement | None = None

    @property
    def is_batch(self) -> bool:
        """Whether its query into a streaming table is a batch."""
        by_condition = self.replaces is not None and self.replaces.where is not None
        return self.once or self.snapshots is not None or by_condition


@dataclass(frozen=True)
class Dataset:
    """A table, view or sink of the pipeline with everything that feeds it.

    `key` is the full name in lower case (one part for views and sinks). `declared` is what the files say: a
    `table` becomes a streaming table or a materialized view by what its function returns (spec §1.3-R1).
    """

    name: str
    key: tuple[str, ...]
    declared: Declared
    options: TableOptions
    rules: tuple[Rule, ...]
    flows: tuple[Flow, ...]
    place: Place
    sink: Sink | None = None

    @property
    def is_view(self) -> bool:
        return self.declared == "view"

    @property
    def is_table(self) -> bool:
        return self.declared not in ("view", "sink")
