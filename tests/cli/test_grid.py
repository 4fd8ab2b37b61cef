"""Tables of text: alignment, NULL, cutting, narrow terminals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from lakeward.cli.table_format import Column, render

COLUMNS = [Column("id", number=True), Column("name")]


def lines(columns: list[Column], rows: list[tuple[str | None, ...]], width: int | None = None) -> list[str]:
    return list(render(columns, rows, width=width, colour=False))


def test_numbers_stand_to_the_right_and_text_to_the_left() -> None:
    assert lines(COLUMNS, [("1", "a"), ("200", "bcd")]) == [
        " id  name",
        "───  ────",
        "  1  a",
        "200  bcd",
    ]


def test_null_is_dimmed_unlike_a_text_of_the_same_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = list(render([Column("a")], [(None,), ("NULL",)], width=40, colour=True))
    assert shown[2] == "\x1b[2mNULL\x1b[0m"
    assert shown[3] == "NULL"


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert not any("\x1b" in line for line in render([Column("a")], [(None,)], width=40, colour=True))


def test_long_text_is_cut_with_an_ellipsis_on_a_terminal_and_whole_in_a_pipe() -> None:
    long = "x" * 200
    assert lines(COLUMNS, [("1", long)], width=30)[2].endswith("…")
    assert long in lines(COLUMNS, [("1", long)])[2]


def test_control_characters_of_the_data_are_escaped() -> None:
    assert lines([Column("a")], [("one\ntwo\x1b[31m",)])[2] == r"one\ntwo\x1b[31m"


def test_columns_that_cannot_fit_are_shown_sideways() -> None:
    columns = [Column(f"column_{number}") for number in range(12)]
    row = tuple("some longer value" for _ in columns)
    shown = lines(columns, [row], width=60)
    assert shown[0].startswith("── row 1 ")
    assert shown[1] == "column_0   some longer value"
    assert len(shown) == 13


values = st.one_of(st.none(), st.text(max_size=90))


@given(
    st.integers(20, 120),
    st.integers(1, 8).flatmap(lambda size: st.lists(st.tuples(*[values] * size), min_size=1, max_size=4)),
)
def test_no_line_is_wider_than_the_terminal(width: int, rows: list[tuple[str | None, ...]]) -> None:
    columns = [Column(f"c{number}", number=number % 2 == 0) for number in range(len(rows[0]))]
    assert all(cell_len(line) <= width for line in render(columns, rows, width=width, colour=False))
