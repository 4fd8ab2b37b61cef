"""The six expectation decorators (spec §2). The rules themselves are applied in `expectations`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lakeward.pipelines.elements import Action, Rule
from lakeward.pipelines.handles import gather

__all__ = [
    "expect",
    "expect_all",
    "expect_all_or_drop",
    "expect_all_or_fail",
    "expect_or_drop",
    "expect_or_fail",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def expect(description: str, constraint: str) -> Decorator:
    """Keep records that do not satisfy `constraint`, and count them."""
    return _one("expect", description, constraint, "warn")


def expect_or_drop(description: str, constraint: str) -> Decorator:
    """Leave records out that do not satisfy `constraint`, and count them."""
    return _one("expect_or_drop", description, constraint, "drop")


def expect_or_fail(description: str, constraint: str) -> Decorator:
    """Fail the flow, writing nothing, at the first record that does not satisfy `constraint`."""
    return _one("expect_or_fail", description, constraint, "fail")


def expect_all(expectations: Mapping[str, str]) -> Decorator:
    """`expect` for each name and constraint."""
    return _all("expect_all", expectations, "warn")


def expect_all_or_drop(expectations: Mapping[str, str]) -> Decorator:
    """`expect_or_drop` for each name and constraint."""
    return _all("expect_all_or_drop", expectations, "drop")


def expect_all_or_fail(expectations: Mapping[str, str]) -> Decorator:
    """`expect_or_fail` for each name and constraint."""
    return _all("expect_all_or_fail", expectations, "fail")


def _one(decorator: str, description: str, constraint: str, action: Action) -> Decorator:
    if not isinstance(constraint, str):
        raise TypeError(
            f"{decorator}('{description}', …) takes its constraint as SQL text, not {constraint!r}"
        )
    return lambda function: gather(function, [Rule(str(description), constraint, action)], decorator)


def _all(decorator: str, expectations: Mapping[str, str], action: Action) -> Decorator:
    if not isinstance(expectations, Mapping):
        raise TypeError(f"{decorator}() takes a dict of names and constraints, not {expectations!r}")
    rules = [Rule(str(name), str(constraint), action) for name, constraint in expectations.items()]
    return lambda function: gather(function, rules, decorator)
