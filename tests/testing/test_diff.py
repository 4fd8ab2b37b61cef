"""Comparing rows: what counts as equal, and how differences are paired. No Spark is needed."""

from __future__ import annotations

import math
import random
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.testing.diff import Row, compare
from lakeward.testing.frames import rows_report, schema_report

NAN = float("nan")
cells = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from(["a", "b", ""]), st.just(NAN), st.booleans())
frames = st.lists(st.tuples(cells, cells), max_size=8)


@given(frames, st.randoms())
def test_the_order_of_rows_does_not_count_unless_requested(rows: list[Row], rng: random.Random) -> None:
    shuffled = list(rows)
    rng.shuffle(shuffled)
    assert not compare(shuffled, rows, ordered=False)


@given(frames)
def test_a_repeat_counts(rows: list[Row]) -> None:
    difference = compare([*rows, ("x", "y")], rows, ordered=False)
    assert difference.extra == [("x", "y")]
    assert not difference.missing
    assert not difference.differing


@given(frames, frames)
def test_no_row_is_lost_in_a_difference(actual: list[Row], expected: list[Row]) -> None:
    difference = compare(actual, expected, ordered=False)
    common = len(actual) - len(difference.extra) - len(difference.differing)
    assert common == len(expected) - len(difference.missing) - len(difference.differing)
    assert common >= 0


@pytest.mark.parametrize(
    ("actual", "expected", "equal"),
    [
        (None, None, True),
        (None, 0, False),
        (NAN, NAN, True),
        (0.0, -0.0, True),
        ("1", 1, False),
        (True, 1, False),
        ([1, None], [1, None], True),
        ({"a": NAN}, {"a": NAN}, True),
        (bytearray(b"x"), bytearray(b"x"), True),
        (date(2020, 1, 1), date(2020, 1, 2), False),
    ],
)
def test_values_are_equal_as_data_is(actual: Any, expected: Any, equal: bool) -> None:
    assert (not compare([(actual,)], [(expected,)], ordered=False)) is equal


def test_floats_may_differ_relatively_also_inside_of_structs() -> None:
    actual, expected = (
        [("a", 1.0 + 1e-9, [2.0]), ("b", 3.0, [4.0])],
        [("b", 3.0, [4.0 + 1e-9]), ("a", 1.0, [2.0])],
    )
    assert compare(actual, expected, ordered=False)
    assert not compare(actual, expected, ordered=False, rtol=1e-6)
    assert compare(actual, expected, ordered=False, rtol=1e-12)


def test_many_slightly_different_rows_are_matched_in_no_time() -> None:
    rows = [(number, math.sqrt(number)) for number in range(20_000)]
    moved = [(number, value * (1 + 1e-10)) for number, value in reversed(rows)]
    assert not compare(moved, rows, ordered=False, rtol=1e-6)


def test_a_row_with_one_other_cell_is_a_pair_and_not_a_missing_and_an_extra_one() -> None:
    difference = compare([(1, "a", 10), (2, "b", 20)], [(1, "a", 11), (2, "b", 20)], ordered=False)
    (pair,) = difference.differing
    assert pair.columns == (2,)
    assert not difference.missing
    assert not difference.extra


def test_the_report_names_the_column_and_puts_actual_next_to_expected() -> None:
    difference = compare([(1, "a"), (9, "z")], [(1, "b"), (7, "q")], ordered=False)
    text = rows_report(["id", "name"], difference, actual_count=2, expected_count=2)
    lines = [line.split() for line in text.splitlines()]
    assert ["row", "with", "id=1"] in lines
    assert ["name", "'a'", "'b'"] in lines
    assert ["-", "7", "'q'"] in lines
    assert ["+", "9", "'z'"] in lines


def test_only_the_first_rows_are_listed_and_the_rest_is_counted() -> None:
    difference = compare([], [(number,) for number in range(1234)], ordered=False)
    text = rows_report(["id"], difference, actual_count=0, expected_count=1234)
    assert "1,234 rows are missing" in text
    assert "… and 1,224 more" in text
    assert len(text.splitlines()) < 20


def test_schemas_stand_side_by_side() -> None:
    rows = [("id", "bigint", "bigint"), ("a", "int", "string"), ("b", None, "int"), ("c", "int", None)]
    text = schema_report(rows)
    assert [line.split()[-1] for line in text.splitlines()[2:]] == ["bigint", "differs", "missing", "extra"]
