"""What a decorated dataset function becomes: still the function, with its expectations gathered on it."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lakeward.errors import PipelineError
from lakeward.pipelines import outside
from lakeward.pipelines.elements import Place, Rule
from lakeward.pipelines.registry import Pending, Registry, active

__all__ = ["called_from", "function_name", "gather", "handle", "required", "sources_of"]

_PENDING = "__lakeward_pending__"
_OURS = str(Path(__file__).parent)

Function = Callable[..., Any]


def required(what: str) -> Registry:
    """The registry in force. Raises PipelineError when `what` runs outside of a pipeline, and may not."""
    registry = active()
    if registry is None and outside.is_outside():
        return outside.nowhere()
    if registry is None:
        raise PipelineError(
            "GRAPH_ELEMENT_DEFINED_OUTSIDE_OF_DECLARATIVE_PIPELINE",
            f"`{what}` declares something, but this file is not being read as a pipeline source.",
            next_step="Run it with `lakeward pipeline FILE`, or with lakeward.pipelines.run([FILE]).",
        )
    return registry


def called_from() -> Place:
    """The line of the user's file that called into this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame = frame.f_back
    return Place(frame.f_code.co_filename, frame.f_lineno)


def sources_of(function: Function) -> Place:
    """Where a dataset function is written; the calling line for what has no code of its own."""
    inner = inspect.unwrap(function)
    while isinstance(inner, functools.partial):
        inner = inspect.unwrap(inner.func)
    code = getattr(inner, "__code__", None)
    return Place(code.co_filename, code.co_firstlineno) if code else called_from()


def function_name(function: Function, decorator: str) -> str:
    """The name that a dataset takes from its function. Raises TypeError where there is none."""
    name = getattr(function, "__name__", None)
    if not name or name == "<lambda>":
        raise TypeError(f"{decorator}() needs name=… for a function without a name of its own")
    return str(name)


def handle(function: Function, decorator: str, *, fresh: bool = False) -> tuple[Function, Pending]:
    """The callable to hand back to the user for `function`, and the expectations gathered on it.

    `fresh` starts anew when the function already defines a dataset (two `@dp.table` on one function).
    Raises TypeError for something that cannot be called, or that needs arguments (spec §1.3-R4).
    """
    if not callable(function):
        raise TypeError(
            f"{decorator}() decorates a function, but it was given {function!r}; "
            f'options go in by keyword: @dp.{decorator}(name="…")'
        )
    pending = getattr(function, _PENDING, None)
    if pending is not None and not (fresh and pending.declares is not None):
        return function, pending
    _no_required_parameters(function, decorator)
    inner = function.__wrapped__ if pending is not None else function  # type: ignore[attr-defined]

    @functools.wraps(inner)
    def dataset_function(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    pending = Pending(sources_of(inner))
    setattr(dataset_function, _PENDING, pending)
    return dataset_function, pending


def gather(function: Function, rules: list[Rule], decorator: str) -> Function:
    """Add expectations to a function; decorators apply from below, and the order kept is that of reading."""
    registry = required(decorator)
    callable_, pending = handle(function, decorator)
    if pending not in registry.loose:
        registry.loose.append(pending)
    pending.rules[:0] = rules
    return callable_


def _no_required_parameters(function: Function, decorator: str) -> None:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.default is parameter.empty:
            raise TypeError(
                f"{decorator}(): the dataset function needs a value for `{parameter.name}`, and it is called "
                f"without arguments; give it a default (def f({parameter.name}={parameter.name}))"
            )
