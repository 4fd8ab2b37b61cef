"""The last value of a cell is printed as IPython does: a long container has one item per line."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from typing import Any

import pytest

from lakeward.notebooks.pretty import LONGEST, WIDTH, pretty


class TwoLines:
    def __repr__(self) -> str:
        return "A(\n  1)"


X, Y = "x" * 50, "y" * 30
# The right side is what IPython 8.30 printed.
CASES: list[tuple[Any, str]] = [
    ([X, Y], f"['{X}',\n '{Y}']"),
    ((X, Y), f"('{X}',\n '{Y}')"),
    ({Y, X}, f"{{'{X}',\n '{Y}'}}"),
    (frozenset({X, Y}), f"frozenset({{'{X}',\n           '{Y}'}})"),
    ({"b": X, "a": Y}, f"{{'b': '{X}',\n 'a': '{Y}'}}"),
    ({"k": [X, Y], "l": 1}, f"{{'k': ['{X}',\n  '{Y}'],\n 'l': 1}}"),
    ([{"a": 1, "b": [2]}, {"c": X, "d": Y}], f"[{{'a': 1, 'b': [2]}},\n {{'c': '{X}',\n  'd': '{Y}'}}]"),
    ([TwoLines(), 1], "[A(\n   1),\n 1]"),
]
SHORT: list[Any] = [
    *(1, None, "text\nwith a line", X + Y + X, [], (), {}, set(), frozenset(), (1,), [1, [2, (3,)]]),
    *({"a": 1}, {3, 1, 2}, {"a", 1}, OrderedDict(a=X, b=Y), defaultdict(list, a=X, b=Y)),
]


@pytest.mark.parametrize(("value", "text"), CASES)
def test_a_long_container_has_one_item_per_line(value: Any, text: str) -> None:
    assert pretty(value) == text


# Without names: the text of a set depends on the hashes of the process.
@pytest.mark.parametrize("value", SHORT)
def test_other_values_are_their_repr(value: Any) -> None:
    assert pretty(value) == repr(value)


@pytest.mark.parametrize("length", [WIDTH - 1, WIDTH, WIDTH + 1])
def test_a_line_of_the_width_is_not_broken(length: int) -> None:
    text = pretty(["a", "b" * (length - len("['a', '']"))])
    assert text.count("\n") == (length > WIDTH)


def test_a_container_is_cut_after_its_thousandth_item() -> None:
    lines = pretty(list(range(2 * LONGEST))).splitlines()
    assert len(lines) == LONGEST + 1 and lines[-1] == " ...]"


def test_cycles_and_deep_values_end() -> None:
    cycle: list[Any] = [1]
    cycle.append(cycle)
    assert pretty(cycle) == "[1, [...]]"
    deep: Any = X
    for _ in range(300):
        deep = [deep]
    assert pretty(deep).strip("[]") == repr(X)
