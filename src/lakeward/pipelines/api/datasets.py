"""The functions that declare datasets: tables and views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.pipelines.api.registry import DatasetDeclaration, GraphRegistry, PendingDataset
from lakeward.pipelines.api.signatures import (
    Arguments,
    Decorator,
    UserFunction,
    api_function,
    calling_location,
    decorate_function,
    function_name,
    inline_expectations,
    replace_spec,
    require_registry,
    table_options,
)
from lakeward.pipelines.graph.elements import DatasetType, Flow, TableOptions, ViewDefinition


@api_function
def table(registry: GraphRegistry, values: Arguments) -> UserFunction | Decorator:
    """Declare a streaming table if the function returns a stream, else a materialized view (SDP-1.3-R1)."""
    return _dataset_decorator(registry, "table", "table", values)


@api_function
def materialized_view(registry: GraphRegistry, values: Arguments) -> UserFunction | Decorator:
    """Declare a table that holds the result of a batch query."""
    return _dataset_decorator(registry, "materialized_view", "materialized_view", values)


@api_function
def temporary_view(registry: GraphRegistry, values: Arguments) -> UserFunction | Decorator:
    """Declare a query that is not stored: every consumer evaluates it, including its expectations."""
    return _dataset_decorator(registry, "temporary_view", "view", values)


def catalog_view(
    registry: GraphRegistry,
    query: UserFunction,
    *,
    name: str,
    comment: str | None,
    definition: ViewDefinition,
    spark_conf: Mapping[str, str],
) -> None:
    """Declare a view that the catalog has after the update: CREATE VIEW in SQL."""
    callable_, pending = decorate_function(query, "temporary_view", fresh=True)
    pending.dataset_name = name
    options = TableOptions(comment=comment)
    registry.declarations.append(
        DatasetDeclaration(name, "view", options, pending, pending.location, definition=definition)
    )
    key = registry.key(name, short=False)
    registry.flows.append(Flow(name, key, callable_, pending.location, spark_conf=spark_conf))


@api_function
def create_streaming_table(registry: GraphRegistry, values: Arguments) -> None:
    """Declare a streaming table for flows; its expectations apply to each of them."""
    what, name, location = "create_streaming_table", values["name"], calling_location()
    options, expectations = table_options(what, values), inline_expectations(values)
    registry.key(name, short=False)
    registry.declarations.append(
        DatasetDeclaration(
            name,
            "streaming_table",
            options,
            PendingDataset(location, expectations, dataset_name=name),
            location,
        )
    )


def create_table(
    query_function: UserFunction | str | None = None, **options: Any
) -> UserFunction | Decorator:
    """Decorate a dataset function (older code), or declare a streaming table (current API) (SDP-1.1).

    Which one is meant depends on whether the result is used as a decorator.
    """
    registry = require_registry("create_table")
    if callable(query_function):
        decorated: UserFunction = table(query_function, **options)
        return decorated
    if query_function is not None:
        options["name"] = query_function
    location, used = calling_location(), []

    def decorate(function: UserFunction) -> UserFunction:
        used.append(function)
        decorated: UserFunction = table(**options)(function)
        return decorated

    def declare() -> None:
        if used:
            return
        if "name" not in options:
            raise TypeError(f"{location}: create_table() needs name=…, or a function to decorate")
        create_streaming_table(**options)

    registry.deferred.append(declare)
    return decorate


def _dataset_decorator(
    registry: GraphRegistry, decorator: str, kind: DatasetType, values: Arguments
) -> UserFunction | Decorator:
    function, name = values["query_function"], values["name"]
    options, spark_conf = table_options(decorator, values), values["spark_conf"]
    replaces = replace_spec(decorator, values) if "replace_using" in values else None
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{decorator}(name=…) takes a str, not {type(name).__name__}")

    def decorate(query: UserFunction) -> UserFunction:
        callable_, pending = decorate_function(query, decorator, fresh=True)
        label = name or function_name(query, decorator)
        key = registry.key(label, short=kind == "view")
        pending.dataset_name = label
        registry.declarations.append(DatasetDeclaration(label, kind, options, pending, pending.location))
        registry.flows.append(
            Flow(label, key, callable_, pending.location, spark_conf=spark_conf, replaces=replaces)
        )
        return callable_

    return decorate if function is None else decorate(function)
