"""Flows that user files declare apart from their target, and reading by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines import reads
from lakeward.pipelines.binding import Values, declared
from lakeward.pipelines.cdc import GONE, VERSION, Change, change_of
from lakeward.pipelines.elements import Flow, Mode, Place
from lakeward.pipelines.handles import called_from, function_name, handle
from lakeward.pipelines.options import conf, replacement
from lakeward.pipelines.registry import Registry

__all__ = [
    "append_flow",
    "create_auto_cdc_flow",
    "create_auto_cdc_from_snapshot_flow",
    "read",
    "read_stream",
    "replace_flow",
    "update_flow",
]


@declared
def append_flow(registry: Registry, values: Values) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A query whose new records are appended to the streaming table or sink `target` (spec §4)."""
    return _flow(registry, "append_flow", "append", values)


@declared
def update_flow(registry: Registry, values: Values) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A query whose changed records are written to the sink `target` (spec §4)."""
    return _flow(registry, "update_flow", "update", values)


@declared
def replace_flow(registry: Registry, values: Values) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A stream of partial snapshots: its rows replace those of `target` that have their keys (spec §1.1)."""
    return _flow(registry, "replace_flow", "append", values)


def _flow(
    registry: Registry, decorator: str, mode: Mode, values: Values
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    target, name, depends_on = values["target"], values["name"], values.get("depends_on")
    settings, once = conf(decorator, values["spark_conf"]), bool(values.get("once"))
    replaces = replacement(decorator, values) if "replace_using" in values else None
    waits = (depends_on,) if isinstance(depends_on, str) else tuple(depends_on or ())

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        callable_, pending = handle(function, decorator, fresh=True)
        label = name or function_name(function, decorator)
        if pending.rules:
            raise PipelineError(
                "EXPECTATION_ON_FLOW",
                f"{pending.place}: the flow `{label}` has expectations; they belong to its target.",
                next_step=f'Declare them there: dp.create_streaming_table("{target}", expect_all={{…}}).',
            )
        pending.declares = label
        key = registry.key(target, short=False)
        registry.flows.append(
            Flow(label, key, callable_, pending.place, once, settings, waits, mode=mode, replaces=replaces)
        )
        return callable_

    return decorate


@declared
def create_auto_cdc_flow(registry: Registry, values: Values) -> None:
    """The change feed `source`, applied to the streaming table `target` (spec §3)."""
    target, source, once = values["target"], values["source"], bool(values["once"])
    place = called_from()
    for what, name in (("target", target), ("source", source)):
        if not isinstance(name, str):
            raise TypeError(f"create_auto_cdc_flow({what}=…) takes a name, not {type(name).__name__}")
    change = _change(values, place)
    label = values["name"] or values["flow_name"] or target

    def feed() -> Any:
        return reads.table(source, stream=not once)

    registry.flows.append(
        Flow(
            label,
            registry.key(target, short=False),
            feed,
            place,
            once,
            conf("create_auto_cdc_flow", values["spark_conf"]),
            change=change,
        )
    )


@declared
def create_auto_cdc_from_snapshot_flow(registry: Registry, values: Values) -> None:
    """What differs between successive snapshots, applied to the streaming table `target` (spec §3.5)."""
    what, target, place = "create_auto_cdc_from_snapshot_flow", values["target"], called_from()
    source = values["source"] if values["source"] is not None else values["snapshot_and_version"]
    if not isinstance(target, str):
        raise TypeError(f"{what}(target=…) takes a name, not {type(target).__name__}")
    if not (isinstance(source, str | tuple) or callable(source)):
        raise TypeError(
            f"{what}(source=…) takes a table's name, a function or (DataFrame, version), "
            f"not {type(source).__name__}"
        )
    feed = {"sequence_by": VERSION, "apply_as_deletes": GONE, "except_column_list": [VERSION, GONE]}
    registry.flows.append(
        Flow(
            values["name"] or target,
            registry.key(target, short=False),
            lambda: None,
            place,
            bool(values["once"]),
            conf(what, values["spark_conf"]),
            change=_change({**values, **feed}, place),
            snapshots=source,
        )
    )


def _change(values: Values, place: Place) -> Change:
    try:
        return change_of(values)
    except PipelineError as error:
        raise PipelineError(error.condition, f"{place}: {error.message}", next_step=error.next_step) from None


def read(name: str) -> Any:
    """The dataset `name` of this pipeline, as a batch."""
    return reads.dataset(name, stream=False)


def read_stream(name: str) -> Any:
    """The dataset `name` of this pipeline, as a stream."""
    return reads.dataset(name, stream=True)
