"""Scala's Option and Map as py4j exposes them: methods instead of attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lakeward.dbutils.failures import JavaError


class Option:
    """A value that may be absent: `None` represents Scala's None."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def get(self) -> Any:
        """Return the value. Raises JavaError(NoSuchElementException) without one, as py4j does."""
        if self._value is None:
            raise JavaError("o.get", "java.util.NoSuchElementException", "None.get")
        return self._value

    def getOrElse(self, default: Any) -> Any:
        """Return the value, or `default`: a value, or a function that returns one."""
        if self._value is not None:
            return self._value
        return default() if isinstance(default, Callable) else default  # type: ignore[arg-type]  # an ABC

    def isDefined(self) -> bool:
        return self._value is not None

    nonEmpty = isDefined

    def isEmpty(self) -> bool:
        return self._value is None

    def toString(self) -> str:
        return "None" if self._value is None else f"Some({self._value})"

    __str__ = __repr__ = toString


class ScalaMap:
    """An immutable map: `get` returns an Option, `apply` the value."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self._entries = dict(entries)

    def get(self, key: str) -> Option:
        return Option(self._entries.get(key))

    def getOrElse(self, key: str, default: Any) -> Any:
        return self.get(key).getOrElse(default)

    def apply(self, key: str) -> str:
        """Return the value. Raises JavaError(NoSuchElementException) for an unknown key."""
        if key not in self._entries:
            raise JavaError("o.apply", "java.util.NoSuchElementException", f"key not found: {key}")
        return self._entries[key]

    def contains(self, key: str) -> bool:
        return key in self._entries

    def size(self) -> int:
        return len(self._entries)

    def keys(self) -> list[str]:
        return list(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def toString(self) -> str:
        return f"Map({', '.join(f'{key} -> {value}' for key, value in self._entries.items())})"

    __str__ = __repr__ = toString
