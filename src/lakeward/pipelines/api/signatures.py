"""Binds calls of API functions to their declared parameters, and decorates dataset functions."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakeward.errors import PipelineError
from lakeward.pipelines.api.parameters import Function, function
from lakeward.pipelines.api.registry import GraphRegistry, PendingDataset, active_registry
from lakeward.pipelines.graph.elements import (
    DefaultSchema,
    Expectation,
    ReplaceSpec,
    SourceCodeLocation,
    TableOptions,
    ViolationAction,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_unit_tests_enabled = False


class _DiscardingRegistry(GraphRegistry):
    """Accepts one declaration and is discarded with it."""

    def warn(self, about: str, text: str) -> None:
        """Ignore warnings: nothing is executed."""


def enable_unit_tests() -> None:
    """Allow the API outside of pipelines."""
    global _unit_tests_enabled  # noqa: PLW0603  # one process, one answer, as for the modules themselves
    _unit_tests_enabled = True


def disable_unit_tests() -> None:
    """Restrict the API to pipelines."""
    global _unit_tests_enabled  # noqa: PLW0603  # as above
    _unit_tests_enabled = False


def is_unit_test() -> bool:
    """Return whether the API is called outside of a pipeline and this is allowed."""
    return _unit_tests_enabled and active_registry() is None


def discarding_registry() -> GraphRegistry:
    """Return a registry for one declaration."""
    return _DiscardingRegistry(DefaultSchema("main", "default"))


def read_unit_test_table(name: str, *, stream: bool) -> DataFrame:
    """Read the table `name`, as `dp.read` does in unit tests."""
    from lakeward.session import session

    plain = name[len("LIVE.") :] if name[:5].upper() == "LIVE." else name
    spark = session()
    return spark.readStream.table(plain) if stream else spark.read.table(plain)


_PENDING_ATTRIBUTE = "__lakeward_pending__"
_PACKAGE = str(Path(__file__).parents[1])
UserFunction = Callable[..., Any]
Decorator = Callable[[UserFunction], UserFunction]


def require_registry(what: str) -> GraphRegistry:
    """Return the active registry. Raises PipelineError if `what` is not allowed outside of a pipeline."""
    registry = active_registry()
    if registry is None and is_unit_test():
        return discarding_registry()
    if registry is None:
        raise PipelineError(
            "GRAPH_ELEMENT_DEFINED_OUTSIDE_OF_DECLARATIVE_PIPELINE",
            f"`{what}` is called outside of a pipeline.",
            next_step="Run it with `lakeward pipeline FILE`, or with lakeward.pipelines.run([FILE]).",
        )
    return registry


def calling_location() -> SourceCodeLocation:
    """Return the line of the user's file that called into this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return SourceCodeLocation(frame.f_code.co_filename, frame.f_lineno)


def definition_location(function: UserFunction) -> SourceCodeLocation:
    """Return the location of a dataset function; the calling line for objects without code."""
    inner = inspect.unwrap(function)
    while isinstance(inner, functools.partial):
        inner = inspect.unwrap(inner.func)
    code = getattr(inner, "__code__", None)
    return SourceCodeLocation(code.co_filename, code.co_firstlineno) if code else calling_location()


def function_name(function: UserFunction, decorator: str) -> str:
    """Return the name of a dataset function. Raises TypeError for a function without a name."""
    name = getattr(function, "__name__", None)
    if not name or name == "<lambda>":
        raise TypeError(f"{decorator}() needs name=… for a function without a name")
    return str(name)


def decorate_function(
    function: UserFunction, decorator: str, *, fresh: bool = False
) -> tuple[UserFunction, PendingDataset]:
    """Return the callable for the user, and the expectations collected on it.

    `fresh` starts a new collection if the function already defines a dataset (two `@dp.table` on one
    function). Raises TypeError for an object that is not callable or that requires arguments.
    """
    if not callable(function):
        raise TypeError(
            f"{decorator}() decorates a function, but it was given {function!r}; "
            f'pass options by keyword: @dp.{decorator}(name="…")'
        )
    pending = getattr(function, _PENDING_ATTRIBUTE, None)
    if pending is not None and not (fresh and pending.dataset_name is not None):
        return function, pending
    _reject_required_parameters(function, decorator)
    inner = function.__wrapped__ if pending is not None else function  # type: ignore[attr-defined]

    @functools.wraps(inner)
    def dataset_function(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    pending = PendingDataset(definition_location(inner))
    setattr(dataset_function, _PENDING_ATTRIBUTE, pending)
    return dataset_function, pending


def add_expectations(function: UserFunction, expectations: list[Expectation], decorator: str) -> UserFunction:
    """Add expectations to a function; they are kept in the order of reading, top to bottom."""
    registry = require_registry(decorator)
    callable_, pending = decorate_function(function, decorator)
    if pending not in registry.pending:
        registry.pending.append(pending)
    pending.expectations[:0] = expectations
    return callable_


def _reject_required_parameters(function: UserFunction, decorator: str) -> None:
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


Arguments = Mapping[str, Any]


def api_function(implementation: Callable[[GraphRegistry, Arguments], Any]) -> Callable[..., Any]:
    """Return the public function for `implementation`, as declared in the table of parameters.

    It raises PipelineError outside of a pipeline and for refused parameters, and TypeError for unknown
    ones and wrong values; it warns once about each parameter without effect.
    """
    row = function(implementation.__name__)
    assert row is not None, f"{implementation.__name__} is not in the table"
    signature = row.signature()

    @functools.wraps(implementation)
    def public(*args: Any, **kwargs: Any) -> Any:
        registry = require_registry(row.name)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{row.name}(): {error}") from None
        bound.apply_defaults()
        return implementation(registry, _checked_arguments(registry, row, bound.arguments))

    public.__signature__ = signature  # type: ignore[attr-defined]  # what `inspect` and editors ask for
    return public


def _checked_arguments(registry: GraphRegistry, row: Function, values: Arguments) -> Arguments:
    """Return the converted values; refuse and warn by the verdicts of the parameters."""
    checked = {}
    for parameter in row.parameters:
        value, call = values[parameter.name], f"{row.name}({parameter.name}=…)"
        if parameter.verdict != "supported" and parameter.is_given(value):
            if parameter.verdict == "refused":
                raise PipelineError("NOT_SUPPORTED", f"{call} is refused: {parameter.note}.")
            registry.warn(parameter.name, f"{call} has no effect here: {parameter.note}.")
        checked[parameter.name] = parameter.convert(call, value)
    return checked


def table_options(what: str, values: Mapping[str, Any]) -> TableOptions:
    """Return the storage options among `values`. Raises PipelineError."""
    partitions, clusters = values.get("partition_cols", ()), values.get("cluster_by", ())
    if partitions and clusters:
        raise PipelineError(
            "SPECIFY_CLUSTER_BY_WITH_PARTITIONED_BY_IS_NOT_ALLOWED",
            f"{what}() was given both partition_cols and cluster_by.",
            next_step="Keep one of them.",
        )
    return TableOptions(
        comment=values["comment"],
        properties=values.get("table_properties", {}),
        partition_cols=partitions,
        cluster_by=clusters,
        schema=values.get("schema"),
        path=values.get("path"),
        private=bool(values.get("private") or values.get("temporary")),
        row_filter=values.get("row_filter"),
        refresh_policy=values.get("refresh_policy", "auto"),
    )


def inline_expectations(values: Mapping[str, Any]) -> list[Expectation]:
    """Return the expectations that `create_streaming_table` takes as `expect_all*=`."""
    actions: dict[str, ViolationAction] = {
        "expect_all": "warn",
        "expect_all_or_drop": "drop",
        "expect_all_or_fail": "fail",
    }
    return [
        declared_expectation(f"create_streaming_table({parameter}=…)", name, constraint, action)
        for parameter, action in actions.items()
        for name, constraint in (values[parameter] or {}).items()
    ]


def declared_expectation(what: str, name: Any, constraint: Any, action: ViolationAction) -> Expectation:
    """Return the expectation of a constraint, which is SQL text or a Column. Raises TypeError."""
    from pyspark.sql import Column

    if isinstance(constraint, Column):
        shown = str(constraint).removeprefix("Column<'").removesuffix("'>")
        return Expectation(str(name), shown, action, constraint)
    if not isinstance(constraint, str):
        raise TypeError(f"{what}: the constraint of '{name}' is SQL text or a Column, not {constraint!r}")
    return Expectation(str(name), constraint, action)


def replace_spec(what: str, values: Mapping[str, Any]) -> ReplaceSpec | None:
    """Return the rows that a flow replaces, None for one that appends. Raises TypeError or PipelineError."""
    using, sequence_by, where = values["replace_using"], values["sequence_by"], values.get("replace_where")
    if where is not None and not isinstance(where, str):
        raise TypeError(f"{what}(replace_where=…) takes a SQL condition, not {type(where).__name__}")
    if not using and sequence_by is None:
        return None if where is None else ReplaceSpec(where=where)
    if where is not None or not using or sequence_by is None:
        raise PipelineError(
            "INVALID_REPLACE_FLOW",
            f"{what}() replaces by keys, with replace_using and sequence_by, or by replace_where.",
            next_step="Give replace_using together with sequence_by, or replace_where alone.",
        )
    repeated = sorted({column for column in using if using.count(column) > 1})
    if repeated:
        raise PipelineError(
            "INVALID_REPLACE_FLOW",
            f"{what}(replace_using=…) names {', '.join(repeated)} more than once.",
            next_step="Name each column once.",
        )
    return ReplaceSpec(using, sequence_by)
