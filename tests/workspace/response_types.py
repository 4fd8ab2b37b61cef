"""Compare responses with the dataclasses that databricks-sdk parses them into, field by field.

The SDK checks nothing: a text where a number is declared, an unknown value of an enumeration (None) or a
missing required field reaches the user's code.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import pkgutil
import re
import types
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

SERVICES = "databricks.sdk.service"
# Declared as lists of texts; SQL's NULL is null in them.
_WITH_NULLS = {"ResultData.data_array"}
_UPPER = re.compile(r"(?<=[a-z])([A-Z])")


@contextmanager
def checked_responses() -> Iterator[list[str]]:
    """Yield the differences that responses have, collected while the block runs."""
    found: list[str] = []
    originals = []
    for kind in response_classes():
        original = kind.__dict__["from_dict"]
        originals.append((kind, original))
        kind.from_dict = classmethod(_checking(original.__func__, found))
    try:
        yield found
    finally:
        for kind, original in originals:
            kind.from_dict = original


def response_classes() -> list[Any]:
    """Return the dataclasses of all services that parse themselves."""
    package = importlib.import_module(SERVICES)
    modules = [
        importlib.import_module(f"{SERVICES}.{each.name}") for each in pkgutil.iter_modules(package.__path__)
    ]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and dataclasses.is_dataclass(value) and "from_dict" in vars(value)
    ]


def _checking(parse: Callable[[Any, Any], Any], found: list[str]) -> Callable[[Any, Any], Any]:
    @functools.wraps(parse)
    def from_dict(kind: Any, body: Any) -> Any:
        try:
            parsed = parse(kind, body)
        except Exception as error:
            found.append(f"{kind.__name__}: {type(error).__name__}: {error}")
            raise
        found.extend(differences(parsed, body))
        return parsed

    return from_dict


def differences(parsed: Any, body: dict[str, Any]) -> list[str]:
    """Return what is wrong with the fields of an object; those of objects within it are not included."""
    kind = type(parsed)
    hints = _hints(kind)
    sent = {_UPPER.sub(r"_\1", name).lower(): value for name, value in body.items()}
    found = []
    for field in dataclasses.fields(parsed):
        value = getattr(parsed, field.name)
        given = sent.get(field.name)
        place = f"{kind.__name__}.{field.name}"
        if value is None or value == []:
            required = field.default is dataclasses.MISSING and not _is_optional(hints[field.name])
            if value is None and required:
                found.append(f"{place} is required")
            if given not in (None, [], "", {}):
                found.append(f"{place} is unknown: {given!r:.80}")
        elif place in _WITH_NULLS:
            continue
        elif not _is_of(value, hints[field.name]) or (isinstance(value, int) and isinstance(given, str)):
            found.append(f"{place} is no {hints[field.name]}: {value!r:.80}, sent as {given!r:.80}")
        elif isinstance(given, list) and len(given) != len(value):
            found.append(f"{place} has unknown values: {given!r:.80}")
    return found


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _is_optional(hint: Any) -> bool:
    return type(None) in typing.get_args(hint)


def _is_of(value: Any, hint: Any) -> bool:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_is_of(value, each) for each in arguments)
    if hint is Any or hint is any:
        return True
    if origin is list:
        return isinstance(value, list) and all(_is_of(each, arguments[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(
            _is_of(name, arguments[0]) and _is_of(each, arguments[1]) for name, each in value.items()
        )
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and not isinstance(value, enum.Enum)
    return isinstance(value, hint)
