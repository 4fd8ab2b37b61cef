"""The functions that declare sinks and event hooks."""

from __future__ import annotations

from lakeward.pipelines.api.registry import DatasetDeclaration, GraphRegistry, PendingDataset
from lakeward.pipelines.api.signatures import (
    Arguments,
    Decorator,
    UserFunction,
    api_function,
    calling_location,
    definition_location,
    function_name,
)
from lakeward.pipelines.graph.elements import (
    FOREACH_BATCH_FORMAT,
    EventHook,
    Sink,
    SourceCodeLocation,
    TableOptions,
)


@api_function
def create_sink(registry: GraphRegistry, values: Arguments) -> None:
    """Declare a target outside of the pipeline, in a format that Spark can write."""
    name, given = values["name"], values["format"]
    if not isinstance(given, str):
        raise TypeError(f"create_sink(format=…) takes a str, not {type(given).__name__}")
    sink = Sink(given, values["options"])
    _declare_sink(registry, name, sink, calling_location())


@api_function
def foreach_batch_sink(registry: GraphRegistry, values: Arguments) -> UserFunction | Decorator:
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
def on_event_hook(registry: GraphRegistry, values: Arguments) -> UserFunction | Decorator:
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


def _declare_sink(registry: GraphRegistry, name: object, sink: Sink, location: SourceCodeLocation) -> None:
    if not isinstance(name, str):
        raise TypeError(f"a sink's name is a str, not {type(name).__name__}")
    registry.key(name, short=True)
    pending = PendingDataset(location, dataset_name=name)
    registry.declarations.append(DatasetDeclaration(name, "sink", TableOptions(), pending, location, sink))
