"""The base class of the utilities of `dbutils`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from lakeward.dbutils.api_table import help_text
from lakeward.dbutils.environment import Environment

_F = TypeVar("_F", bound=Callable[..., Any])


class Utility:
    """One utility of `dbutils`. It looks the environment up at each call, because tasks change it."""

    _group = ""

    def __init__(self, environment: Callable[[], Environment]) -> None:
        self._environment = environment

    def help(self, function: str | None = None) -> None:
        """Print the functions of the utility, or describe one."""
        print(help_text(self._group, function))

    def __repr__(self) -> str:
        return help_text(self._group)


def also_named(**names: str) -> Callable[[_F], _F]:
    """Accept a parameter under another spelling that the platform's documentation uses."""

    def decorate(function: _F) -> _F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for other, name in names.items():
                if other in kwargs and name not in kwargs:
                    kwargs[name] = kwargs.pop(other)
            return function(*args, **kwargs)

        return call  # type: ignore[return-value]  # the same signature, and more names

    return decorate
