"""Functions that declare datasets, expectations, sinks and event hooks.

Names, parameters and their support are declared in `parameters`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakeward.pipelines.api.registry import DatasetDeclaration, GraphRegistry, PendingDataset
from lakeward.pipelines.api.signatures import (
    Arguments,
    add_expectations,
    api_function,
    calling_location,
    decorate_function,
    definition_location,
    function_name,
    inline_expectations,
    replace_spec,
    require_registry,
    spark_conf_option,
    string_mapping,
    table_options,
)
from lakeward.pipelines.graph.elements import (
    FOREACH_BATCH_FORMAT,
    DatasetType,
    EventHook,
    Expectation,
    Flow,
    Sink,
    SourceCodeLocation,
    TableOptions,
    ViolationAction,
)

UserFunction = Callable[..., Any]


@api_function
def table(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a streaming table if the function returns a stream, else a materialized view (SDP-1.3-R1)."""
    return _dataset_decorator(registry, "table", "table", values)


@api_function
def materialized_view(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a table that holds the result of a batch query."""
    return _dataset_decorator(registry, "materialized_view", "materialized_view", values)


@api_function
def temporary_view(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a query that is not stored: every consumer evaluates it, including its expectations."""
    return _dataset_decorator(registry, "temporary_view", "view", values)


@api_function
def create_streaming_table(registry: GraphRegistry, values: Arguments) -> None:
    """Declare a streaming table for flows; its expectations apply to each of them."""
    what, name, location = "create_streaming_table", values["name"], calling_location()
    spark_conf_option(what, values["spark_conf"])
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


def create_table(query_function: UserFunction | str | None = None, **options: Any) -> Any:
    """Decorate a dataset function (older code), or declare a streaming table (current API) (SDP-1.1).

    Which one is meant depends on whether the result is used as a decorator.
    """
    registry = require_registry("create_table")
    if callable(query_function):
        return table(query_function, **options)
    if query_function is not None:
        options["name"] = query_function
    location, used = calling_location(), []

    def decorate(function: UserFunction) -> Any:
        used.append(function)
        return table(**options)(function)

    def declare() -> None:
        if used:
            return
        if "name" not in options:
            raise TypeError(f"{location}: create_table() needs name=…, or a function to decorate")
        create_streaming_table(**options)

    registry.deferred.append(declare)
    return decorate


def _dataset_decorator(registry: GraphRegistry, decorator: str, kind: DatasetType, values: Arguments) -> Any:
    function, name = values["query_function"], values["name"]
    options, spark_conf = table_options(decorator, values), spark_conf_option(decorator, values["spark_conf"])
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


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def expect(description: str, constraint: str) -> Decorator:
    """Keep and count records that do not satisfy `constraint`."""
    return _one("expect", description, constraint, "warn")


def expect_or_drop(description: str, constraint: str) -> Decorator:
    """Drop and count records that do not satisfy `constraint`."""
    return _one("expect_or_drop", description, constraint, "drop")


def expect_or_fail(description: str, constraint: str) -> Decorator:
    """Fail the flow without writing at the first record that does not satisfy `constraint`."""
    return _one("expect_or_fail", description, constraint, "fail")


def expect_all(expectations: Mapping[str, str]) -> Decorator:
    """Apply `expect` for each name and constraint."""
    return _all("expect_all", expectations, "warn")


def expect_all_or_drop(expectations: Mapping[str, str]) -> Decorator:
    """Apply `expect_or_drop` for each name and constraint."""
    return _all("expect_all_or_drop", expectations, "drop")


def expect_all_or_fail(expectations: Mapping[str, str]) -> Decorator:
    """Apply `expect_or_fail` for each name and constraint."""
    return _all("expect_all_or_fail", expectations, "fail")


def _one(decorator: str, description: str, constraint: str, action: ViolationAction) -> Decorator:
    if not isinstance(constraint, str):
        raise TypeError(
            f"{decorator}('{description}', …) takes its constraint as SQL text, not {constraint!r}"
        )
    return lambda function: add_expectations(
        function, [Expectation(str(description), constraint, action)], decorator
    )


def _all(decorator: str, expectations: Mapping[str, str], action: ViolationAction) -> Decorator:
    if not isinstance(expectations, Mapping):
        raise TypeError(f"{decorator}() takes a dict of names and constraints, not {expectations!r}")
    declared = [Expectation(str(name), str(constraint), action) for name, constraint in expectations.items()]
    return lambda function: add_expectations(function, declared, decorator)


@api_function
def create_sink(registry: GraphRegistry, values: Arguments) -> None:
    """Declare a target outside of the pipeline, in a format that Spark can write."""
    name, given = values["name"], values["format"]
    if not isinstance(given, str):
        raise TypeError(f"create_sink(format=…) takes a str, not {type(given).__name__}")
    sink = Sink(given, string_mapping("create_sink", "options", values["options"]))
    _declare_sink(registry, name, sink, calling_location())


@api_function
def foreach_batch_sink(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a function `f(df, batch_id)` that is called with every micro-batch of the flows into it."""

    def decorate(function: UserFunction) -> UserFunction:
        if not callable(function):
            raise TypeError(f"foreach_batch_sink() decorates a function, but it was given {function!r}")
        name = values["name"] or function_name(function, "foreach_batch_sink")
        _declare_sink(
            registry, name, Sink(FOREACH_BATCH_FORMAT, handler=function), definition_location(function)
        )
        return function

    return decorate if values["batch_handler"] is None else decorate(values["batch_handler"])


@api_function
def on_event_hook(registry: GraphRegistry, values: Arguments) -> Any:
    """Declare a function that is called with every event of an update, as a dict, after it is logged."""
    allowed = values["max_allowable_consecutive_failures"]
    if allowed is not None and (not isinstance(allowed, int) or isinstance(allowed, bool) or allowed < 0):
        raise TypeError(
            f"on_event_hook(max_allowable_consecutive_failures=…) takes a count or None, not {allowed!r}"
        )

    def decorate(function: UserFunction) -> UserFunction:
        if not callable(function):
            raise TypeError(f"on_event_hook() decorates a function, but it was given {function!r}")
        registry.hooks.append(EventHook(getattr(function, "__name__", "hook"), function, allowed))
        return function

    given = values["user_event_hook_fn"]
    return decorate if given is None else decorate(given)


def _declare_sink(registry: GraphRegistry, name: Any, sink: Sink, location: SourceCodeLocation) -> None:
    if not isinstance(name, str):
        raise TypeError(f"a sink's name is a str, not {type(name).__name__}")
    registry.key(name, short=True)
    pending = PendingDataset(location, dataset_name=name)
    registry.declarations.append(DatasetDeclaration(name, "sink", TableOptions(), pending, location, sink))
