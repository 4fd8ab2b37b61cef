"""From a call in a user's file to the values that a function of the API works with, by the declared table."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines.handles import required
from lakeward.pipelines.parameters import Function, function
from lakeward.pipelines.registry import Registry

__all__ = ["Values", "declared"]

Values = Mapping[str, Any]


def declared(implementation: Callable[[Registry, Values], Any]) -> Callable[..., Any]:
    """The public function of the table's row that has `implementation`'s name.

    It raises PipelineError outside of a pipeline and for parameters that are refused, and TypeError for
    those that nobody knows; it warns once about each that does nothing here.
    """
    row = function(implementation.__name__)
    assert row is not None, f"{implementation.__name__} is not in the table"
    signature = row.signature()

    @functools.wraps(implementation)
    def public(*args: Any, **kwargs: Any) -> Any:
        registry = required(row.name)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{row.name}(): {error}") from None
        bound.apply_defaults()
        _judge(registry, row, bound.arguments)
        return implementation(registry, bound.arguments)

    public.__signature__ = signature  # type: ignore[attr-defined]  # what `inspect` and editors ask for
    return public


def _judge(registry: Registry, row: Function, values: Values) -> None:
    for parameter in row.parameters:
        value = values[parameter.name]
        if parameter.verdict == "supported" or not parameter.is_given(value):
            continue
        shown = f"{row.name}({parameter.name}=…)"
        if parameter.verdict == "refused":
            raise PipelineError("NOT_SUPPORTED", f"{shown} is refused: {parameter.note}.")
        registry.warn(parameter.name, f"{shown} has no effect here: {parameter.note}.")
