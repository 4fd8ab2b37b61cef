"""What leaves a pipeline as user files declare it: sinks, and hooks on its events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.pipelines.binding import Values, declared
from lakeward.pipelines.elements import Hook, Place, Sink, TableOptions
from lakeward.pipelines.handles import called_from, function_name, sources_of
from lakeward.pipelines.options import mapping
from lakeward.pipelines.registry import Declaration, Pending, Registry
from lakeward.pipelines.sinks import FOREACH_BATCH

__all__ = ["create_sink", "foreach_batch_sink", "on_event_hook"]

Function = Callable[..., Any]


@declared
def create_sink(registry: Registry, values: Values) -> None:
    """A place outside of the pipeline that flows write to, in a format that Spark can write."""
    name, given = values["name"], values["format"]
    if not isinstance(given, str):
        raise TypeError(f"create_sink(format=…) takes a str, not {type(given).__name__}")
    sink = Sink(given, mapping("create_sink", "options", values["options"]))
    _declare(registry, name, sink, called_from())


@declared
def foreach_batch_sink(registry: Registry, values: Values) -> Any:
    """A function `f(df, batch_id)` that is called with every micro-batch of the flows into it."""

    def decorate(function: Function) -> Function:
        if not callable(function):
            raise TypeError(f"foreach_batch_sink() decorates a function, but it was given {function!r}")
        name = values["name"] or function_name(function, "foreach_batch_sink")
        _declare(registry, name, Sink(FOREACH_BATCH, handler=function), sources_of(function))
        return function

    return decorate if values["batch_handler"] is None else decorate(values["batch_handler"])


@declared
def on_event_hook(registry: Registry, values: Values) -> Any:
    """A function that is called with every event of an update, as a dict, after it was noted (spec §5.5)."""
    allowed = values["max_allowable_consecutive_failures"]
    if allowed is not None and (not isinstance(allowed, int) or isinstance(allowed, bool) or allowed < 0):
        raise TypeError(
            f"on_event_hook(max_allowable_consecutive_failures=…) takes a count or None, not {allowed!r}"
        )

    def decorate(function: Function) -> Function:
        if not callable(function):
            raise TypeError(f"on_event_hook() decorates a function, but it was given {function!r}")
        registry.hooks.append(Hook(getattr(function, "__name__", "hook"), function, allowed))
        return function

    given = values["user_event_hook_fn"]
    return decorate if given is None else decorate(given)


def _declare(registry: Registry, name: Any, sink: Sink, place: Place) -> None:
    if not isinstance(name, str):
        raise TypeError(f"a sink's name is a str, not {type(name).__name__}")
    registry.key(name, short=True)
    pending = Pending(place, declares=name)
    registry.declarations.append(Declaration(name, "sink", TableOptions(), pending, place, sink))
