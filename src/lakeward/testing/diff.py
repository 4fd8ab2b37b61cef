"""Two lists of rows compared: what is missing, what is extra, which cells differ. Pure Python."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Row = tuple[Any, ...]

# Pairing compares every pair; reports with a thousand rows are unreadable.
MOST_PAIRED = 300


@dataclass(frozen=True)
class Pair:
    """Two rows that were meant to be equal, and the positions of the cells in which they are not."""

    actual: Row
    expected: Row
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Difference:
    """What keeps two frames from being equal; false when nothing does."""

    missing: list[Row] = field(default_factory=list)
    extra: list[Row] = field(default_factory=list)
    differing: list[Pair] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.missing or self.extra or self.differing)


def compare(
    actual: Sequence[Row], expected: Sequence[Row], *, ordered: bool, rtol: float | None = None
) -> Difference:
    """Return the difference of two lists of rows of the same width.

    Unordered, equal rows are taken out first, each as often as it occurs in both; what remains is paired
    by the most cells in common, at least half of them, and the rest is missing or extra. Ordered, rows at
    the same position are a pair. NaN equals NaN, NULL equals NULL; floats within `rtol` are equal.
    """
    if ordered:
        pairs = [pair_of(a, e, rtol) for a, e in zip(actual, expected, strict=False)]
        shorter = min(len(actual), len(expected))
        return Difference(
            list(expected[shorter:]), list(actual[shorter:]), [pair for pair in pairs if pair.columns]
        )
    left, right = without_common(actual, expected)
    if rtol is not None:
        left, right = without_close(left, right, rtol)
    return pair_rows(left, right, rtol)


def pair_of(actual: Row, expected: Row, rtol: float | None) -> Pair:
    columns = (
        position
        for position, (a, e) in enumerate(zip(actual, expected, strict=True))
        if not close(a, e, rtol)
    )
    return Pair(actual, expected, tuple(columns))


def close(actual: object, expected: object, rtol: float | None = None) -> bool:
    """Return whether two values are equal; floats within `rtol`, also inside arrays, maps and structs."""
    if isinstance(actual, float) and isinstance(expected, float):
        if math.isnan(actual) or math.isnan(expected):
            return math.isnan(actual) and math.isnan(expected)
        return actual == expected or (rtol is not None and math.isclose(actual, expected, rel_tol=rtol))
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        return actual.keys() == expected.keys() and all(
            close(actual[key], expected[key], rtol) for key in actual
        )
    if isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)):
        return len(actual) == len(expected) and all(
            close(a, e, rtol) for a, e in zip(actual, expected, strict=True)
        )
    return bool(actual == expected)


def hashable(value: object) -> Hashable:
    """Return a key that is equal for equal values; 0.0 and -0.0 are equal, NaN equals itself."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value
    if isinstance(value, Mapping):
        return ("map", frozenset((hashable(key), hashable(each)) for key, each in value.items()))
    if isinstance(value, (list, tuple)):
        return ("list", tuple(map(hashable, value)))
    if isinstance(value, bytearray):
        return bytes(value)
    return (type(value).__name__, value) if isinstance(value, (str, bool)) else key_of(value)


def key_of(value: object) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def without_common(actual: Sequence[Row], expected: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return what remains of both when equal rows have been taken out in pairs."""
    waiting: dict[Hashable, int] = defaultdict(int)
    for row in expected:
        waiting[hashable(row)] += 1
    left = []
    for row in actual:
        key = hashable(row)
        if waiting[key]:
            waiting[key] -= 1
        else:
            left.append(row)
    right = []
    for row in reversed(expected):
        key = hashable(row)
        if waiting[key]:
            waiting[key] -= 1
            right.append(row)
    return left, right[::-1]


def without_close(actual: list[Row], expected: list[Row], rtol: float) -> tuple[list[Row], list[Row]]:
    """Return what remains when rows that are equal within `rtol` have been taken out in pairs."""
    right = list(expected)
    candidates: dict[Hashable, list[Row]] = defaultdict(list)
    for row in right:
        candidates[hashable(without_floats(row))].append(row)
    left, taken = [], set()
    for row in actual:
        alike = candidates[hashable(without_floats(row))]
        found = next((each for each in alike if not pair_of(row, each, rtol).columns), None)
        if found is None:
            left.append(row)
        else:
            remove(alike, found)
            taken.add(id(found))
    return left, [row for row in right if id(row) not in taken]


def without_floats(value: object) -> Any:
    """Return the value with every float in it replaced by the same mark."""
    if isinstance(value, float):
        return "float"
    if isinstance(value, Mapping):
        return {key: without_floats(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_floats(each) for each in value]
    return value


def remove(rows: list[Row], row: Row) -> None:
    # By identity: `list.remove` compares values, and NaN is not equal to itself.
    del rows[next(position for position, each in enumerate(rows) if each is row)]


def pair_rows(actual: list[Row], expected: list[Row], rtol: float | None) -> Difference:
    right, extra, pairs = expected[:MOST_PAIRED], actual[MOST_PAIRED:], []
    for row in actual[:MOST_PAIRED]:
        candidates = [pair_of(row, each, rtol) for each in right]
        best = min(candidates, key=lambda pair: len(pair.columns), default=None)
        if best is None or 2 * len(best.columns) > len(row):
            extra.append(row)
        else:
            pairs.append(best)
            remove(right, best.expected)
    return Difference(right + expected[MOST_PAIRED:], extra, pairs)
