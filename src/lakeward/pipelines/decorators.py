"""Datasets as user files declare them: `table`, `materialized_view`, `temporary_view`, streaming tables.

Names, parameters and what each of them does here stand in `parameters`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.pipelines.binding import Values, declared
from lakeward.pipelines.elements import Declared, Flow
from lakeward.pipelines.handles import called_from, function_name, handle, required
from lakeward.pipelines.options import conf, inline_rules, replacement, table_options
from lakeward.pipelines.registry import Declaration, Pending, Registry

__all__ = ["create_streaming_table", "create_table", "materialized_view", "table", "temporary_view"]

Function = Callable[..., Any]


@declared
def table(registry: Registry, values: Values) -> Any:
    """A streaming table when the function returns a stream, a materialized view otherwise (§1.3-R1)."""
    return _with_query(registry, "table", "table", values)


@declared
def materialized_view(registry: Registry, values: Values) -> Any:
    """The result of a batch query, kept up to date as a whole."""
    return _with_query(registry, "materialized_view", "materialized_view", values)


@declared
def temporary_view(registry: Registry, values: Values) -> Any:
    """A query that is not stored: every consumer evaluates it, its expectations included."""
    return _with_query(registry, "temporary_view", "view", values)


@declared
def create_streaming_table(registry: Registry, values: Values) -> None:
    """A streaming table that `append_flow`s feed; its expectations hold for each of them."""
    what, name, place = "create_streaming_table", values["name"], called_from()
    conf(what, values["spark_conf"])
    options, rules = table_options(what, values), inline_rules(values)
    registry.key(name, short=False)
    registry.declarations.append(
        Declaration(name, "streaming_table", options, Pending(place, rules, declares=name), place)
    )


def create_table(query_function: Function | str | None = None, **options: Any) -> Any:
    """Two things under one name (§1.1): old code's decorator, and today's function that makes a table.

    Which one is meant shows only in whether the result is used as a decorator.
    """
    registry = required("create_table")
    if callable(query_function):
        return table(query_function, **options)
    if query_function is not None:
        options["name"] = query_function
    place, used = called_from(), []

    def decorate(function: Function) -> Any:
        used.append(function)
        return table(**options)(function)

    def declare() -> None:
        if used:
            return
        if "name" not in options:
            raise TypeError(f"{place}: create_table() needs name=…, or a function to decorate")
        create_streaming_table(**options)

    registry.undecided.append(declare)
    return decorate


def _with_query(registry: Registry, decorator: str, kind: Declared, values: Values) -> Any:
    function, name = values["query_function"], values["name"]
    options, spark_conf = table_options(decorator, values), conf(decorator, values["spark_conf"])
    replaces = replacement(decorator, values) if "replace_using" in values else None
    if name is not None and not isinstance(name, str):
        raise TypeError(f"{decorator}(name=…) takes a str, not {type(name).__name__}")

    def decorate(query: Function) -> Function:
        callable_, pending = handle(query, decorator, fresh=True)
        label = name or function_name(query, decorator)
        key = registry.key(label, short=kind == "view")
        pending.declares = label
        registry.declarations.append(Declaration(label, kind, options, pending, pending.place))
        registry.flows.append(
            Flow(label, key, callable_, pending.place, spark_conf=spark_conf, replaces=replaces)
        )
        return callable_

    return decorate if function is None else decorate(function)
