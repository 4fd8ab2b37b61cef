"""The decorators that declare expectations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lakeward.pipelines.api.registry import GraphRegistry
from lakeward.pipelines.api.signatures import (
    Arguments,
    Decorator,
    add_expectations,
    api_function,
    declared_expectation,
)
from lakeward.pipelines.graph.elements import ViolationAction


def _expectation(
    name: str, action: ViolationAction, described: str, *, several: bool = False
) -> Callable[..., Any]:
    """Return the decorator `name`: of one expectation, or of a dict of `several`."""

    def declare(_registry: GraphRegistry, values: Arguments) -> Decorator:
        pairs = _named_constraints(name, values) if several else [_one_constraint(name, values)]
        declared = [declared_expectation(f"{name}()", *pair, action) for pair in pairs]
        return lambda function: add_expectations(function, declared, name)

    declare.__name__ = declare.__qualname__ = name
    declare.__doc__ = described
    return api_function(declare)


def _named_constraints(decorator: str, values: Arguments) -> Iterable[tuple[Any, Any]]:
    expectations = values["expectations"]
    if not isinstance(expectations, Mapping):
        raise TypeError(f"{decorator}() takes a dict of names and constraints, not {expectations!r}")
    return expectations.items()


def _one_constraint(decorator: str, values: Arguments) -> tuple[Any, Any]:
    name = _either_spelling(decorator, values, ("description", "name"))
    return name, _either_spelling(decorator, values, ("constraint", "inv"))


def _either_spelling(decorator: str, values: Arguments, names: tuple[str, str]) -> Any:
    given = [values[name] for name in names if values[name] is not None]
    if not given:
        raise TypeError(f"{decorator}(): missing a required argument: '{names[0]}'")
    if len(given) > 1:
        raise TypeError(f"{decorator}(): '{names[0]}' and '{names[1]}' are spellings of one argument")
    return given[0]


expect = _expectation("expect", "warn", "Keep and count records that do not satisfy the constraint.")
expect_or_drop = _expectation(
    "expect_or_drop", "drop", "Drop and count records that do not satisfy the constraint."
)
expect_or_fail = _expectation(
    "expect_or_fail",
    "fail",
    "Fail the flow without writing at the first record that does not satisfy the constraint.",
)
expect_all = _expectation("expect_all", "warn", "Apply `expect` for each name and constraint.", several=True)
expect_all_or_drop = _expectation(
    "expect_all_or_drop", "drop", "Apply `expect_or_drop` for each name and constraint.", several=True
)
expect_all_or_fail = _expectation(
    "expect_all_or_fail", "fail", "Apply `expect_or_fail` for each name and constraint.", several=True
)
