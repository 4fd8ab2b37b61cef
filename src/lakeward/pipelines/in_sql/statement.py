"""The statements of a pipeline's SQL, read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lakeward.pipelines.elements import Replacement, Rule

__all__ = ["Changes", "Column", "DatasetStatement", "FlowStatement", "Setting", "Span", "Use"]

Span = tuple[int, int]
"""Where a piece of the statement's text begins and ends."""


@dataclass(frozen=True)
class Column:
    """A declared column. Without a `type` it gives a comment to the query's column, or names it."""

    name: str
    type: str = ""
    comment: str | None = None
    not_null: bool = False
    generated: str | None = None
    mask: str | None = None


@dataclass(frozen=True)
class Changes:
    """The clauses of AUTO CDC, by the names of `create_auto_cdc_flow`'s parameters.

    `source` is a name, or the text of a relation. `expressions` holds what is SQL and no name.
    """

    target: str
    source: str
    source_is_name: bool
    from_snapshot: bool = False
    once: bool = False
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DatasetStatement:
    """CREATE … of a dataset."""

    kind: Literal["streaming_table", "materialized_view", "view"]
    name: str
    columns: tuple[Column, ...] = ()
    rules: tuple[Rule, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    query: Span | None = None
    changes: Changes | None = None
    warnings: tuple[str, ...] = ()
    replaces: Replacement | None = None


@dataclass(frozen=True)
class FlowStatement:
    """CREATE FLOW … AS, INSERT INTO and APPLY CHANGES INTO."""

    target: str
    name: str | None = None
    comment: str | None = None
    once: bool = False
    query: Span | None = None
    changes: Changes | None = None
    replaces: Replacement | None = None


@dataclass(frozen=True)
class Setting:
    """SET k = v, for the statements that follow in the file; SET k alone (None) asks, and sets nothing."""

    key: str
    value: str | None


@dataclass(frozen=True)
class Use:
    """USE, for the statements that follow in the file."""

    catalog: str | None = None
    schema: str | None = None
