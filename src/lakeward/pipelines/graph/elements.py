"""The declared elements of a pipeline and their names.

Names have one to three parts, in any case, with or without backquotes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lakeward.session import current_settings

Key = tuple[str, ...]
"""Identity of a dataset: catalog, schema and name in lower case; one part for views and sinks."""

_PART = re.compile(r"\s*(?:`((?:[^`]|``)*)`|([^`.\s][^`.]*?))\s*(\.|$)")


def split_name(name: str) -> tuple[str, ...]:
    """Split a name at its dots. Raises ValueError for invalid names.

    >>> split_name("main.`odd.name`.t")
    ('main', 'odd.name', 't')
    """
    found: list[str] = []
    at = 0
    while True:
        match = _PART.match(name, at)
        if match is None:
            raise ValueError(f"`{name}` is not a dataset name")
        found.append(match[1].replace("``", "`") if match[1] is not None else match[2])
        at = match.end()
        if match[3] != ".":
            return tuple(found)


def without_live(names: tuple[str, ...]) -> tuple[str, ...]:
    """Remove the legacy schema `LIVE`, which has no effect (SDP-4), before a name of one to three parts.

    `live.schema.table` is a table of the catalog `live` where there is one.

    >>> without_live(("LIVE", "t")), without_live(("live", "main", "s", "t"))
    (('t',), ('main', 's', 't'))
    """
    if not 2 <= len(names) <= 4 or names[0].lower() != "live":
        return names
    return names if len(names) == 3 and has_live_catalog() else names[1:]


def has_live_catalog() -> bool:
    """Return whether the session has a catalog of the name `live`."""
    settings = current_settings()
    if settings is None:
        return False
    return settings.catalog.lower() == "live" or (settings.warehouse / "live").is_dir()


@dataclass(frozen=True)
class DefaultSchema:
    """The catalog and schema that qualify the short names of a pipeline."""

    catalog: str
    schema: str

    def or_given(self, catalog: str | None, schema: str | None) -> DefaultSchema:
        """Return this one, with the catalog and the schema that are given."""
        return DefaultSchema(catalog or self.catalog, schema or self.schema)

    def qualify(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the name with three parts in lower case, as the catalog stores it."""
        return tuple(part.lower() for part in (self.catalog, self.schema)[: 3 - len(names)] + names)

    def short(self, full: tuple[str, ...]) -> str:
        """Return the shortest name that refers to the qualified name `full`."""
        default_schema = (self.catalog.lower(), self.schema.lower())
        if full[:2] == default_schema:
            return full[2]
        return ".".join(full[1:] if full[0] == default_schema[0] else full)


ViolationAction = Literal["warn", "drop", "fail"]
DatasetType = Literal["table", "materialized_view", "streaming_table", "view", "sink"]
DatasetKind = Literal["streaming_table", "materialized_view", "view", "sink"]
OutputMode = Literal["append", "update"]
RefreshPolicy = Literal["auto", "incremental", "incremental_strict", "full"]


@dataclass(frozen=True)
class SourceCodeLocation:
    """File and line of a declaration."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Expectation:
    """One expectation: a record satisfies it if `constraint` is true, not false or NULL.

    `constraint` is SQL text; for a Column (`column`) it is the text that PySpark shows.
    """

    name: str
    constraint: str
    action: ViolationAction
    column: Any = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class TableOptions:
    """Storage options of a dataset; an empty value is not declared.

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
    refresh_policy: RefreshPolicy = "auto"


@dataclass(frozen=True)
class Sink:
    """The target of a sink's flows: a format with options, or a function called with each batch."""

    format: str
    options: Mapping[str, str] = field(default_factory=dict)
    handler: Callable[[Any, int], Any] | None = None

    def option(self, name: str) -> str | None:
        """Return the option called `name` in any case, None if it is absent."""
        return next((value for key, value in self.options.items() if key.lower() == name.lower()), None)


@dataclass(frozen=True)
class ReplaceSpec:
    """The rows of the target that a flow replaces: those that satisfy `where`, or those with the same keys.

    By keys (`using`), the rows with the greatest `sequence_by` (a column's name or a Column) are kept.
    """

    using: tuple[str, ...] = ()
    sequence_by: Any = None
    where: str | None = None


@dataclass(frozen=True)
class EventHook:
    """A function that is called with every event, until it fails too often in succession."""

    name: str
    function: Callable[[dict[str, Any]], Any]
    failures_allowed: int | None = None


@dataclass(frozen=True)
class Flow:
    """A query and the dataset that it writes to; with `change_args` a change feed (AUTO CDC).

    With `snapshot_source` as well, the feed consists of the differences between snapshots. The source is
    the name of a table, a pair of a DataFrame and its version, or a function from the last version to the
    next pair.
    """

    name: str
    target: tuple[str, ...]
    function: Callable[[], Any]
    location: SourceCodeLocation
    once: bool = False
    spark_conf: Mapping[str, str] = field(default_factory=dict)
    depends_on: tuple[str, ...] = ()
    change_args: ChangeArgs | None = None
    snapshot_source: Any = None
    mode: OutputMode = "append"
    replaces: ReplaceSpec | None = None

    @property
    def is_batch(self) -> bool:
        """Return whether the flow writes a batch query into a streaming table."""
        by_condition = self.replaces is not None and self.replaces.where is not None
        return self.once or self.snapshot_source is not None or by_condition


@dataclass(frozen=True)
class ViewDefinition:
    """What the catalog stores of a view: its query, the columns as SQL, and the schema of its short names."""

    query: str
    columns: str = ""
    catalog: str | None = None
    schema: str | None = None


@dataclass(frozen=True)
class Dataset:
    """A table, view or sink of the pipeline with all flows into it.

    `key` is the full name in lower case (one part for temporary views and sinks); a view with a `definition`
    is created in the catalog after the update. A declared `table` becomes a
    streaming table or a materialized view, depending on what its function returns (SDP-1.3-R1).
    """

    name: str
    key: tuple[str, ...]
    dataset_type: DatasetType
    options: TableOptions
    expectations: tuple[Expectation, ...]
    flows: tuple[Flow, ...]
    location: SourceCodeLocation
    sink: Sink | None = None
    definition: ViewDefinition | None = None

    @property
    def is_view(self) -> bool:
        return self.dataset_type == "view"

    @property
    def is_table(self) -> bool:
        return self.dataset_type not in ("view", "sink")


@dataclass(frozen=True)
class ChangeArgs:
    """The arguments of AUTO CDC. Columns are names, SQL text or Columns, as passed by the user.

    At most one list of each pair is set; None means all columns.
    """

    keys: tuple[Any, ...]
    sequence_by: Any
    scd_type: Literal[1, 2] = 1
    deletes: Any = None
    truncates: Any = None
    columns: tuple[Any, ...] | None = None
    except_columns: tuple[Any, ...] | None = None
    tracked: tuple[Any, ...] | None = None
    untracked: tuple[Any, ...] | None = None
    ignore_null: bool = False
    ignore_null_columns: tuple[Any, ...] | None = None
    ignore_null_except: tuple[Any, ...] | None = None
    columns_to_update: Any = None
    system_sequence_by: Any = None

    @property
    def bitemporal(self) -> bool:
        """Return whether the target records when each row was known, in addition to when it was valid."""
        return self.system_sequence_by is not None

    @property
    def partial(self) -> bool:
        """Return whether an update may leave some columns unchanged."""
        return self.ignore_null or self.columns_to_update is not None


FOREACH_BATCH_FORMAT = "foreach_batch"
