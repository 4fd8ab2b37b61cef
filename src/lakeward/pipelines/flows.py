"""Flows that user files declare apart from their target: `append_flow`, and reading by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines import reads
from lakeward.pipelines.elements import Flow
from lakeward.pipelines.handles import function_name, handle, required
from lakeward.pipelines.options import conf, warn_unused

__all__ = ["append_flow", "read", "read_stream"]


def append_flow(
    *,
    target: str,
    name: str | None = None,
    once: bool = False,
    spark_conf: Mapping[str, str] | None = None,
    comment: str | None = None,  # noqa: ARG001  # accepted: a flow is shown nowhere with a comment
    depends_on: str | Sequence[str] | None = None,
    import_checkpoint: Any = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A query whose new records are appended to the streaming table `target` (spec §4)."""
    registry = required("append_flow")
    warn_unused(registry, "append_flow", import_checkpoint=import_checkpoint)
    settings = conf("append_flow", spark_conf)
    waits = (depends_on,) if isinstance(depends_on, str) else tuple(depends_on or ())

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        callable_, pending = handle(function, "append_flow", fresh=True)
        label = name or function_name(function, "append_flow")
        if pending.rules:
            raise PipelineError(
                "EXPECTATION_ON_FLOW",
                f"{pending.place}: the flow `{label}` has expectations; they belong to its target.",
                next_step=f'Declare them there: dp.create_streaming_table("{target}", expect_all={{…}}).',
            )
        pending.declares = label
        key = registry.key(target, view=False)
        registry.flows.append(Flow(label, key, callable_, pending.place, once, settings, waits))
        return callable_

    return decorate


def read(name: str) -> Any:
    """The dataset `name` of this pipeline, as a batch."""
    return reads.dataset(name, stream=False)


def read_stream(name: str) -> Any:
    """The dataset `name` of this pipeline, as a stream."""
    return reads.dataset(name, stream=True)
